"""The environments whose speed is measured, and how they are made.

This file is also run by its path in an interpreter that has a peer and not mppo: it imports nothing
of mppo. What no package registers is registered here, under `bench/`.
"""

from __future__ import annotations

import importlib
import time
from dataclasses import dataclass
from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import FlattenObservation, RescaleAction, TransformReward


@dataclass(frozen=True)
class Measured:
    """An environment of the table."""

    name: str
    id: str
    package: str = ""
    """The module that registers it; where that is missing, it is left out."""
    share: float | None = None
    """What collecting should reach of bare `env.step` of the same actions."""
    envs: int = 0
    """Environments side by side; 0: as many whole episodes as fit into a batch."""
    workers: int = 0
    """Worker processes on all cores; 0: one for each core."""
    here: bool = False
    """Whether this file registers it."""
    remembers: bool = False
    """Whether something of it outlives a reset, so that only a new one repeats its rewards."""

    @property
    def env(self) -> str:
        """Its id with the module that registers it, as `mppo train` takes it."""
        module = "mppo.bench.catalogue" if self.here else self.package
        return f"{module}:{self.id}" if module else self.id

    @property
    def waits(self) -> bool:
        """Whether most of a step is no computing, so that CPU time says nothing of it."""
        return self.id == WAITING.id


WAITING = Measured("1 ms of waiting", "bench/Waiting-v0", envs=8, workers=8, here=True)
COMPUTING = Measured("1 ms of arithmetic", "bench/Computing-v0", envs=8, here=True)
ROBOTS = (
    *("Ant", "HalfCheetah", "Hopper", "Humanoid", "HumanoidStandup", "InvertedDoublePendulum"),
    *("InvertedPendulum", "Pusher", "Reacher", "Swimmer", "Walker2d"),
)
ENVIRONMENTS = (
    *(Measured(f"{name}-v5", f"{name}-v5") for name in ("Hopper", "HalfCheetah", "Ant")),
    Measured("Hopper-v5, 1 wrapper", "bench/Hopper-v5", share=0.85, here=True),
    Measured("Hopper-v4, 2 wrappers", "bench/Hopper-v4", share=0.85, here=True),
    *(Measured(f"{name}-v5", f"{name}-v5") for name in ("Humanoid", "HumanoidStandup")),
    *(Measured(f"{name}-v5", f"{name}-v5") for name in ("Reacher", "Pusher")),
    Measured("InvertedDoublePendulum-v5", "InvertedDoublePendulum-v5"),
    Measured("PointMaze_UMaze-v3", "PointMaze_UMaze-v3", "gymnasium_robotics", 0.85),
    Measured("AntMaze_UMaze-v5", "AntMaze_UMaze-v5", "gymnasium_robotics", 0.85),
    Measured("Blackjack-v1", "Blackjack-v1", share=0.5),
    Measured("MiniGrid-Empty, flat", "bench/MiniGrid-v0", "minigrid", 0.8, here=True),
    WAITING,
    Measured("BipedalWalker-v3", "BipedalWalker-v3", "gymnasium.envs.box2d", 0.8, remembers=True),
    Measured("LunarLander-v3", "LunarLander-v3", "gymnasium.envs.box2d", 0.8),
    Measured("CartPole-v1", "CartPole-v1", share=0.5),
)


class Waiting(gymnasium.Env):
    """A step waits for a millisecond, as for a simulator elsewhere."""

    observation_space = spaces.Box(-1, 1, (4,), np.float32)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        self._spend()
        return self._seen(), float(action), False, False, {}

    def _seen(self) -> np.ndarray:
        return self.np_random.uniform(-1, 1, 4).astype(np.float32)

    def _spend(self) -> None:
        time.sleep(0.001)


class Computing(Waiting):
    """A step computes for about a millisecond."""

    def _spend(self) -> None:
        total = 0.0
        for n in range(16_000):
            total += n * 0.5


def _hopper(version: str) -> gymnasium.Env:
    """A robot in wrappers that cannot be expressed in compiled code."""
    robot = gymnasium.make(f"Hopper-{version}", max_episode_steps=-1, disable_env_checker=True)
    wrapped = TransformReward(robot, lambda reward: reward)
    return RescaleAction(wrapped, np.float32(-1), np.float32(1)) if version == "v4" else wrapped


def _grid(package: str) -> gymnasium.Env:
    wrappers: Any = importlib.import_module(f"{package}.wrappers")  # this registers them, too
    grid = gymnasium.make("MiniGrid-Empty-8x8-v0", disable_env_checker=True)
    return FlattenObservation(wrappers.ImgObsWrapper(grid))


for _name, _entry, _horizon, _kwargs in (
    ("bench/Waiting-v0", Waiting, 50, {}),
    ("bench/Computing-v0", Computing, 50, {}),
    ("bench/Hopper-v5", _hopper, 1000, {"version": "v5"}),
    ("bench/Hopper-v4", _hopper, 1000, {"version": "v4"}),
    ("bench/MiniGrid-v0", _grid, None, {"package": "minigrid"}),
):
    if _name not in gymnasium.registry:
        gymnasium.register(_name, cast(Any, _entry), max_episode_steps=_horizon, kwargs=_kwargs)


def make(env_id: str, package: str = "") -> gymnasium.Env:
    """A single environment of the table, as Gymnasium makes it."""
    if package:
        gymnasium.register_envs(importlib.import_module(package))
    return gymnasium.make(env_id, disable_env_checker=True)


def make_flat(env_id: str, package: str = "") -> gymnasium.Env:
    """The same with observations in one array, for those that take nothing else."""
    env = make(env_id, package)
    return env if isinstance(env.observation_space, spaces.Box) else FlattenObservation(env)
