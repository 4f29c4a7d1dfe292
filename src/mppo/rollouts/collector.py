"""Line 5: the only module that steps environments for training."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv

from mppo.acting.actor import Actor, Ensemble
from mppo.acting.spaces import Spaces
from mppo.algorithm.types import Earlier, Trajectories
from mppo.envs.batch import BatchVectorEnv
from mppo.envs.checked import CheckedVectorEnv
from mppo.envs.contract import Lane, Limits, Resumable, Rows, checked_state
from mppo.envs.lanes import checked_of, lanes_for, runs, take_up
from mppo.errors import BadRequest
from mppo.machine.seeding import Role, generator, integer
from mppo.machine.sharing import CHUNK, share
from mppo.rollouts import checks
from mppo.rollouts.buffers import Arrays, Buffers, as_arrays, buffers, open_episodes, taken_out
from mppo.rollouts.watching import Watch

_NOTHING = np.zeros(0, np.float32)
_TAKE_SEEDS = SyncVectorEnv | AsyncVectorEnv | CheckedVectorEnv | BatchVectorEnv


def seeds_for(envs: VectorEnv, seeds: list[int]) -> Any:
    """A seed for each environment where `reset` is known to take a list; else one for all."""
    return seeds if isinstance(envs.unwrapped, _TAKE_SEEDS) else seeds[0]


def limits_of(spaces: Spaces, clip: bool) -> Limits:
    """The bounds of actions; of those that are no numbers, none."""
    if isinstance(spaces.action, Box):
        return Limits(clip, spaces.action.low, spaces.action.high, spaces.squash)
    return Limits(clip, _NOTHING, _NOTHING)


@dataclass(eq=False)
class Collector:
    """Rolls out one policy in E environments for T steps each.

    With `episodes="fresh"` every call starts new episodes from streams of (seed, iteration), so
    that it is a function of its arguments. With "continue" episodes go on in the next call as
    long as the path stays the same; with "continue-per-path" every path goes on with its own.
    """

    envs: VectorEnv
    spaces: Spaces
    steps: int
    seed: int
    episodes: str = "fresh"
    clip: bool = False
    gamma: float = 1.0
    workers: int = 1
    first: int = 0
    """The number of the first environment, where others are collected elsewhere."""
    step_timeout: float = 0.0
    """Seconds that a step may take, if nobody else looks after that."""

    def __post_init__(self) -> None:
        envs, spaces = self.envs, self.spaces
        self._continues = self.episodes != "fresh"
        self._per_path = self.episodes == "continue-per-path"
        self._parked: dict[int, Arrays] = {}  # what paths left that are not rolled out now
        self._path: int | None = None
        self._iteration = 0
        self._earlier = self._no_earlier()
        self._now = np.empty((envs.num_envs, spaces.observation_size), np.float32)
        self.mode = AutoresetMode(envs.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP))
        if self._continues and self.mode == AutoresetMode.NEXT_STEP:
            raise BadRequest(
                f'"{spaces.name}" restarts in the next step (AutoresetMode.NEXT_STEP), with which '
                'episodes="continue" would lose samples; use SAME_STEP or DISABLED, or "fresh"'
            )
        self._all_lanes = lanes_for(envs, spaces)
        self._watch = Watch(checked_of(envs), self.step_timeout)
        self._lanes: Sequence[Lane] = ()  # those that can run the policy at hand
        self._workers = max(1, min(self.workers, envs.num_envs))
        self._pool = ThreadPoolExecutor(self._workers) if self._workers > 1 else None
        self._pending = np.zeros(envs.num_envs, bool)  # resets at the next step, NEXT_STEP only

    def close(self) -> None:
        """Release threads and environments."""
        self._watch.close()
        if self._pool is not None:
            self._pool.shutdown()
        self.envs.close()

    def __call__(
        self, actor: Actor | Sequence[Actor], path: int, iteration: int, rows: Buffers | None = None
    ) -> Trajectories:
        """Trajectories of the actor, or of one actor in each environment.

        They stand in arrays of their own, or in those given.
        """
        envs, self._iteration = self.envs.num_envs, iteration
        actors = list(actor) if isinstance(actor, Sequence) else [actor] * envs
        acting = Ensemble(actors) if isinstance(actor, Sequence) else actor
        before, self._lanes = self._lanes, ()
        if runs(self._all_lanes, actors[0]):
            self._lanes = self._all_lanes
            if not before:
                take_up(self._lanes, self._now)  # stepped as a whole until now
        rows = rows or buffers(self.spaces, envs, self.steps)
        numbers = range(self.first, self.first + envs)
        streams = [generator(self.seed, Role.ACTIONS, iteration, e) for e in numbers]
        noise = [one.noise(stream, self.steps) for one, stream in zip(actors, streams, strict=True)]
        with self._watch:
            if not self._continues or path != self._path:
                self._switch(path, iteration)
            if self._lanes:
                self._by_lane(actors, noise, rows)
            elif self.mode == AutoresetMode.NEXT_STEP:
                self._in_turn(acting, np.stack(noise), rows)
            else:
                self._in_step(acting, np.stack(noise), rows)
        trajectories = rows.trajectories(self._earlier, self._now)
        checks.check(trajectories, self.spaces.name, self.seed, iteration, self.first)
        if self._continues:
            self._earlier = open_episodes(trajectories, self._earlier, self.gamma)
        return trajectories

    def _switch(self, path: int, iteration: int) -> None:
        """Go over to a path: to the episodes it left, where they are kept, else to new ones."""
        if self._per_path and self._path is not None and self._path >= 0:  # not what a race left
            # copies, since the environments go on writing to these arrays
            self._parked[self._path] = {n: np.array(a) for n, a in self._present().items()}
        if path in self._parked:
            self._go_on_from(self._parked.pop(path))
            return
        self._path, self._earlier = path, self._no_earlier()
        numbers = range(self.first, self.first + self.envs.num_envs)
        for e, lane in enumerate(self._lanes):  # from streams of this iteration
            lane.begin(self.seed, Role.ENVIRONMENT, iteration, numbers[e])
            self._now[e] = lane.observation
        if not self._lanes:
            seeds = [integer(self.seed, Role.ENVIRONMENT, iteration, e) for e in numbers]
            observations, _ = self.envs.reset(seed=seeds_for(self.envs, seeds))
            self._now[:] = self.spaces.flatten(observations, self.envs.num_envs)
            self._pending[:] = False

    def get_state(self) -> Arrays:
        """What goes on from one batch to the next; of environments that can tell."""
        return self._present() | as_arrays(self._parked)

    def set_state(self, state: Arrays) -> None:
        """Go on where `get_state` was called."""
        self._parked, present = taken_out(state) if self._per_path else ({}, state)
        for parked in self._parked.values():
            self._go_on_from(parked)  # each is checked before any is used
        self._go_on_from(present)

    def _present(self) -> Arrays:
        assert self._path is not None
        assert isinstance(self.envs, Resumable)
        state = {f"env.{name}": value for name, value in self.envs.get_state().items()}
        earlier = {f"earlier.{name}": value for name, value in self._earlier._asdict().items()}
        return state | earlier | {"now": self._now.copy(), "path": np.array(self._path)}

    def _go_on_from(self, state: Arrays) -> None:
        cut = lambda prefix: {
            name.removeprefix(prefix): value
            for name, value in state.items()
            if name.startswith(prefix)
        }
        assert isinstance(self.envs, Resumable)
        self.envs.set_state(cut("env."))
        here = {name: value for name, value in state.items() if not name.startswith("env.")}
        like = {f"earlier.{name}": value for name, value in self._no_earlier()._asdict().items()}
        here = checked_state(here, like | {"now": self._now, "path": np.array(0)})
        self._earlier = Earlier(**cut("earlier."))
        self._now[:] = here["now"]
        take_up(self._all_lanes, self._now)
        self._path = int(state["path"])

    def forget(self) -> None:
        """Start new episodes at the next call."""
        self._path = None
        self._parked.clear()

    def _no_earlier(self) -> Earlier:
        zeros = np.zeros(self.envs.num_envs, np.float32)
        return Earlier(zeros, zeros, np.zeros(self.envs.num_envs, np.int32))

    def _by_lane(self, actors: Sequence[Actor], noise: list[np.ndarray], rows: Buffers) -> None:
        """Each environment by itself, in threads where physics lets others run meanwhile."""
        alone = self._pool is None or not all(lane.parallel for lane in self._lanes)
        chunk = self.steps if alone else CHUNK

        def advance(piece: tuple[int, int]) -> tuple[int, int] | None:
            e, start = piece
            stop = min(start + chunk, self.steps)
            self._advance(e, actors[e], noise[e], rows, start, stop)
            return (e, stop) if stop < self.steps else None

        pieces = [(e, 0) for e in range(len(self._lanes))]
        if self._pool is None or alone:
            for piece in pieces:
                advance(piece)
        else:
            share(self._pool, self._workers, pieces, advance)

    def _advance(
        self, e: int, actor: Actor, noise: np.ndarray, rows: Buffers, t: int, stop: int
    ) -> None:
        """Rows t ... stop - 1 of environment e."""
        lane, limits = self._lanes[e], limits_of(self.spaces, self.clip)
        parts = Rows(noise, rows.observations[e], rows.actions[e], rows.rewards[e])
        while t < stop:
            t += lane.run_steps(actor, limits, parts, t, stop)
            if lane.bad_numbers():
                where = f"environment {self.first + e}, step {t - 1} of iteration {self._iteration}"
                checks.bad_numbers(lane, self.spaces.name, where, self.seed)
            terminated, truncated = lane.ended()
            if terminated or truncated:
                rows.terminated[e, t - 1], rows.truncated[e, t - 1] = terminated, truncated
                rows.next_observations[e, t - 1] = lane.observation
                if t < self.steps or self._continues:  # or the next batch begins anew
                    lane.reset()
        self._now[e] = lane.observation

    def _in_step(self, actor: Actor | Ensemble, noise: np.ndarray, rows: Buffers) -> None:
        """All environments side by side; ended ones restart before the next step."""
        count, envs, now = self.envs.num_envs, self.envs, self._now
        flatten, to_env, clip = self.spaces.flatten, self.spaces.to_env, self.clip
        disabled = self.mode == AutoresetMode.DISABLED
        for t in range(self.steps):
            rows.observations[:, t] = now
            actions = actor.act(now, noise[:, t])
            rows.actions[:, t] = actions
            seen, rewards, terminated, truncated, info = envs.step(to_env(actions, clip))
            rows.rewards[:, t] = rewards
            ended = terminated | truncated
            if not ended.any():
                now[:] = flatten(seen, count)
                continue
            rows.terminated[:, t], rows.truncated[:, t] = terminated, truncated
            if disabled:
                rows.next_observations[ended, t] = flatten(seen, count)[ended]
                seen, _ = envs.reset(options={"reset_mask": ended})
            else:
                for e in np.flatnonzero(ended):
                    last = info["final_obs"][e]
                    rows.next_observations[e, t] = self.spaces.flatten_one(last)
            now[:] = flatten(seen, count)

    def _in_turn(self, actor: Actor | Ensemble, noise: np.ndarray, rows: Buffers) -> None:
        """Vector environments that spend a step on restarting: such steps are no samples."""
        count, now = self.envs.num_envs, self._now.copy()
        filled = np.zeros(count, int)
        while filled.min() < self.steps:
            at = np.minimum(filled, self.steps - 1)
            actions = actor.act(now, noise[np.arange(count), at])
            result = self.envs.step(self.spaces.to_env(actions, self.clip))
            seen = self.spaces.flatten(result[0], count)
            for e in np.flatnonzero((filled < self.steps) & ~self._pending):
                t = filled[e]
                rows.observations[e, t], rows.actions[e, t] = now[e], actions[e]
                rows.rewards[e, t] = result[1][e]
                rows.terminated[e, t], rows.truncated[e, t] = result[2][e], result[3][e]
                rows.next_observations[e, t] = self._now[e] = seen[e]
                filled[e] += 1
            self._pending = (result[2] | result[3]) & ~self._pending
            now[:] = seen
