"""Line 5 in workers: the same trajectories as a `Collector`'s, whoever computes them.

What environment e does in iteration n is a function of the seed, n, e and, where episodes go on,
of its own past. So neither the number of workers nor their deaths show in the result: a worker
that has not got the past of an environment is given its state, or takes its steps once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from gymnasium.vector import SyncVectorEnv, VectorEnv

from mppo.acting.actor import Actor, Ensemble
from mppo.algorithm.types import Earlier, Trajectories
from mppo.rollouts.evaluator import Episodes
from mppo.rollouts.pool import Pool, Worker
from mppo.rollouts.worker import EpisodeJob, Job, Setup, Stretch

_NUMBERED = "env.0/"


class DistributedCollector:
    """Rolls out one policy in E environments for T steps each, in the workers of a pool."""

    def __init__(self, setup: Setup, envs: int, pool: Pool):
        self.setup, self.count, self.pool, self.gamma = setup, envs, pool, setup.gamma
        self._path: int | None = None
        self._past: list[Stretch] = []  # with the actions of all environments [E, T, act]
        self._states: list[dict[str, np.ndarray] | None] = [None] * envs
        self._home: dict[int, Worker] = {}  # the worker that has the environment as it is now

    @cached_property
    def envs(self) -> VectorEnv:
        """Environments like those of the workers, made here for whoever asks to see them."""
        return SyncVectorEnv([self.setup.recipe] * self.count)

    def take_over(self, path: int, iteration: int, trajectories: Trajectories) -> None:
        """Go on after a first batch that was collected elsewhere."""
        self._path = path
        self._past = [Stretch(path, iteration, trajectories.actions, self.gamma)]

    def __call__(self, actor: Actor | Sequence[Actor], path: int, iteration: int) -> Trajectories:
        """Trajectories of the actor, or of one actor in each environment."""
        acting = Ensemble(actor) if isinstance(actor, Sequence) else actor
        restart = self.setup.episodes != "continue" or path != self._path
        if restart:
            self._past, self._states = [], [None] * self.count
        jobs = [Job(e, path, iteration, restart, self.gamma) for e in range(self.count)]
        self._path = None  # if anything goes wrong, the next batch starts new episodes
        taken = self.pool.carry_out(acting, jobs, self._prepared)
        found = [one.trajectories for one in taken]
        merge = lambda parts: map(np.concatenate, zip(*parts, strict=True))
        earlier = Earlier(*merge(one.earlier for one in found))
        trajectories = Trajectories(*merge(one[:-1] for one in found), earlier=earlier)
        self._path, self._states = path, [one.state for one in taken]
        if self.setup.episodes == "continue" and None in self._states:
            self._past.append(Stretch(path, iteration, trajectories.actions, self.gamma))
        return trajectories

    def _prepared(self, worker: Worker, job: Job) -> Job:
        """The job, with the environment's past for a worker that has not got it."""
        e, home = job.environment, self._home.get(job.environment)
        self._home[e] = worker
        if home is worker:
            return job
        if job.restart:
            return job._replace(anew=True)
        state = self._states[e]
        past = [] if state is not None else self._past
        before = tuple(one._replace(actions=one.actions[e]) for one in past)
        return job._replace(anew=True, state=state, before=before)

    def play(
        self, actor: Actor, number: int, episodes: int, deterministic: bool = False
    ) -> Episodes:
        """The episodes of evaluation `number`, as an `Evaluator` plays them."""
        if not episodes:
            return Episodes(np.zeros(0), np.zeros(0, int), np.zeros(0, bool))
        jobs = [EpisodeJob(number, e, deterministic) for e in range(episodes)]
        played = self.pool.carry_out(actor, jobs, None)
        return Episodes(*map(np.concatenate, zip(*played, strict=True)))

    def get_state(self) -> dict[str, np.ndarray]:
        """What "continue" carries on, of environments that can tell; as a `Collector` writes it."""
        return joined([state for state in self._states if state is not None])

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Go on where `get_state` was called."""
        self._states = [part_of(state, e) for e in range(self.count)]
        self._path, self._past = int(state["path"]), []
        self._home.clear()

    def forget(self) -> None:
        """Start new episodes at the next call."""
        self._path = None

    def close(self) -> None:
        """End the workers."""
        self.pool.close()
        made: Any = self.__dict__.pop("envs", None)
        if made is not None:
            made.close()


def joined(states: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """The state of all environments from the state of each.

    An array has one row for each environment, none (then it is the same for all), or a name that
    begins with the number of its environment.

    >>> one = lambda n: {"now": np.array([n]), "path": np.array(1), "env.0/x": np.arange(n)}
    >>> each = [one(7), one(8)]
    >>> sorted(joined(each)), joined(each)["now"]
    (['env.0/x', 'env.1/x', 'now', 'path'], array([7, 8]))
    """
    found = {}
    for name, first in states[0].items():
        if name.startswith(_NUMBERED):
            rest = name.removeprefix(_NUMBERED)
            found |= {f"env.{e}/{rest}": state[name] for e, state in enumerate(states)}
        else:
            found[name] = np.concatenate([s[name] for s in states]) if first.ndim else first
    return found


def part_of(state: dict[str, np.ndarray], e: int) -> dict[str, np.ndarray]:
    """The state of environment e out of that of all.

    >>> part_of({"now": np.array([7, 8]), "env.0/x": np.zeros(0), "env.1/x": np.ones(1)}, 1)
    {'now': array([8]), 'env.0/x': array([1.])}
    """
    found = {}
    for name, value in state.items():
        start, slash, rest = name.partition("/")
        if slash and start.removeprefix("env.").isdigit():
            found |= {_NUMBERED + rest: value} if start == f"env.{e}" else {}
        else:
            found[name] = value[e : e + 1] if value.ndim else value
    return found
