"""Diversity-driven exploration (Hong et al. 2018): Div-TRPO and Div-PPO."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from mppo.algorithm.picking import min_max
from mppo.algorithm.policies import Architecture, Policy
from mppo.algorithm.population import put
from mppo.algorithm.surrogate import statistics
from mppo.algorithm.types import Bonus, Trajectories
from mppo.machine.lazy import jax, jnp


class DiversityState(NamedTuple):
    """The most recent policies, what they achieved, and the present weight."""

    policies: Policy  # stack of `priors`
    performance: jax.Array  # [priors]
    count: jax.Array
    weight: jax.Array


@dataclass(frozen=True)
class Diversity:
    """Rewards a policy for being far from its predecessors."""

    weight: float = 0.1
    """Weight of the mean distance in the objective, at the start."""
    priors: int = 5
    """How many recent policies are kept away from."""
    largest: float = 1.0
    """A state's distance counts at most this much."""
    scaling: Literal["distance", "constant"] = "distance"
    """Whether the weight follows the distance: up by 1 % below the wanted one, else down."""
    wanted: float = 0.05
    """The distance that `scaling="distance"` aims at."""
    by_performance: Literal["reactive", "proactive", "equal"] = "reactive"
    """Keep away from bad predecessors only, also go towards good ones, or treat all alike."""

    def init(self, architecture: Architecture, key: jax.Array) -> DiversityState:
        """No predecessors yet."""
        # any valid policy stands in for those to come: its distance counts nothing
        stand_in, n = architecture.init(key), self.priors
        blank = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (n, *leaf.shape)), stand_in)
        return DiversityState(blank, jnp.zeros(n), jnp.asarray(0), jnp.asarray(self.weight))

    def distances(
        self,
        architecture: Architecture,
        state: DiversityState,
        policy: Policy,
        observations: jax.Array,
    ) -> jax.Array:
        """Mean KL(prior || policy) over states, for each prior; 0 for empty places."""
        current = statistics(architecture, policy, observations)

        def distance(prior: Policy) -> jax.Array:
            before = statistics(architecture, prior, observations)
            kl = jax.vmap(architecture.head.kl)(jax.lax.stop_gradient(before), current)
            return jnp.mean(jnp.minimum(kl, self.largest))

        filled = jnp.arange(self.priors) < state.count
        return jnp.where(filled, jax.lax.map(distance, state.policies), 0.0)

    def weights(self, state: DiversityState) -> jax.Array:
        """How much each prior counts, by what it achieved."""
        filled = jnp.arange(self.priors) < state.count
        if self.by_performance == "equal":
            return filled.astype(jnp.float32)
        stand_in = jnp.where(filled, state.performance, state.performance[0])
        achieved = min_max(stand_in)
        alike = jnp.max(stand_in) - jnp.min(stand_in) <= 1e-9
        weights = 1 - achieved if self.by_performance == "reactive" else 1 - 2 * achieved
        return jnp.where(filled, jnp.where(alike, 1.0, weights), 0.0)

    def reward(
        self, architecture: Architecture, state: DiversityState, trajectories: Trajectories
    ) -> jax.Array:
        return trajectories.rewards

    def bonus(self, architecture: Architecture, state: DiversityState) -> Bonus:
        count = jnp.maximum(jnp.minimum(state.count, self.priors), 1)
        weights = state.weight * self.weights(state) / count

        def bonus(policy: Policy, observations: jax.Array) -> jax.Array:
            distances = self.distances(architecture, state, policy, observations)
            return jnp.where(state.count > 0, jnp.sum(weights * distances), 0.0)

        return bonus

    def update(
        self,
        architecture: Architecture,
        state: DiversityState,
        policy: Policy,
        performance: jax.Array,
        trajectories: Trajectories,
        key: jax.Array,
    ) -> tuple[DiversityState, dict[str, jax.Array]]:
        """Take the policy that acted into the ring, and adapt the weight."""
        seen = trajectories.observations.reshape(-1, architecture.observation_size)
        count = jnp.maximum(jnp.minimum(state.count, self.priors), 1)
        distance = jnp.sum(self.distances(architecture, state, policy, seen)) / count
        weight = state.weight
        if self.scaling == "distance":
            factor = jnp.where(distance <= self.wanted, 1.01, 0.99)
            weight = jnp.where(state.count > 0, weight * factor, weight)
        place = state.count % self.priors
        policies = put(state.policies, place, policy)
        achieved = state.performance.at[place].set(performance)
        log = {"diversity_distance": distance, "diversity_weight": state.weight}
        return DiversityState(policies, achieved, state.count + 1, weight), log
