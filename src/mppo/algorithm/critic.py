"""Line 7: the value network and its regression."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from mppo.algorithm import filters
from mppo.algorithm.advantages import Target
from mppo.algorithm.filters import Filter
from mppo.algorithm.minibatches import adam_step, epochs_of_minibatches
from mppo.algorithm.networks import Mlp, widened
from mppo.algorithm.schedules import Rate, first, settle
from mppo.algorithm.types import Network, PyTree
from mppo.errors import check_ranges
from mppo.machine.lazy import jax, jnp, optax


class Value(NamedTuple):
    """One value network, the filter it looks through and its optimiser's state."""

    network: PyTree
    filter: Filter
    optimiser: PyTree


@dataclass(frozen=True)
class Critic:
    """How the value network is built and fitted."""

    epochs: int = 5
    """Passes over the batch in each iteration."""
    minibatch: int = 64
    """Samples of one step."""
    learning_rate: Rate = 1e-3
    """Step size of Adam."""
    adam_epsilon: float = 1e-8
    """Adam's epsilon."""
    target: Target = "td-lambda"
    """What V is fitted to: the lambda-return (base code) or one step ahead (the paper's text)."""
    network: Network = Mlp()
    """The value network."""
    filtered: bool = True
    """Whether V sees standardised observations."""
    clip: float = 0.0
    """A fit does not gain by moving V of a state further than this from before; 0 is off."""

    def __post_init__(self) -> None:
        check_ranges(self, epochs=(1, inf), minibatch=(1, inf), clip=(0, inf))
        settle(self, learning_rate=(0, inf))

    def _adam(self) -> optax.GradientTransformation:
        return optax.adam(first(self.learning_rate), eps=self.adam_epsilon)

    def init(self, key: jax.Array, observation_size: int, turns: PyTree = ()) -> Value:
        """A random value network; `turns` says whether it sees sines and cosines (`Filter`)."""
        network = self.network.init(key, observation_size, 1)
        if not isinstance(turns, tuple):
            network = widened(network, jax.random.fold_in(key, 1), turns)
        return Value(network, filters.init(observation_size, turns), self._adam().init(network))

    def values(self, value: Value, observations: jax.Array) -> jax.Array:
        """V of a stack of observations, of any leading shape."""
        flat = observations.reshape(-1, observations.shape[-1])
        one = lambda x: self.network.apply(value.network, x)[0]
        return jax.vmap(one)(self._seen(value, flat)).reshape(observations.shape[:-1])

    def _seen(self, value: Value, observations: jax.Array) -> jax.Array:
        """What the network gets of a stack [N, obs]."""
        if self.filtered:
            return jax.vmap(lambda x: filters.apply(value.filter, x))(observations)
        return jax.vmap(lambda x: filters.with_turns(value.filter, x, x))(observations)

    def fit(
        self, value: Value, observations: jax.Array, targets: jax.Array, key: jax.Array
    ) -> tuple[Value, jax.Array]:
        """Regression on the mean squared error; returns the last pass's mean loss too."""
        x = self._seen(value, observations)
        applied = jax.vmap(lambda net, one: self.network.apply(net, one)[0], in_axes=(None, 0))
        samples = (x, targets, applied(value.network, x)) if self.clip else (x, targets)

        def loss(network: PyTree, part) -> jax.Array:
            inputs, wanted, *before = part
            values = applied(network, inputs)
            errors = (values - wanted) ** 2
            if before:
                near = before[0] + jnp.clip(values - before[0], -self.clip, self.clip)
                errors = jnp.maximum(errors, (near - wanted) ** 2)
            return jnp.mean(errors)

        step, start = adam_step(self._adam(), loss), (value.network, value.optimiser)
        passes = (samples, self.epochs, self.minibatch, key)
        (network, moments), errors = epochs_of_minibatches(step, start, *passes)
        last_pass = errors[-(errors.shape[0] // self.epochs) :]
        return Value(network, value.filter, moments), jnp.mean(last_pass)
