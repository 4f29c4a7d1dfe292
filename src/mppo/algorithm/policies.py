"""Stochastic policies: a filter, a network and a head over its outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from mppo.algorithm import filters
from mppo.algorithm.filters import Filter
from mppo.algorithm.heads import Head
from mppo.algorithm.networks import Mlp
from mppo.algorithm.types import Network, PyTree
from mppo.machine.lazy import jax, jnp

OUTPUT_SCALE = 0.01  # of the last layer's first weights: all actions alike at the start


class Parameters(NamedTuple):
    """What a base optimiser changes; all of it is in TRPO's parameter vector and its KL."""

    network: PyTree
    free: jax.Array  # log standard deviations of Gaussian actions, empty for choices


class Policy(NamedTuple):
    """One policy: what is learnt, and the filter its network looks through."""

    parameters: Parameters
    filter: Filter


@dataclass(frozen=True)
class Architecture:
    """The shape that all policies of a run share: spaces and network, no numbers."""

    observation_size: int
    head: Head
    network: Network = Mlp()
    filtered: bool = True
    action_scale: tuple[float, ...] = ()  # bounds of the actions, 1 where there are none

    def init(self, key: jax.Array) -> Policy:
        """A random policy."""
        network = self.network.init(key, self.observation_size, self.head.outputs, OUTPUT_SCALE)
        return Policy(
            Parameters(network, jnp.zeros(self.head.free)), filters.init(self.observation_size)
        )

    def statistics(self, policy: Policy, observation: jax.Array) -> jax.Array:
        """The statistics of the action distribution at one observation."""
        outputs = self.network.apply(policy.parameters.network, self._seen(policy, observation))
        return self.head.statistics(outputs, policy.parameters.free)

    def seen(self, policy: Policy, observations: jax.Array) -> jax.Array:
        """What the network gets of a stack [N, obs]."""
        return jax.vmap(self._seen, in_axes=(None, 0))(policy, observations)

    def _seen(self, policy: Policy, observation: jax.Array) -> jax.Array:
        return filters.apply(policy.filter, observation) if self.filtered else observation

    def log_prob(self, policy: Policy, observation: jax.Array, action: jax.Array) -> jax.Array:
        """Log probability (density) of one action."""
        return self.head.log_prob(self.statistics(policy, observation), action)
