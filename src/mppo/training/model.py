"""`MPPO`: a run as one object, with the names that Stable-Baselines3 has made usual."""

# pyright: strict
from __future__ import annotations

import dataclasses
import inspect
import os
import signal
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from mppo.acting.actor import Actor
from mppo.acting.agent import Agent
from mppo.algorithm.methods import Method
from mppo.algorithm.policies import Policy
from mppo.callbacks import Callbacks, PrintRows, ProgressBar, as_callback
from mppo.envs.source import AnyEnv, env_source, recorded_source
from mppo.errors import BadRequest, CheckpointError
from mppo.files import checkpoints, foreign_names, model_file, settings
from mppo.files.description import described
from mppo.files.evaluation import Evaluation
from mppo.files.run_directory import RunDirectory
from mppo.loggers import Logger, TensorBoard
from mppo.machine.signals import Interrupts
from mppo.rollouts.evaluator import LONGEST, Evaluator
from mppo.training import validation
from mppo.training.loop import Callback, Training, describe
from mppo.training.run import Row, Run
from mppo.training.start import begin_or_extend

Path_ = str | os.PathLike[str]
EVALUATED_AT_ONCE = 10  # environments side by side
SETTABLE = ("out", "verbose")
"""What may be set on a model: it changes no number."""


class MPPO:
    """A method on an environment: `learn`, `predict`, `evaluate`, `save`, `load`.

    `env` is a Gymnasium id, a callable, or an environment. Further keywords are fields of the
    method: `paths=4, picking={"alpha": 0.5}, critic__epochs=3, network__hidden=(32, 32)`.
    """

    method_name: str
    run: Run
    out: Path | None

    def __init__(
        self,
        env: AnyEnv,
        method: str | Method = "mp-trpo",
        *,
        seed: int = 0,
        env_kwargs: dict[str, Any] | None = None,
        wrappers: Sequence[Callable[[Any], Any]] = (),
        out: Path_ | None = None,
        from_scratch: bool = False,
        eval_every: int = 10_000,
        eval_episodes: int = 10,
        eval_deterministic_episodes: int | None = None,
        checkpoint_every: int = 0,
        workers: int = 0,
        tensorboard_log: Path_ | None = None,
        loggers: Sequence[Logger] = (),
        verbose: int = 0,
        **overrides: Any,
    ):
        if isinstance(env, str) and env.endswith("Policy"):
            raise BadRequest(
                f'"{env}" is no environment; give the environment first: MPPO("Hopper-v5", '
                'method="mp-trpo"); the network is network={"hidden": (64, 64)}'
            )
        chosen = settings.method_named(method) if isinstance(method, str) else method
        chosen = settings.overridden(chosen, overrides)
        beside = eval_deterministic_episodes
        evaluation = Evaluation(
            eval_every, eval_episodes, eval_episodes if beside is None else beside
        )
        on = env_source(env, wrappers=wrappers, **(env_kwargs or {}))
        run = Run(chosen, on, chosen.batch_size, seed, evaluation, workers)
        name = method if isinstance(method, str) else settings.name_of(chosen)
        self._set_up(run, name, out, checkpoint_every, verbose)
        self._loggers, self._from_scratch = list(loggers), from_scratch
        if tensorboard_log is not None:
            self._loggers.append(TensorBoard(_log_folder(tensorboard_log, out, name)))

    def _set_up(
        self, run: Run, name: str, out: Path_ | None, checkpoint_every: int, verbose: int
    ) -> None:
        self.run, self.method_name = run, name
        self.out = None if out is None else Path(out)
        self.verbose = verbose
        self._checkpoint_every = checkpoint_every
        self._loggers: list[Logger] = []
        self._begun = self._from_scratch = False
        self._position = 0  # steps that were asked for so far, in whole batches
        self._rows: tuple[list[Row], list[Row], list[Row]] = ([], [], [])
        self._agent: Agent | None = None

    def __setattr__(self, name: str, value: Any) -> None:
        """An assignment that would change nothing is refused, with the way out."""
        first = name in ("run", "method_name") and name not in self.__dict__
        free = first or name in SETTABLE or name.startswith("_")
        if not free and (type(self) is MPPO or name in _reserved()):
            raise foreign_names.not_settable(name, self.method, _reserved())
        object.__setattr__(self, name, value)

    @property
    def method(self) -> Method:
        """The method, a value that can be compared and printed."""
        return self.run.method

    @property
    def seed(self) -> int:
        """The seed of everything random."""
        return self.run.seed

    @property
    def num_timesteps(self) -> int:
        """Environment steps learnt from so far."""
        return self.run.iteration * self.run.method.batch_size

    @property
    def observation_space(self) -> Any:
        """What `predict` takes."""
        return self.run.task.spaces.observation

    @property
    def action_space(self) -> Any:
        """What `predict` answers in."""
        return self.run.task.spaces.action

    @property
    def metrics(self) -> list[Row]:
        """One row for each iteration (the rows of metrics.jsonl)."""
        return self._rows[0]

    @property
    def evaluations(self) -> list[Row]:
        """One row for each evaluation while learning (the rows of evaluations.jsonl)."""
        return self._rows[1]

    @property
    def policy(self) -> Policy:
        """The policy that the picking rule reports now."""
        return self.agent.policy

    @property
    def agent(self) -> Agent:
        """That policy, ready to act; it does not change when learning goes on."""
        if self._agent is None:
            self._agent = self.run.agent()
        return self._agent

    def learn(
        self,
        total_timesteps: int,
        callback: Callback | None = None,
        log_interval: int = 1,
        progress_bar: bool = False,
        reset_num_timesteps: bool = True,
    ) -> MPPO:
        """Learn from that many further steps, in whole batches (at least so many); returns self.

        A second call goes on where the first one ended, with the same bits as one longer call.
        `reset_num_timesteps` is accepted and changes nothing: weights and counters always go on,
        because random streams hang on the counter. With `out`, the run is written there, and the
        same calls in a new process take it up where it was left; `from_scratch` moves the run that
        is there to another name instead.
        """
        if total_timesteps < 1:
            raise BadRequest(f"total_timesteps is {total_timesteps}; it must be at least 1")
        shown = [PrintRows(log_interval)] if self.verbose else []
        shown += [ProgressBar()] if progress_bar else []
        told = Callbacks([*shown, as_callback(callback)])
        run, batch = self.run, self.run.method.batch_size
        run.extend(self._position + int(total_timesteps))
        self._agent = None
        with Interrupts(exits=False) as interrupts:
            self._train(told, interrupts)
        self._position, self._begun = min(run.iteration, run.iterations) * batch, True
        if interrupts.received is not None:
            self._position = self.num_timesteps
            if interrupts.received == signal.SIGINT:
                raise KeyboardInterrupt
            raise SystemExit(interrupts.exit_code)
        return self

    def _train(self, callback: Callbacks, interrupts: Interrupts) -> None:
        every, name = self._checkpoint_every, self.method_name
        if self.out is None:
            training = Training(self.run, None, every, name, self._loggers, self._rows)
            self._carry_out(training, callback, interrupts)
            return
        directory = RunDirectory(self.out)
        try:
            training = begin_or_extend(
                self.run, directory, name, every, self._loggers, self._begun, self._from_scratch
            )
            self._from_scratch = False  # what is there now is this run
            self._carry_out(training, callback, interrupts)
        finally:
            directory.close()

    def _carry_out(self, training: Training, callback: Callbacks, interrupts: Interrupts) -> None:
        try:
            training.to_the_end(callback, interrupts)
        finally:
            self._rows = training.metrics, training.evaluations, training.timing

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
        action_masks: Any = None,
    ) -> tuple[Any, Any]:
        """The action for one observation, or actions for a stack of them, and `state` unchanged.

        Where `action_masks` was set, a mask says what is allowed, here or in the observation.
        """
        return self.agent.predict(observation, state, episode_start, deterministic, action_masks)

    def evaluate(
        self, episodes: int = 10, seed: int | None = None, deterministic: bool = False
    ) -> tuple[float, float]:
        """Mean and standard deviation of the returns of some episodes, on fresh environments.

        Without a seed, these are the episodes of the run's own evaluation at this point.
        """
        if episodes < 1:
            raise BadRequest(f"episodes is {episodes}; it must be at least 1")
        run = self.run
        envs = run.task.make(run.task.count or episodes)
        chosen = run.seed if seed is None else seed
        evaluator = Evaluator(envs, run.task.spaces, chosen, run.clip, run.workers)
        actor = Actor(run.architecture, self.agent.policy)
        try:
            number = run.iteration if seed is None else 0
            played = evaluator.play(actor, number, episodes, deterministic)
        finally:
            evaluator.close()
        if played.cut.any():
            validation.say_cut(int(played.cut.sum()), episodes, run.task.name, LONGEST)
        return float(played.returns.mean()), float(played.returns.std())

    def save(self, path: Path_) -> Path:
        """Write all of it to one safetensors file (suffix added if missing); returns where.

        `load` takes that path, or the one given here.
        """
        arrays, data = self.run.snapshot()
        return model_file.save(path, describe(self.run, self.method_name), arrays, data)

    @classmethod
    def load(
        cls,
        path: Path_,
        env: AnyEnv | None = None,
        *,
        wrappers: Sequence[Callable[[Any], Any]] | None = None,
        out: Path_ | None = None,
        workers: int = 0,
        verbose: int = 0,
        allow_imports: bool = False,
    ) -> MPPO:
        """A saved model, or the newest checkpoint of a run directory; learning may go on.

        `env` is needed where the model was trained on a callable or an instance. Code of other
        packages that the file names is imported only with `allow_imports`. A run directory is
        only read; to go on in one, pass it as `out` to the constructor instead.
        """
        found = model_file.read(path)
        about = found.described
        old = described(about, allow_imports, other_env=env is not None)
        on = recorded_source(about, env, wrappers, allow_imports)
        done = found.data.get("iteration")
        steps = old.method.batch_size * max(1, done if isinstance(done, int) else 1)
        same = on.horizon == about.get("horizon")  # in another environment, J may count otherwise
        settled = old.unfinished if same else None
        run = Run(old.method, on, steps, old.seed, old.evaluation, workers, settled)
        run.clip = old.clip_actions  # as trained, also where `env` is another
        there = (about["env"], about["env_kwargs"], tuple(about.get("wrappers", ())))
        moved = (on.name, on.kwargs, on.wrappers) != there
        try:
            run.restore(found.checkpoint, moved)
        except CheckpointError:
            if env is None or moved:
                raise
            run.restore(found.checkpoint, moved=True)  # its like by name, but of another make
        model = cls.__new__(cls)
        model._set_up(run, old.method_name, out, 0, verbose)
        model._rows = found.metrics, found.evaluations, []
        model._position = model.num_timesteps
        return model

    def set(self, **changes: Any) -> MPPO:
        """Change settings and go on: `set(optimiser__learning_rate=1e-4, gamma=0.99)`.

        Keywords are as in the constructor; returns self. What was learnt stays. Settings that it
        hangs on (network sizes, paths, ...) cannot change, and say why. A run directory describes
        one run with one setting: set `out` to another one before.
        """
        method = settings.overridden(self.method, changes)
        if method == self.method:
            return self
        if self.out is not None and RunDirectory(self.out).description() is not None:
            raise BadRequest(
                f'"{self.out}" holds the run with the settings as they were; choose another '
                "directory first: model.out = ..., or None"
            )
        self.run.change(method)
        self._agent = None
        return self

    def get_env(self) -> Any:
        """The vector environment that samples come from."""
        return self.run.collector.envs

    def set_env(self, env: AnyEnv, wrappers: Sequence[Callable[[Any], Any]] = ()) -> None:
        """Go on in another environment of the same spaces, with new episodes."""
        self.run.move_to(env_source(env, wrappers=wrappers))

    def get_parameters(self) -> dict[str, np.ndarray]:
        """All arrays that learning changes, by name; those of paths have a leading axis K."""
        return checkpoints.named_arrays(self.run.state, "state")

    def set_parameters(self, parameters: dict[str, np.ndarray]) -> None:
        """Put back what `get_parameters` gave; every name, shape and type must fit."""
        iteration = self.run.iteration
        self.run.state = checkpoints.restored(self.run.state, parameters, "state")
        if int(self.run.state.iteration) != iteration:
            self.run.iteration = int(self.run.state.iteration)
            self._position = self.num_timesteps
        self._agent = None

    def close(self) -> None:
        """Release environments and threads; those given as instances stay open."""
        self.run.close()

    def __repr__(self) -> str:
        where = f"{self.run.task.name!r}, {self.method_name!r}, seed={self.seed}"
        return f"MPPO({where}) after {self.num_timesteps:,} steps"


@cache
def _reserved() -> frozenset[str]:
    """All names that mean something on a model or as one of its settings."""
    given = inspect.signature(MPPO.__init__).parameters
    fields = (field.name for field in dataclasses.fields(Method))
    public = (name for name in dir(MPPO) if not name.startswith("_"))
    return frozenset({*given, *fields, *public, *foreign_names.NAMES, "run", "method_name"})


def _log_folder(wanted: Path_, out: Path_ | None, name: str) -> Path:
    """One folder for each run: named as the run directory, or the method with the next number."""
    if out is not None:
        return Path(wanted) / Path(out).name
    n = 1
    while (Path(wanted) / f"{name}_{n}").exists():
        n += 1
    return Path(wanted) / f"{name}_{n}"
