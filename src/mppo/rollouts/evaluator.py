"""Run episodes of one policy, on environments and random streams of their own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

from mppo.acting.actor import Actor
from mppo.acting.spaces import Spaces
from mppo.envs.contract import Lane, Rows
from mppo.envs.lanes import checked_of, lanes_for, runs
from mppo.machine.seeding import Role, generator, integer
from mppo.rollouts import checks
from mppo.rollouts.collector import limits_of, seeds_for
from mppo.rollouts.watching import Watch

LONGEST = 10_000  # steps of an episode that no time limit ends
BLOCK = 1000  # steps whose noise is drawn at once


class Episodes(NamedTuple):
    """What was played: one number for each episode."""

    returns: np.ndarray
    lengths: np.ndarray
    cut: np.ndarray  # whether it was stopped after LONGEST steps, without an end


def place(number: int, episode: int, step: int) -> str:
    """Where in an evaluation, in words."""
    return f"environment {episode}, step {step} of the evaluation after iteration {number}"


@dataclass(eq=False)
class Evaluator:
    """Plays one episode in each of its environments, which must restart only when told."""

    envs: VectorEnv
    spaces: Spaces
    seed: int
    clip: bool = False
    workers: int = 1
    watch: Callable[[], None] | None = None
    """Called after every reset and step."""
    step_timeout: float = 0.0
    """Seconds that a step may take, if nobody else looks after that."""

    def __post_init__(self) -> None:
        self._lanes: Sequence[Lane] = lanes_for(self.envs, self.spaces)
        self._watch = Watch(checked_of(self.envs), self.step_timeout)
        self._workers = max(1, min(self.workers, self.envs.num_envs))
        self._disabled = self.envs.metadata.get("autoreset_mode") == AutoresetMode.DISABLED

    def close(self) -> None:
        """Release the environments."""
        self._watch.close()
        self.envs.close()

    def play(
        self, actor: Actor, number: int, episodes: int, deterministic: bool = False, first: int = 0
    ) -> Episodes:
        """The episodes of evaluation `number`, or those from the `first` of them on.

        Both modes start from the same states.
        """
        if not episodes:
            return Episodes(np.zeros(0), np.zeros(0, int), np.zeros(0, bool))
        count, numbers = self.envs.num_envs, range(first, first + episodes)
        rounds = [numbers[n : n + count] for n in range(0, episodes, count)]
        if not runs(self._lanes, actor):
            with self._watch:
                parts = [self._in_step(actor, number, deterministic, some[0]) for some in rounds]
            return Episodes(*(np.concatenate(part)[:episodes] for part in zip(*parts, strict=True)))
        play = partial(self._episode, actor, number, deterministic)
        with self._watch, ThreadPoolExecutor(self._workers) as pool:
            parallel = self._workers > 1 and all(lane.parallel for lane in self._lanes)
            each = pool.map if parallel else map
            played = [one for some in rounds for one in each(play, some)]
        return Episodes(*map(np.array, zip(*played, strict=True)))

    def _watched(self) -> None:
        if self.watch is not None:
            self.watch()

    def _noise(self, actor: Actor, number: int, e: int, block: int) -> np.ndarray:
        """Noise for the next block of steps of one episode."""
        stream = generator(self.seed, Role.EVALUATION_ACTIONS, number, e, block)
        return actor.noise(stream, BLOCK)

    def _episode(
        self, actor: Actor, number: int, deterministic: bool, e: int
    ) -> tuple[float, int, bool]:
        """One episode by itself: physics runs without the interpreter's lock."""
        lane = self._lanes[e % len(self._lanes)]
        limits = limits_of(self.spaces, self.clip)
        lane.begin(self.seed, Role.EVALUATION_ENVIRONMENT, number, e)
        self._watched()
        size = self.spaces.head.size
        silence = np.zeros((BLOCK, self.spaces.head.outputs), np.float32)
        observations = np.empty((BLOCK, self.spaces.observation_size), np.float32)
        actions, rewards = np.empty((BLOCK, size), np.float32), np.empty(BLOCK)
        where = partial(place, number, e)
        total, t = 0.0, 0
        while t < LONGEST:
            at = t % BLOCK
            if at == 0:
                noise = silence if deterministic else self._noise(actor, number, e, t // BLOCK)
                rows = Rows(noise, observations, actions, rewards)
            stop = min(BLOCK, at + LONGEST - t) if self.watch is None else at + 1
            steps = lane.run_steps(actor, limits, rows, at, stop)
            paid = rewards[at : at + steps].tolist()
            total = sum(paid, total)
            t += steps
            if lane.bad_numbers():
                checks.bad_numbers(lane, self.spaces.name, where(t - 1), self.seed)
            if not math.isfinite(total):
                bad = next(n for n, reward in enumerate(paid) if not math.isfinite(reward))
                at_fault, action = where(t - steps + bad), actions[at + bad]
                checks.fault(self.spaces.name, "reward", paid[bad], at_fault, self.seed, action)
            self._watched()
            if any(lane.ended()):
                return total, t, False
        return total, t, True

    def _in_step(self, actor: Actor, number: int, deterministic: bool, first: int) -> Episodes:
        """One episode in each environment, side by side."""
        count = self.envs.num_envs
        episodes = range(first, first + count)
        seeds = [integer(self.seed, Role.EVALUATION_ENVIRONMENT, number, e) for e in episodes]
        seen, _ = self.envs.reset(seed=seeds_for(self.envs, seeds))
        self._watched()
        returns, lengths = np.zeros(count), np.zeros(count, int)
        playing = np.ones(count, bool)
        noise, actions, now = None, [None] * count, self.spaces.flatten(seen, count)
        check = partial(self._check, number, episodes)
        check("first observation", now, playing, 0, actions)
        for t in range(LONGEST):
            if not deterministic and t % BLOCK == 0:
                blocks = [self._noise(actor, number, e, t // BLOCK) for e in episodes]
                noise = np.stack(blocks, 1)
            drawn = None if noise is None else noise[t % BLOCK]
            actions = actor.act(now, drawn)
            env_actions = self.spaces.to_env(actions, self.clip)
            seen, rewards, terminated, truncated, _ = self.envs.step(env_actions)
            now = self.spaces.flatten(seen, count)
            check("reward", rewards, playing, t, actions)
            check("observation", now, playing, t, actions)
            returns += np.where(playing, rewards, 0.0)
            lengths += playing
            self._watched()
            ended = terminated | truncated
            playing &= ~ended
            if not playing.any():
                break
            if ended.any() and self._disabled:  # goes on unseen until all have finished
                seen, _ = self.envs.reset(options={"reset_mask": ended})
                now = self.spaces.flatten(seen, count)
        return Episodes(returns, lengths, playing)

    def _check(
        self,
        number: int,
        episodes: range,
        field: str,
        values: np.ndarray,
        playing: np.ndarray,
        t: int,
        actions: Any,
    ) -> None:
        """Raise at a number that is not finite, as training does; ended episodes are nobody's."""
        finite = np.isfinite(values)
        if finite.all():
            return
        bad = np.flatnonzero(playing & ~finite.reshape(len(playing), -1).all(1)).tolist()
        if bad:
            e, where = bad[0], place(number, episodes[bad[0]], t)
            checks.fault(self.spaces.name, field, values[e], where, self.seed, actions[e])
