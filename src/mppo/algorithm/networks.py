"""The 64-tanh-64-tanh-linear network of the paper's appendix B.2, as init and apply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Literal, NamedTuple

from mppo.machine.lazy import jax, jnp

Activation = Literal["tanh", "relu", "elu", "silu"]


class Layer(NamedTuple):
    """One linear layer: `inputs @ weights + biases`."""

    weights: jax.Array  # [inputs, outputs]
    biases: jax.Array  # [outputs]


@dataclass(frozen=True)
class Mlp:
    """A fully connected network with linear output."""

    hidden: tuple[int, ...] = (64, 64)
    """Sizes of the hidden layers."""
    activation: Activation = "tanh"
    """Non-linearity after each hidden layer."""
    weights: Literal["normc", "orthogonal"] = "normc"
    """Initial weights: columns of fixed length (the base code), or orthogonal (later peers)."""

    def __post_init__(self) -> None:
        sizes = self.hidden if isinstance(self.hidden, list | tuple) else (None,)
        if not all(isinstance(size, Integral) for size in sizes):
            raise ValueError(f"hidden is {self.hidden!r}; give a whole number for each layer")
        object.__setattr__(self, "hidden", tuple(self.hidden))  # a list would not be hashable
        if any(size < 1 for size in self.hidden):
            raise ValueError(f"hidden is {self.hidden}; every layer must have at least 1 unit")

    def init(self, key: jax.Array, inputs: int, outputs: int, output_scale: float = 1.0):
        """Random layers; the last one scaled by `output_scale`, biases zero."""
        sizes = (inputs, *self.hidden, outputs)
        keys = jax.random.split(key, len(sizes) - 1)
        hidden_scale = 1.0 if self.weights == "normc" else 2.0**0.5
        scales = [hidden_scale] * len(self.hidden) + [output_scale]
        orthogonal = lambda k, shape, scale: jax.nn.initializers.orthogonal(scale)(k, shape)
        make = _normc if self.weights == "normc" else orthogonal
        return tuple(
            Layer(make(k, (sizes[n], sizes[n + 1]), scale), jnp.zeros(sizes[n + 1]))
            for n, (k, scale) in enumerate(zip(keys, scales, strict=True))
        )

    def apply(self, layers: tuple[Layer, ...], x: jax.Array) -> jax.Array:
        """The network's output for one input.

        >>> net = Mlp(hidden=())
        >>> layer = Layer(jnp.array([[1.0], [2.0]]), jnp.array([0.5]))
        >>> print(net.apply((layer,), jnp.array([3.0, 4.0])))
        [11.5]
        """
        activation = _activations()[self.activation]
        for layer in layers[:-1]:
            x = activation(x @ layer.weights + layer.biases)
        return x @ layers[-1].weights + layers[-1].biases


def widened(layers: tuple[Layer, ...], key: jax.Array, sees: jax.Array) -> tuple[Layer, ...]:
    """The network with two more inputs for each of its own, which it sees or not.

    The weights of those it sees are random; each unit's incoming column keeps its length.
    """
    first, *others = layers
    more = jax.random.normal(key, (2 * first.weights.shape[0], first.weights.shape[1]))
    length = lambda weights: jnp.sqrt(jnp.sum(weights**2, axis=0, keepdims=True))
    more = 2.0**0.5 * more * length(first.weights) / length(more)
    blind = jnp.concatenate([first.weights, jnp.zeros_like(more)])
    seeing = jnp.concatenate([first.weights, more]) / 3.0**0.5
    return first._replace(weights=jnp.where(sees > 0, seeing, blind)), *others


def slope(activation: Activation, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The activation and its derivative.

    >>> print(*slope("tanh", jnp.array([0.0])))
    [0.] [1.]
    """
    return jax.jvp(_activations()[activation], (x,), (jnp.ones_like(x),))


def _activations() -> dict[str, Callable[[jax.Array], jax.Array]]:
    return {"tanh": jnp.tanh, "relu": jax.nn.relu, "elu": jax.nn.elu, "silu": jax.nn.silu}


def _normc(key: jax.Array, shape: tuple[int, int], scale: float) -> jax.Array:
    """Gaussian weights, each output's incoming column rescaled to length `scale`."""
    weights = jax.random.normal(key, shape)
    return scale * weights / jnp.sqrt(jnp.sum(weights**2, axis=0, keepdims=True))
