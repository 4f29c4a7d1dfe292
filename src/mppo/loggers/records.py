"""From rows to loggers, live or afterwards, without duplicates or gaps.

Numbers have the names of Stable-Baselines3 where it has one.
"""

# pyright: strict
from __future__ import annotations

import csv
import io
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from mppo.errors import BadRequest
from mppo.files import reader
from mppo.files.atomic import write_atomically
from mppo.files.reader import History, PathLike, Row

POLL = 1.0  # seconds between looks at a run that goes on
ROLLOUT = {
    "return_mean": "rollout/ep_rew_mean",
    "length_mean": "rollout/ep_len_mean",
    "episodes": "rollout/episodes",
    "return_error": "rollout/ep_rew_error",
    "recent_return_mean": "rollout/ep_rew_mean_100",
    "recent_length_mean": "rollout/ep_len_mean_100",
}
TRAIN = {
    "kl": "train/approx_kl",
    "surrogate_gain": "train/policy_objective",
    "line_search_success": "train/is_line_search_success",
}
"""Ours to theirs; any other number of a row goes under `train/` with its own name."""
PATHS = ("picked", "slot")
EACH_PATH = ("performance", "entropy", "picks", "style")
ELSEWHERE = {"iteration", "steps", *ROLLOUT, *TRAIN, *PATHS, *EACH_PATH}
EVAL = {
    "mean_return": "eval/mean_reward",
    "mean_return_deterministic": "eval/mean_reward_deterministic",
    "mean_return_own_noise": "eval/mean_reward_own_noise",
    "path": "eval/path",
}


class Logger(Protocol):
    """Takes numbers by name, at environment steps that only ever grow."""

    def start(self, described: Row, folder: Path | None, steps: int) -> int:
        """Begin, or go on where it was left; `steps` is how far the rows reach already.

        Returns the first step that it still wants to be told of.
        """
        ...

    def log(self, steps: int, numbers: dict[str, float]) -> None:
        """The numbers after that many steps."""
        ...

    def close(self) -> None:
        """All was said."""
        ...


class Record(NamedTuple):
    """One iteration: its row of each log."""

    row: Row
    timing: Row | None
    evaluation: Row | None


def records(history: History) -> Iterator[Record]:
    """The iterations one after the other; what belongs to the same steps together."""
    timing = {row["steps"]: row for row in history.timing}
    evaluations = {row["steps"]: row for row in history.evaluations}
    for row in history.metrics:
        yield Record(row, timing.get(row["steps"]), evaluations.get(row["steps"]))


class Scalars:
    """From rows to numbers, in the order of the run: it adds up the time."""

    def __init__(self) -> None:
        self._elapsed, self._before = 0.0, 0

    def __call__(self, row: Row, timing: Row | None, evaluation: Row | None) -> dict[str, float]:
        """The numbers of one iteration; what is null in the rows is left out."""
        found: Row = {"time/iterations": row["iteration"] + 1, "time/total_timesteps": row["steps"]}
        found |= {name: row.get(key) for key, name in (ROLLOUT | TRAIN).items()}
        found |= {f"train/{key}": value for key, value in row.items() if key not in ELSEWHERE}
        if "line_search_success" in row:  # sb3-contrib's name of the same number in TRPO
            found["train/kl_divergence_loss"] = row["kl"]
        entropy = row["entropy"][row.get("slot", row["picked"])]
        negative = None if entropy is None else -entropy
        found |= {"train/entropy": entropy, "train/entropy_loss": negative}
        found |= {f"paths/{name}": row.get(name) for name in PATHS}
        for name in EACH_PATH:
            found |= {f"paths/{name}_{k}": value for k, value in enumerate(row.get(name, ()))}
        if timing is not None:
            seconds = timing["simulation"] + timing["learning"]
            self._elapsed += seconds + timing["evaluation"]
            rate = (row["steps"] - self._before) / seconds if seconds > 0 else None
            found |= {"time/fps": rate, "time/time_elapsed": self._elapsed}
        if evaluation is not None:
            found |= {name: evaluation.get(key) for key, name in EVAL.items()}
        self._before = row["steps"]
        numbers = {name: value for name, value in found.items() if isinstance(value, int | float)}
        return {name: float(value) for name, value in numbers.items()}  # truth values too: 0 and 1


class Loggers:
    """Several loggers fed with the records of one run, each from where it was left.

    A logger that fails, be it at its start, is dropped with a warning: the run goes on, and what
    it missed can be sent afterwards from the run directory. A BadRequest at its start is raised:
    nothing is lost yet, and the caller can put it right.
    """

    def __init__(self, loggers: Sequence[Logger]):
        self._waiting, self._scalars = list(loggers), Scalars()
        self.wanted: list[tuple[Logger, int]] = []  # that go on, and the first step each is told
        self._folder: Path | None = None

    def start(
        self, described: Row, folder: Path | None, earlier: History, steps: int | None = None
    ) -> None:
        """Begin all; what they miss of the rows so far is told first."""
        self._folder, upto = folder, earlier.steps if steps is None else steps
        for logger in self._waiting:
            try:
                self.wanted.append((logger, logger.start(described, folder, upto)))
            except BadRequest:
                self.close()
                raise
            except Exception as error:
                self._leave_out(logger, error)
        for record in records(earlier):
            self(record)

    def __call__(self, record: Record) -> None:
        """Tell all that want to know."""
        if not self.wanted:
            return
        numbers = self._scalars(*record)
        steps = int(record.row["steps"])
        for logger, first in list(self.wanted):
            if steps >= first:
                self._guarded(logger, lambda logger=logger: logger.log(steps, numbers))

    def close(self) -> None:
        """End all."""
        for logger, _ in list(self.wanted):
            self._guarded(logger, logger.close)
        self.wanted = []

    def _guarded(self, logger: Logger, call: Callable[[], Any]) -> None:
        try:
            call()
        except Exception as error:
            self.wanted = [one for one in self.wanted if one[0] is not logger]
            self._leave_out(logger, error)

    def _leave_out(self, logger: Logger, error: Exception) -> None:
        later = "; the run's own files are complete, and mppo logs sends them afterwards"
        warnings.warn(
            f"{type(logger).__name__} failed and is left out from here on: "
            f"{type(error).__name__}: {error}{'' if self._folder is None else later}",
            RuntimeWarning,
            stacklevel=5,
        )


def send(folder: PathLike, loggers: Sequence[Logger], follow: bool = False) -> int:
    """Feed loggers from a run directory; with `follow`, until the run ends. Returns the steps."""
    described, earlier = reader.known_description(folder), reader.history(folder)
    to, told = Loggers(loggers), 0
    to.start(described, Path(folder), earlier._replace(metrics=[]), earlier.steps)
    while True:
        finished = reader.finished(folder)  # first: rows written meanwhile are seen next time
        found = list(records(reader.history(folder)))
        if follow and not finished:
            found = found[:-1]  # its timing and evaluation may not be there yet
        for record in found:
            if record.row["steps"] > told:
                to(record)
                told = int(record.row["steps"])
        if loggers and not to.wanted:
            raise BadRequest(f'no logger is left that takes the rows of "{folder}"')
        if finished or not follow:
            to.close()
            return told
        time.sleep(POLL)


def write_csv(folder: PathLike, file: PathLike) -> int:
    """All numbers of a run directory as a table, one line for each iteration; returns how many."""
    reader.known_description(folder)
    scalars = Scalars()
    lines = [scalars(*record) for record in records(reader.history(folder))]
    columns = list(dict.fromkeys(name for line in lines for name in line))
    columns.sort(key=lambda name: (name != "time/total_timesteps", name))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    write_atomically(Path(file), text.getvalue().encode())
    return len(lines)
