"""What a worker does, in a process of this machine or on a node of a cluster.

A worker has whole environments of a run and steps each for a whole stretch, the policy included.
It needs NumPy, Numba and the environment; JAX stays in the process that learns.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np

from mppo.acting.actor import Acting, Actor, Ensemble
from mppo.acting.spaces import Spaces
from mppo.algorithm.types import Trajectories
from mppo.envs.recipe import Recipe, number
from mppo.errors import FAULTS, EnvironmentFault, display_hint, in_words
from mppo.rollouts.buffers import Buffers
from mppo.rollouts.collector import Collector
from mppo.rollouts.evaluator import Episodes, Evaluator, place


@dataclass(frozen=True)
class Setup:
    """What every worker of a run must know; it is sent once."""

    recipe: Recipe
    spaces: Spaces
    steps: int
    seed: int
    episodes: str
    clip: bool
    gamma: float
    tells: bool = False  # whether environments are asked for their state after each stretch

    def __getstate__(self) -> dict[str, Any]:
        """What is sent: spaces without what was derived from them, which may not be sendable."""
        return {**self.__dict__, "spaces": replace(self.spaces)}


class Stretch(NamedTuple):
    """Steps that an environment has taken: enough to take them again."""

    path: int
    iteration: int
    actions: np.ndarray  # [T, act]
    gamma: float


class Job(NamedTuple):
    """A stretch that one environment shall take.

    A worker that has not got the environment's past takes it from `state`, or takes the steps
    `before` again.
    """

    environment: int
    path: int
    iteration: int
    restart: bool  # with new episodes
    gamma: float  # it may change while a run goes on
    state: dict[str, np.ndarray] | None = None
    before: tuple[Stretch, ...] = ()
    anew: bool = False  # whether what the worker has of this environment is to be given up

    def where(self, step: int) -> str:
        """The place in words."""
        at = f"step {step}" if step else "its first steps"
        return f"environment {self.environment}, {at} of iteration {self.iteration}"


class EpisodeJob(NamedTuple):
    """An episode of an evaluation that shall be played."""

    number: int
    episode: int
    deterministic: bool

    def where(self, step: int) -> str:
        """The place in words."""
        return place(self.number, self.episode, step)


class Collected(NamedTuple):
    """A stretch that was taken, and the state after it of an environment that can tell."""

    trajectories: Trajectories
    state: dict[str, np.ndarray] | None


class Failed(NamedTuple):
    """An exception in words: its kind, its message and where it was raised."""

    kind: str
    text: str

    def raised(self) -> Exception:
        """The exception as the process that learns raises it."""
        kinds = {fault.__name__: fault for fault in FAULTS}
        return kinds.get(self.kind, EnvironmentFault)(self.text)


class Recorded:
    """Stands for the policy where its actions are known: the noise is the action itself."""

    def __init__(self, actions: np.ndarray):
        self._actions = actions
        self.adds_noise = self.network = None  # there is none that compiled code could run

    def noise(self, generator: np.random.Generator, steps: int) -> np.ndarray:
        """The actions."""
        return self._actions

    def act(self, observation: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """The action of this step."""
        return noise


class Stepper:
    """The environments that one worker has, made when first needed."""

    def __init__(self, setup: Setup):
        self.setup = setup
        self.beats = np.zeros(1, np.int64)  # steps of an evaluation's episode, for whoever watches
        self._collectors: dict[int, Collector] = {}
        self._evaluator: Evaluator | None = None

    def carry_out(self, actor: Acting, job: Job | EpisodeJob, rows: Buffers) -> Any:
        """The result of a job, or what went wrong: nothing is raised."""
        self.beats[:] = 0
        try:
            if isinstance(job, EpisodeJob):
                return self._play(cast(Actor, actor), job)
            return self._collect(actor, job, rows)
        except (KeyboardInterrupt, MemoryError):
            raise
        except BaseException as error:  # SystemExit too: an environment must not end a run quietly
            steps = rows.filled() if isinstance(job, Job) else int(self.beats[0])
            return failed(error, self.setup.recipe.name, job.where(steps))

    def close(self) -> None:
        """Close all environments."""
        for part in (*self._collectors.values(), self._evaluator):
            if part is not None:
                part.close()

    def _collect(self, actor: Acting, job: Job, rows: Buffers) -> Collected:
        e = job.environment
        if job.anew and e in self._collectors:
            self._collectors.pop(e).close()
        if e not in self._collectors:
            own, setup = self.setup.recipe.vector(e), self.setup
            how = setup.spaces, setup.steps, setup.seed, setup.episodes, setup.clip, setup.gamma
            self._collectors[e] = Collector(own, *how, first=e)
        collector = self._collectors[e]
        if job.state is not None:
            collector.set_state(job.state)
        for stretch in job.before:
            rows.clear()
            again, collector.gamma = cast(Actor, Recorded(stretch.actions)), stretch.gamma
            collector(again, stretch.path, stretch.iteration, rows)
        if job.restart:
            collector.forget()
        rows.clear()
        collector.gamma = job.gamma
        if isinstance(actor, Ensemble):  # a race: every environment has a policy of its own
            actor = actor.actors[job.environment]
        trajectories = collector(actor, job.path, job.iteration, rows)
        return Collected(trajectories, collector.get_state() if self.setup.tells else None)

    def _play(self, actor: Actor, job: EpisodeJob) -> Episodes:
        setup = self.setup
        if self._evaluator is None:
            envs = setup.recipe.vector()
            evaluator = Evaluator(envs, setup.spaces, setup.seed, setup.clip, watch=self._beat)
            self._evaluator = evaluator
        number(self._evaluator.envs, job.episode)
        return self._evaluator.play(actor, job.number, 1, job.deterministic, job.episode)

    def _beat(self) -> None:
        self.beats += 1


def failed(error: BaseException, name: str, where: str) -> Failed:
    """An exception in words that can be sent; of a foreign one, where it was raised."""
    kind = type(error).__name__
    cause = error.__cause__ or error
    frames = traceback.extract_tb(cause.__traceback__)
    at = f"; raised in {frames[-1].filename}, line {frames[-1].lineno}" if frames else ""
    if isinstance(error, FAULTS):
        text = f"{error}{at if error.__cause__ is not None else ''}"
    else:
        text = f'environment "{name}" failed in a worker: {in_words(error)}{at}; {where}'
    return Failed(kind, text + display_hint(cause))
