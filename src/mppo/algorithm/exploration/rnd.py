"""Random network distillation (Burda et al. 2018): a bonus for states unlike those seen before."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from mppo.algorithm import filters
from mppo.algorithm.exploration.none import no_bonus
from mppo.algorithm.filters import Filter
from mppo.algorithm.minibatches import adam_step, epochs_of_minibatches
from mppo.algorithm.networks import Mlp
from mppo.algorithm.policies import Architecture, Policy
from mppo.algorithm.types import Bonus, PyTree, Trajectories
from mppo.errors import check_ranges
from mppo.machine.lazy import jax, jnp, optax


class RndState(NamedTuple):
    """A random network that stays as it is, one that learns to say the same, and their filter."""

    target: PyTree
    predictor: PyTree
    filter: Filter
    optimiser: PyTree


@dataclass(frozen=True)
class Rnd:
    """A bonus for how badly a network foretells the outputs of a random one at the next state.

    It has a value network of its own, and weighs beside the task as a style's bonus does: both
    advantages standardised, the bonus alone where a batch carries no signal of the task.
    """

    weight: float = 0.1
    """Weight beside the task's advantages; a style that takes a bonus has its own instead."""
    episodic: bool = False
    """Whether the bonus to come ends with an episode; if not, dying costs none of it."""
    learning_rate: float = 1e-4
    """Step size of Adam."""
    epochs: int = 1
    """Passes over each batch; more make the bonus fade sooner."""
    minibatch: int = 64
    """Samples of one step."""
    size: int = 64
    """Number of outputs, and of hidden units."""

    def __post_init__(self) -> None:
        check_ranges(self, weight=(0, inf), learning_rate=(0, inf))
        check_ranges(self, epochs=(1, inf), minibatch=(1, inf), size=(1, inf))

    def _network(self) -> Mlp:
        return Mlp((self.size,), "relu")

    def init(self, architecture: Architecture, key: jax.Array) -> RndState:
        """Two random networks."""
        make = lambda k: self._network().init(k, architecture.observation_size, self.size)
        target, predictor = map(make, jax.random.split(key))
        adam = optax.adam(self.learning_rate)
        filter = filters.init(architecture.observation_size)
        return RndState(target, predictor, filter, adam.init(predictor))

    def _error(self, predictor: PyTree, target: PyTree, x: jax.Array) -> jax.Array:
        network = self._network()
        return jnp.mean((network.apply(predictor, x) - network.apply(target, x)) ** 2)

    def reward(
        self, architecture: Architecture, state: RndState, trajectories: Trajectories
    ) -> jax.Array:
        rewards = jnp.asarray(trajectories.rewards)
        reached = jnp.asarray(trajectories.next_observations)
        flat = reached.reshape(-1, architecture.observation_size)
        seen = jax.vmap(lambda x: filters.apply(state.filter, x))(flat)
        errors = jax.vmap(lambda x: self._error(state.predictor, state.target, x))(seen)
        return rewards + errors.reshape(rewards.shape)

    def bonus(self, architecture: Architecture, state: RndState) -> Bonus:
        return no_bonus

    def update(
        self,
        architecture: Architecture,
        state: RndState,
        policy: Policy,
        performance: jax.Array,
        trajectories: Trajectories,
        key: jax.Array,
    ) -> tuple[RndState, dict[str, jax.Array]]:
        """Fit the predictor to the batch's states."""
        adam = optax.adam(self.learning_rate)
        reached = jnp.asarray(trajectories.next_observations)
        flat = reached.reshape(-1, architecture.observation_size)
        filter = filters.update(state.filter, flat)
        seen = jax.vmap(lambda x: filters.apply(filter, x))(flat)

        def loss(predictor: PyTree, part: jax.Array) -> jax.Array:
            return jnp.mean(jax.vmap(lambda x: self._error(predictor, state.target, x))(part))

        step, start = adam_step(adam, loss), (state.predictor, state.optimiser)
        passes = (seen, self.epochs, self.minibatch, key)
        (predictor, moments), errors = epochs_of_minibatches(step, start, *passes)
        return RndState(state.target, predictor, filter, moments), {"rnd_loss": jnp.mean(errors)}
