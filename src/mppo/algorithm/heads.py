"""Action distributions: what the numbers that a policy network puts out mean.

A head maps one vector of `statistics` to a distribution over one action vector. All actions are
float vectors (a choice is its index), so heads combine by concatenation. Every method takes one
example; the caller writes the `vmap`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from mppo.machine.lazy import jax, jnp

LOG_2PI = math.log(2 * math.pi)
NODES = 32  # of the integrals of squashed actions


@dataclass(frozen=True)
class Gaussian:
    """Independent normal actions; statistics are the means, then the log standard deviations.

    A squashed one is the distribution of tanh(u), each in -1 ... 1, with u normal; an action is
    kept as its u, so that no digit is lost at the bounds. The map is one to one and fixed: ratios,
    KL and Fisher information are those of u. The density and the entropy are those of tanh(u).
    """

    size: int
    """Number of continuous actions."""
    squashed: bool = False
    """Whether the environment gets tanh of an action, scaled to its bounds."""

    @property
    def outputs(self) -> int:
        """Numbers that come from the network: the means."""
        return self.size

    @property
    def free(self) -> int:
        """Numbers that are parameters of their own: the log standard deviations."""
        return self.size

    def statistics(self, outputs: jax.Array, free: jax.Array) -> jax.Array:
        return jnp.concatenate([outputs, free])

    def log_prob(self, statistics: jax.Array, action: jax.Array) -> jax.Array:
        """Log density.

        >>> print(Gaussian(1).log_prob(jnp.array([0.0, 0.0]), jnp.array([1.0])).round(4))
        -1.4189
        """
        mean, log_std = jnp.split(statistics, 2)
        z = (action - mean) * jnp.exp(-log_std)
        if self.squashed:
            return -jnp.sum(0.5 * z**2 + log_std + 0.5 * LOG_2PI + _log_slope(action))
        return -jnp.sum(0.5 * z**2 + log_std + 0.5 * LOG_2PI)

    def entropy(self, statistics: jax.Array, tsallis: float = 1.0) -> jax.Array:
        """Shannon entropy, or Tsallis entropy of index `tsallis`."""
        mean, log_std = jnp.split(statistics, 2)
        if tsallis == 1.0 and self.squashed:
            nodes, weights = _quadrature()
            u = mean[:, None] + jnp.exp(log_std)[:, None] * nodes[None]
            return jnp.sum(log_std + 0.5 * (LOG_2PI + 1) + _log_slope(u) @ weights)
        if tsallis == 1.0:
            return jnp.sum(log_std + 0.5 * (LOG_2PI + 1))
        q = tsallis  # integral of density^q: a Gaussian integral in each coordinate
        log_integral = jnp.sum(0.5 * (1 - q) * LOG_2PI + (1 - q) * log_std - 0.5 * math.log(q))
        if self.squashed:  # density^q is a Gaussian of the deviation sigma / sqrt(q), times a slope
            nodes, weights = _quadrature()
            u = mean[:, None] + jnp.exp(log_std)[:, None] * nodes[None] / math.sqrt(q)
            powers = jax.nn.logsumexp((1 - q) * _log_slope(u), axis=1, b=weights[None])
            log_integral = log_integral + jnp.sum(powers)
        return (1 - jnp.exp(log_integral)) / (q - 1)

    def kl(self, statistics: jax.Array, other: jax.Array) -> jax.Array:
        """KL(statistics || other)."""
        (mean, log_std), (mean_2, log_std_2) = jnp.split(statistics, 2), jnp.split(other, 2)
        ratio = jnp.exp(2 * (log_std - log_std_2))
        shift = ((mean - mean_2) * jnp.exp(-log_std_2)) ** 2
        return jnp.sum(log_std_2 - log_std + 0.5 * (ratio + shift - 1))

    def fisher(self, statistics: jax.Array, tangent: jax.Array) -> jax.Array:
        """The Fisher information in statistics, times a tangent."""
        _, log_std = jnp.split(statistics, 2)
        to_mean, to_log_std = jnp.split(tangent, 2)
        return jnp.concatenate([to_mean * jnp.exp(-2 * log_std), 2 * to_log_std])

    def noise(self, generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """What `act` needs for sampling, drawn ahead."""
        return generator.standard_normal((*shape, self.size), dtype=np.float32)

    def act(self, statistics: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """Sample with given noise; zero noise gives the mean (works on stacks too)."""
        mean, log_std = np.split(statistics, 2, axis=-1)
        return mean + np.exp(log_std) * noise


def _log_slope(u: jax.Array) -> jax.Array:
    """log(1 - tanh(u)^2), without losing digits where tanh is all but 1."""
    return 2 * (math.log(2) - u - jax.nn.softplus(-2 * u))


def _quadrature() -> tuple[jax.Array, jax.Array]:
    """Gauss-Hermite nodes and weights of the mean over a standard normal number."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    return jnp.asarray(nodes, jnp.float32), jnp.asarray(weights / weights.sum(), jnp.float32)


@dataclass(frozen=True)
class Categorical:
    """Independent choices; statistics are the logits of each, one after the other."""

    sizes: tuple[int, ...]
    """Number of options of each choice."""

    @property
    def outputs(self) -> int:
        return sum(self.sizes)

    @property
    def free(self) -> int:
        return 0

    @property
    def size(self) -> int:
        return len(self.sizes)

    def statistics(self, outputs: jax.Array, free: jax.Array) -> jax.Array:
        return outputs

    def _logs(self, statistics: jax.Array) -> list[jax.Array]:
        starts = np.cumsum(self.sizes)[:-1].tolist()
        return [jax.nn.log_softmax(logits) for logits in jnp.split(statistics, starts)]

    def log_prob(self, statistics: jax.Array, action: jax.Array) -> jax.Array:
        """Log probability of the chosen indices.

        >>> logits = jnp.log(jnp.array([0.25, 0.75]))
        >>> print(jnp.exp(Categorical((2,)).log_prob(logits, jnp.array([1.0]))))
        0.75
        """
        chosen = action.astype(jnp.int32)
        return sum(log[chosen[n]] for n, log in enumerate(self._logs(statistics)))  # type: ignore

    def entropy(self, statistics: jax.Array, tsallis: float = 1.0) -> jax.Array:
        """Shannon entropy, or Tsallis entropy of index `tsallis`, of the joint choice."""
        logs = self._logs(statistics)
        if tsallis == 1.0:
            return sum(-jnp.sum(jnp.exp(log) * log) for log in logs)  # type: ignore
        powers = math.prod(jnp.sum(jnp.exp(tsallis * log)) for log in logs)
        return (1 - powers) / (tsallis - 1)  # type: ignore

    def kl(self, statistics: jax.Array, other: jax.Array) -> jax.Array:
        pairs = zip(self._logs(statistics), self._logs(other), strict=True)
        return sum(jnp.sum(jnp.exp(log) * (log - log_2)) for log, log_2 in pairs)  # type: ignore

    def fisher(self, statistics: jax.Array, tangent: jax.Array) -> jax.Array:
        starts = np.cumsum(self.sizes)[:-1].tolist()
        pairs = zip(self._logs(statistics), jnp.split(tangent, starts), strict=True)
        products = [(jnp.exp(log), t) for log, t in pairs]
        return jnp.concatenate([p * (t - jnp.sum(p * t)) for p, t in products])

    def noise(self, generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Gumbel noise: the largest of logit + noise is a sample of the softmax."""
        exponential = generator.standard_exponential((*shape, self.outputs), dtype=np.float32)
        return -np.log(np.maximum(exponential, np.float32(1e-30)))

    def act(self, statistics: np.ndarray, noise: np.ndarray) -> np.ndarray:
        scores = statistics + noise
        if len(self.sizes) == 1:
            return scores.argmax(-1)[..., None].astype(np.float32)
        parts = np.split(scores, np.cumsum(self.sizes)[:-1], axis=-1)
        return np.stack([part.argmax(-1) for part in parts], -1).astype(np.float32)


@dataclass(frozen=True)
class Product:
    """Several independent heads side by side (Tuple and Dict action spaces)."""

    heads: tuple[Gaussian | Categorical, ...]

    @property
    def outputs(self) -> int:
        return sum(head.outputs for head in self.heads)

    @property
    def free(self) -> int:
        return sum(head.free for head in self.heads)

    @property
    def size(self) -> int:
        return sum(head.size for head in self.heads)

    def statistics(self, outputs: jax.Array, free: jax.Array) -> jax.Array:
        cut = self._cut(outputs, "outputs"), self._cut(free, "free")
        return jnp.concatenate(self._each("statistics", *cut))

    def _cut(self, vector, by: Literal["outputs", "free", "size", "statistics"]) -> list:
        """The pieces of a vector (its last axis) that belong to each head."""
        sizes = [h.outputs + h.free if by == "statistics" else getattr(h, by) for h in self.heads]
        edges = np.cumsum([0, *sizes])
        return [vector[..., a:b] for a, b in pairwise(edges)]

    def _each(self, method: str, *vectors) -> list:
        parts = zip(self.heads, *vectors, strict=True)
        return [getattr(head, method)(*arguments) for head, *arguments in parts]

    def log_prob(self, statistics: jax.Array, action: jax.Array) -> jax.Array:
        cut = self._cut(statistics, "statistics"), self._cut(action, "size")
        return sum(self._each("log_prob", *cut))  # type: ignore

    def entropy(self, statistics: jax.Array, tsallis: float = 1.0) -> jax.Array:
        parts = zip(self.heads, self._cut(statistics, "statistics"), strict=True)
        entropies = [head.entropy(s, tsallis) for head, s in parts]
        if tsallis == 1.0:
            return sum(entropies)  # type: ignore
        powers = math.prod(1 - (tsallis - 1) * entropy for entropy in entropies)
        return (1 - powers) / (tsallis - 1)  # type: ignore

    def kl(self, statistics: jax.Array, other: jax.Array) -> jax.Array:
        cut = [self._cut(s, "statistics") for s in (statistics, other)]
        return sum(self._each("kl", *cut))  # type: ignore

    def fisher(self, statistics: jax.Array, tangent: jax.Array) -> jax.Array:
        cut = [self._cut(s, "statistics") for s in (statistics, tangent)]
        return jnp.concatenate(self._each("fisher", *cut))

    def noise(self, generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return np.concatenate([head.noise(generator, shape) for head in self.heads], -1)

    def act(self, statistics: np.ndarray, noise: np.ndarray) -> np.ndarray:
        # a Gaussian draws one number for each action, a Categorical one for each option
        cut = self._cut(statistics, "statistics"), self._cut(noise, "outputs")
        return np.concatenate(self._each("act", *cut), -1).astype(np.float32)


Head = Gaussian | Categorical | Product


def parts(head: Head) -> tuple[Gaussian | Categorical, ...]:
    """The simple heads that a head is made of."""
    return head.heads if isinstance(head, Product) else (head,)


def options_of(head: Head) -> np.ndarray:
    """For each action the number of options that it is one of; 0 where it is a number.

    >>> options_of(Categorical((2, 3))).tolist(), options_of(Gaussian(2)).tolist()
    ([2, 3], [0, 0])
    """
    sizes = [p.sizes if isinstance(p, Categorical) else (0,) * p.size for p in parts(head)]
    return np.array(sum(sizes, ()), np.int64)
