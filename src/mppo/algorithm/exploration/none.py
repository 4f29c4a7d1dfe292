"""Exploration beyond the policy's own noise: the seam for bonuses, and none at all."""

from __future__ import annotations

from dataclasses import dataclass

from mppo.algorithm.policies import Architecture, Policy
from mppo.algorithm.types import Bonus, PyTree, Trajectories
from mppo.machine.lazy import jax, jnp


def no_bonus(policy: Policy, observations: jax.Array) -> jax.Array:
    """A bonus of zero."""
    return jnp.asarray(0.0)


@dataclass(frozen=True)
class NoBonus:
    """Nothing is added: the task's rewards and the base optimiser's objective."""

    def init(self, architecture: Architecture, key: jax.Array) -> tuple:
        return ()

    def reward(
        self, architecture: Architecture, state: PyTree, trajectories: Trajectories
    ) -> jax.Array:
        return trajectories.rewards

    def bonus(self, architecture: Architecture, state: PyTree) -> Bonus:
        return no_bonus

    def update(
        self,
        architecture: Architecture,
        state: PyTree,
        policy: Policy,
        performance: jax.Array,
        trajectories: Trajectories,
        key: jax.Array,
    ) -> tuple[PyTree, dict[str, jax.Array]]:
        return state, {}
