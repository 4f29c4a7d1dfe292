"""A policy that acts: plain NumPy, since one device call per step would cost more than physics."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from mppo import filters
from mppo.heads import Categorical, Gaussian, Product
from mppo.lazy import jax
from mppo.networks import Mlp
from mppo.policies import Architecture, Policy
from mppo.types import Network

_SILENCE = np.zeros(1, np.float32)
_ACTIVATIONS = {
    "tanh": lambda x: np.tanh(x, out=x),
    "relu": lambda x: np.maximum(x, 0, out=x),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "silu": lambda x: 0.5 * x * (1 + np.tanh(0.5 * x)),  # exp(-x) would overflow
}
_IN_PLACE = {
    "tanh": lambda x: np.tanh(x, x),
    "relu": lambda x: np.maximum(x, 0, out=x),
}


@lru_cache
def _compiled(network: Network) -> Any:
    """`apply` of a network that is not ours, for a stack of inputs."""
    return jax.jit(jax.vmap(network.apply, in_axes=(None, 0)))


class Actor:
    """A snapshot of one policy; `act` maps observations and noise to actions.

    It works on one observation or on a stack. The result for one environment never depends on
    how many others are computed beside it as long as each caller keeps to one shape.
    """

    def __init__(self, architecture: Architecture, policy: Policy):
        host: Policy = jax.device_get(policy)
        self.head = architecture.head
        network = architecture.network
        self._apply = self._in_place = None
        if isinstance(network, Mlp):
            self._activation = _ACTIVATIONS[network.activation]
            self._in_place = _IN_PLACE.get(network.activation)
            self._layers = [(np.array(w), np.array(b)) for w, b in host.parameters.network]
        else:
            self._apply = _compiled(network)
            self._parameters = jax.device_put(host.parameters.network)
        self._free = np.array(host.parameters.free, np.float32)
        self._filtered = architecture.filtered
        self._mean = np.array(host.filter.mean, np.float32)
        variance = np.maximum(host.filter.deviations / host.filter.count, filters.VARIANCE_FLOOR)
        self._inverse = (1 / np.sqrt(variance)).astype(np.float32)

    def outputs(self, observation: np.ndarray) -> np.ndarray:
        """The network's outputs."""
        x = observation
        if self._filtered:
            x = (x - self._mean) * self._inverse
            np.minimum(x, filters.CLIP, out=x)
            np.maximum(x, -filters.CLIP, out=x)
        if self._apply is not None:
            stack = x if x.ndim > 1 else x[None]
            outputs = np.array(self._apply(self._parameters, stack))  # the result is read-only
            return outputs if x.ndim > 1 else outputs[0]
        for weights, biases in self._layers[:-1]:
            x = x @ weights
            x += biases
            x = self._activation(x)
        weights, biases = self._layers[-1]
        x = x @ weights
        x += biases
        return x

    def noise(self, generator: np.random.Generator, steps: int) -> np.ndarray:
        """Noise for `steps` actions, scaled so that `act` has only to add it."""
        noise = self.head.noise(generator, (steps,))
        if isinstance(self.head, Gaussian):
            noise *= np.exp(self._free)
        return noise

    def stepper(self) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """`act` for one observation at a time, with buffers of its own: one for each thread.

        Half the time of `act`: nothing is allocated, and the biases ride along as a last row of
        the weights. The action returned is overwritten by the next call.
        """
        if not (isinstance(self.head, Gaussian) and self._in_place is not None):
            return self.act
        weights = [np.vstack([w, b]) for w, b in self._layers]
        inputs = [np.ones(len(w), np.float32) for w in weights]
        views = [buffer[:-1] for buffer in inputs[1:]]
        action = np.empty(self.head.size, np.float32)
        first, mean, inverse = inputs[0][:-1], self._mean, self._inverse
        high = np.full(len(first), filters.CLIP, np.float32)
        low, hidden = -high, list(zip(inputs, weights, views, strict=False))
        last, last_weights, activation = inputs[-1], weights[-1], self._in_place
        dot, add, subtract, multiply = np.dot, np.add, np.subtract, np.multiply
        minimum, maximum, filtered = np.minimum, np.maximum, self._filtered

        def act(observation: np.ndarray, noise: np.ndarray) -> np.ndarray:
            if filtered:
                subtract(observation, mean, first)
                multiply(first, inverse, first)
                minimum(first, high, out=first)
                maximum(first, low, out=first)
            else:
                first[:] = observation
            for values, matrix, into in hidden:
                dot(values, matrix, into)
                activation(into)
            dot(last, last_weights, action)
            return add(action, noise, action)

        return act

    def act(self, observation: np.ndarray, noise: np.ndarray | None) -> np.ndarray:
        """Sample with noise drawn by `noise`; without any, the most likely action."""
        outputs = self.outputs(observation)
        if isinstance(self.head, Gaussian):
            return outputs if noise is None else outputs + noise
        if isinstance(self.head, Categorical):
            return self.head.act(outputs, _SILENCE if noise is None else noise)
        return self._act_product(self.head, outputs, noise)

    def _act_product(
        self, product: Product, outputs: np.ndarray, noise: np.ndarray | None
    ) -> np.ndarray:
        parts, at, free = [], 0, 0
        for head in product.heads:
            piece = outputs[..., at : at + head.outputs]
            drawn = _SILENCE if noise is None else noise[..., at : at + head.outputs]
            if isinstance(head, Gaussian):
                parts.append(piece + drawn * np.exp(self._free[free : free + head.free]))
            else:
                parts.append(head.act(piece, drawn))
            at, free = at + head.outputs, free + head.free
        return np.concatenate(parts, -1).astype(np.float32)
