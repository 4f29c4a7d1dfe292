"""What is called while a run goes on: a base class, and the usual ones ready.

A callback is called after each iteration and each evaluation, and may stop the run by returning
False. A plain function `f(event, row)` will do, too; so will a list of either.
"""

# pyright: strict
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mppo.errors import BadRequest
from mppo.files import model_file
from mppo.files.reader import PathLike, Row

if TYPE_CHECKING:
    from mppo.training.loop import Training

Answer = bool | None
Function = Callable[[str, Row], Answer]


class Callback:
    """Override what you need; `self.training` is there from `on_training_start` on.

    Of it a callback may see `run` (state, environments, `trajectories`, `agent()`, `snapshot()`),
    `folder` (the run directory, if there is one), `took` (seconds of the last iteration),
    `evaluations` (all so far, those of earlier sessions included) and `description()` (`run.json`).
    """

    training: Training

    def on_training_start(self) -> None:
        """Before the first iteration."""

    def on_iteration(self, row: Row) -> Answer:
        """After each iteration, with its row of metrics.jsonl; False stops the run."""

    def on_evaluation(self, row: Row) -> Answer:
        """After each evaluation, with its row of evaluations.jsonl; False stops the run."""

    def on_training_end(self) -> None:
        """After the last iteration, also if the run was stopped or broke off."""

    def __call__(self, event: str, row: Row) -> Answer:
        return self.on_iteration(row) if event == "iteration" else self.on_evaluation(row)

    @property
    def num_timesteps(self) -> int:
        """Environment steps done."""
        run = self.training.run
        return run.iteration * run.method.batch_size


class _Plain(Callback):
    """A function as a callback."""

    def __init__(self, function: Function):
        self.function = function

    def __call__(self, event: str, row: Row) -> Answer:
        return self.function(event, row)


class Callbacks(Callback):
    """Several as one: all are called, and any of them stops the run."""

    def __init__(self, callbacks: Sequence[Callback | Function]):
        self.callbacks: list[Callback] = [as_callback(one) for one in callbacks]

    def on_training_start(self) -> None:
        for one in self.callbacks:
            one.training = self.training
            one.on_training_start()

    def __call__(self, event: str, row: Row) -> Answer:
        answers = [one(event, row) for one in self.callbacks]
        return not any(answer is False for answer in answers)

    def on_training_end(self) -> None:
        for one in self.callbacks:
            one.on_training_end()


def as_callback(given: Callback | Function | Sequence[Callback | Function] | None) -> Callback:
    """A callback of whatever a user may give as one."""
    if given is None:
        return Callback()
    if isinstance(given, Callback):
        return given
    if callable(given):
        return _Plain(given)
    if isinstance(given, list | tuple):
        return Callbacks(given)
    raise BadRequest(f"callback is {given!r}; give a Callback, a function of (event, row), a list")


class BestModel(Callback):
    """Saves the model whenever an evaluation's mean return is the highest so far.

    The file is `best.safetensors` in the run directory unless `path` says otherwise; `MPPO.load`
    reads it. With `deterministic`, the mean over the most likely actions decides.
    """

    def __init__(self, path: PathLike | None = None, deterministic: bool = False):
        self.path: PathLike | None = None if path is None else model_file.file_to_save(path)
        self._name = "mean_return_deterministic" if deterministic else "mean_return"
        self.best: float = -math.inf

    def on_training_start(self) -> None:
        evaluation = self.training.run.evaluation
        if self._name == "mean_return_deterministic" and not evaluation.deterministic_episodes:
            raise BadRequest(
                "BestModel(deterministic=True) compares episodes with the most likely actions, and "
                "none are played; give eval_deterministic_episodes=10, for example"
            )
        if self.path is None:
            if self.training.folder is None:
                raise BadRequest("BestModel needs a path, or a run with a directory (out=...)")
            self.path = self.training.folder / "best"
        for row in self.training.evaluations:
            self.best = max(self.best, _known(row[self._name]))

    def on_evaluation(self, row: Row) -> None:
        value = _known(row[self._name])
        if value <= self.best or self.path is None:
            return
        arrays, data = self.training.run.snapshot()
        model_file.save(self.path, self.training.description(), arrays, data)
        self.best = value


class StopOnReturn(Callback):
    """Stops the run once an evaluation's mean return reaches the threshold."""

    def __init__(self, threshold: float):
        self.threshold = threshold

    def on_evaluation(self, row: Row) -> Answer:
        return not (row["mean_return"] is not None and row["mean_return"] >= self.threshold)


class StopWithoutImprovement(Callback):
    """Stops the run after that many evaluations in a row none of which was a new best."""

    def __init__(self, evaluations: int, min_evaluations: int = 0):
        self.patience: int = evaluations
        self.min_evaluations: int = min_evaluations
        self._returns: list[float] = []

    def on_training_start(self) -> None:
        self._returns = [_known(row["mean_return"]) for row in self.training.evaluations]

    def on_evaluation(self, row: Row) -> Answer:
        returns = self._returns
        returns.append(_known(row["mean_return"]))
        since_best = len(returns) - 1 - returns.index(max(returns))
        return not (len(returns) > self.min_evaluations and since_best >= self.patience)


class EveryNSteps(Callback):
    """Calls `function(row)` at the first iteration's end at or after each multiple of n steps."""

    def __init__(self, n: int, function: Callable[[Row], Answer]):
        if n < 1:
            raise BadRequest(f"n is {n}; it must be at least 1")
        self.n: int = n
        self.function: Callable[[Row], Answer] = function

    def on_iteration(self, row: Row) -> Answer:
        steps: int = row["steps"]
        before = steps - self.training.run.method.batch_size
        return self.function(row) if steps // self.n > before // self.n else None


class ProgressBar(Callback):
    """A bar with steps, rate, time left and the last return."""

    def on_training_start(self) -> None:
        from rich.progress import Progress, TextColumn, TimeRemainingColumn

        columns = [*Progress.get_default_columns()[:3], TextColumn("{task.fields[said]}")]
        self._progress = Progress(*columns, TimeRemainingColumn())
        run, done = self.training.run, self.num_timesteps
        total = run.iterations * run.method.batch_size
        self._task: Any = self._progress.add_task("steps", total=total, completed=done, said="")
        self._progress.start()

    def on_iteration(self, row: Row) -> None:
        said = f"{row['steps']:,}  return {_shown(row['return_mean'])}"
        self._progress.update(self._task, completed=row["steps"], said=said)

    def on_training_end(self) -> None:
        self._progress.stop()


class PrintRows(Callback):
    """A line for every n-th iteration."""

    def __init__(self, every: int = 1):
        self.every: int = max(every, 1)

    def on_iteration(self, row: Row) -> None:
        if (row["iteration"] + 1) % self.every == 0:
            print(
                f"{row['steps']:>11,} steps  path {row['picked']}  "
                f"return {_shown(row['return_mean'])}  kl {_shown(row['kl'], 4)}"
            )

    def on_evaluation(self, row: Row) -> None:
        print(f"{row['steps']:>11,} steps  evaluation {_shown(row['mean_return'])}")


def _known(value: float | None) -> float:
    """A return to compare with others; one that is not known, or no number, is below all."""
    return float("-inf") if value is None or math.isnan(value) else float(value)


def _shown(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
