"""What is known of a vector environment by its class; names of attributes are the user's own."""

from typing import Any

from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv, VectorEnv

from mppo.envs.batched.batch import BatchVectorEnv
from mppo.envs.checked import CheckedVectorEnv
from mppo.envs.robots.lane import Lane
from mppo.envs.robots.vector import MujocoVectorEnv

_TAKE_SEEDS = SyncVectorEnv | AsyncVectorEnv | CheckedVectorEnv | BatchVectorEnv | MujocoVectorEnv


def seeds_for(envs: VectorEnv, seeds: list[int]) -> Any:
    """A seed for each environment where `reset` is known to take a list; else one for all."""
    return seeds if isinstance(envs.unwrapped, _TAKE_SEEDS) else seeds[0]


def lanes_of(envs: VectorEnv) -> list[Lane] | None:
    """The robots of our own vector environment, each of which can be stepped by itself.

    A kind of it that has a `step` or `reset` of its own is stepped by them.
    """
    ours, kind = MujocoVectorEnv, type(envs)
    if isinstance(envs, ours) and (kind.step, kind.reset) == (ours.step, ours.reset):
        return envs.lanes
    return None
