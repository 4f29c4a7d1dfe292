"""Stochastic policies: a filter, a network and a head over its outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from mppo.algorithm import filters
from mppo.algorithm.filters import Filter
from mppo.algorithm.heads import Head
from mppo.algorithm.networks import Layer, Mlp, widened
from mppo.algorithm.styles import ALIKE_SCALE
from mppo.algorithm.types import Network, PyTree
from mppo.machine.lazy import jax, jnp

FORBIDDEN = -1e8
"""The logit of a choice that a mask forbids: finite, and its probability is exactly 0."""


class Parameters(NamedTuple):
    """What a base optimiser changes; all of it is in TRPO's parameter vector and its KL."""

    network: PyTree
    free: jax.Array  # log standard deviations of Gaussian actions, empty for choices


class Policy(NamedTuple):
    """One policy: what is learnt, and the filter its network looks through."""

    parameters: Parameters
    filter: Filter


def open_layers(policy: Policy) -> tuple[bool, tuple[Layer, ...]]:
    """Whether an Mlp sees sines and cosines, and its layers without inputs that it does not see."""
    first, *others = policy.parameters.network
    turns = not isinstance(policy.filter.turns, tuple) and bool(policy.filter.turns > 0)
    if not turns:
        first = first._replace(weights=first.weights[: policy.filter.mean.shape[0]])
    return turns, (first, *others)


@dataclass(frozen=True)
class Architecture:
    """The shape that all policies of a run share: spaces and network, no numbers."""

    observation_size: int
    head: Head
    network: Network = Mlp()
    filtered: bool = True
    action_scale: tuple[float, ...] = ()  # bounds of the actions, 1 where there are none
    some_raw: bool = False  # some policies see observations as they are, by their filter's mark
    mask: tuple[int, ...] = ()  # from and to: columns of observations that say what is allowed
    some_turn: bool = False  # some policies see sines and cosines too, by their filter's mark

    def init(
        self,
        key: jax.Array,
        output_scale: Any = ALIKE_SCALE,
        log_std: Any = 0.0,
        raw: Any = False,
        turns: Any = False,
    ) -> Policy:
        """A random policy; `output_scale` is one number, or one for each output, [1, outputs]."""
        network = self.network.init(key, self.observation_size, self.head.outputs, output_scale)
        filter = filters.init(self.observation_size)
        if self.some_turn:
            filter = filter._replace(turns=jnp.asarray(turns, jnp.float32))
            network = widened(network, jax.random.fold_in(key, 1), filter.turns)
        if self.some_raw:
            filter = filter._replace(count=jnp.where(raw, filters.RAW, filter.count))
        return Policy(Parameters(network, jnp.zeros(self.head.free) + log_std), filter)

    def statistics(self, policy: Policy, observation: jax.Array) -> jax.Array:
        """The statistics of the action distribution at one observation."""
        outputs = self.network.apply(policy.parameters.network, self._seen(policy, observation))
        statistics = self.head.statistics(outputs, policy.parameters.free)
        if not self.mask:
            return statistics
        return jnp.where(observation[slice(*self.mask)] > 0.5, statistics, FORBIDDEN)

    def seen(self, policy: Policy, observations: jax.Array) -> jax.Array:
        """What the network gets of a stack [N, obs]."""
        return jax.vmap(self._seen, in_axes=(None, 0))(policy, observations)

    def _seen(self, policy: Policy, observation: jax.Array) -> jax.Array:
        if not self.filtered:
            return observation
        return filters.apply(policy.filter, observation, self.some_raw)

    def log_prob(self, policy: Policy, observation: jax.Array, action: jax.Array) -> jax.Array:
        """Log probability (density) of one action."""
        return self.head.log_prob(self.statistics(policy, observation), action)
