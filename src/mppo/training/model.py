"""`MPPO`: a run as one object, with the names that Stable-Baselines3 has made usual."""

# pyright: strict
from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mppo.acting.agent import Agent
from mppo.algorithm.methods import Method
from mppo.algorithm.policies import Policy
from mppo.callbacks import Callbacks, PrintRows, ProgressBar, as_callback
from mppo.envs.source import AnyEnv, env_source
from mppo.errors import BadRequest
from mppo.files import checkpoints, foreign_names, model_file, reader, settings
from mppo.files.reader import History
from mppo.loggers import Logger, TensorBoard
from mppo.loggers.services import folder_below
from mppo.machine.signals import Interrupts
from mppo.training.evaluating import on_fresh
from mppo.training.loop import Callback, describe
from mppo.training.opening import restored_run
from mppo.training.options import Options
from mppo.training.run import Row, Run
from mppo.training.start import begun, named_method, tuned_settings, with_presets

Path_ = str | os.PathLike[str]
SETTABLE = ("out", "verbose")
"""What may be set on a model: it changes no number."""


class MPPO:
    """A method on an environment: `learn`, `predict`, `evaluate`, `save`, `load`.

    `env` is a Gymnasium id, a callable, or an environment. The options are those of
    `mppo.training.options.Options`; further keywords are fields of the method:
    `paths=4, picking={"alpha": 0.5}, critic__epochs=3, network__hidden=(32, 32)`. With `tuned`
    the others are known to work on this environment (`mppo zoo`); `fast`: a cheaper TRPO.
    """

    method_name: str
    run: Run
    out: Path | None

    def __init__(
        self,
        env: AnyEnv,
        method: str | Method = "mp-trpo",
        *,
        seed: int = Options.seed,
        out: Path_ | None = None,
        from_scratch: bool = Options.from_scratch,
        eval_every: int = Options.eval_every,
        eval_episodes: int = Options.eval_episodes,
        eval_deterministic_episodes: int | None = Options.eval_deterministic_episodes,
        checkpoint_every: int = Options.checkpoint_every,
        workers: int = Options.workers,
        step_timeout: float = Options.step_timeout,
        engine: Literal["local", "ray"] = Options.engine,
        address: str | None = Options.address,
        wrappers: Sequence[Callable[[Any], Any]] = (),
        loggers: Sequence[Logger] = (),
        env_kwargs: dict[str, Any] | None = None,
        tuned: bool = False,
        fast: bool = False,
        tensorboard_log: Path_ | None = None,
        verbose: int = 0,
        **overrides: Any,
    ):
        options = Options.among(locals())  # the parameters are its fields
        foreign_names.refuse_policy(env)
        known = tuned_settings(method, env, env_kwargs) if tuned else None
        overrides, options = with_presets(method, overrides, options, known, fast)
        name, chosen = named_method(method, overrides)
        if tensorboard_log is not None:
            loggers = (*loggers, TensorBoard(folder_below(tensorboard_log, out, name)))
        batch = chosen.batch_size  # until `learn` says how many steps
        options = dataclasses.replace(options, steps=batch, loggers=tuple(loggers))
        self._set_up(options.run(chosen, env, env_kwargs), name, options, verbose)

    def _set_up(self, run: Run, name: str, options: Options, verbose: int) -> None:
        self.run, self.method_name, self._options = run, name, options
        self.out = None if options.out is None else Path(options.out)
        self.verbose, self._begun = verbose, False
        self._position = 0  # steps that were asked for so far, in whole batches
        self._rows = History([], [], [])
        self._agent: Agent | None = None

    def __setattr__(self, name: str, value: Any) -> None:
        """An assignment that would change nothing is refused, with the way out."""
        first = name in ("run", "method_name") and name not in self.__dict__
        free = first or name in SETTABLE or name.startswith("_")
        if not free and (type(self) is MPPO or name in foreign_names.reserved(MPPO)):
            raise foreign_names.not_settable(name, self.method, foreign_names.reserved(MPPO))
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
        return self._rows.metrics

    @property
    def evaluations(self) -> list[Row]:
        """One row for each evaluation while learning (the rows of evaluations.jsonl)."""
        return self._rows.evaluations

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
        because random streams hang on the counter.
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
            interrupts.obey()
        return self

    def _train(self, callback: Callbacks, interrupts: Interrupts) -> None:
        options = dataclasses.replace(self._options, out=self.out)
        with begun(
            self.run, self.method_name, options, self._rows, extends=True, again=self._begun
        ) as training:
            if self.out is not None:  # what is there now is this run
                self._options = dataclasses.replace(options, from_scratch=False)
            try:
                training.to_the_end(callback, interrupts)
            finally:
                self._rows = training.rows

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
        own_noise: bool = False,
        action_masks: Any = None,
    ) -> tuple[Any, Any]:
        """The action for one observation, or actions for a stack of them, and `state` unchanged.

        With `own_noise` actions are as noisy as in training, see `Agent.predict`. Where
        `action_masks` was set, a mask says what is allowed, here or in the observation.
        """
        return self.agent.predict(
            observation, state, episode_start, deterministic, own_noise, action_masks
        )

    def evaluate(
        self, episodes: int = 10, seed: int | None = None, deterministic: bool = False
    ) -> tuple[float, float]:
        """Mean and standard deviation of the returns of some episodes, on fresh environments.

        Without a seed, these are the episodes of the run's own evaluation at this point.
        """
        if episodes < 1:
            raise BadRequest(f"episodes is {episodes}; it must be at least 1")
        played = on_fresh(self.run, self.agent.policy, episodes, seed, deterministic)
        return float(played.returns.mean()), float(played.returns.std())

    def save(self, path: Path_) -> Path:
        """Write all of it to one safetensors file (suffix added if missing); returns where."""
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
        run, name = restored_run(found, env, wrappers, workers, allow_imports)
        model = cls.__new__(cls)
        model._set_up(run, name, Options(out=out, workers=workers), verbose)
        model._rows, model._position = found.rows, model.num_timesteps
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
        if self.out is not None and reader.description(self.out) is not None:
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
