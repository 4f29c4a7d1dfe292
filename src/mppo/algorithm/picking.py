"""Lines 2-4: which path is rolled out next (Eq. 4 and 5)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Literal

from mppo.algorithm.population import Member
from mppo.errors import check_ranges
from mppo.machine.lazy import jax, jnp

Ties = Literal["least-picked", "first", "random"]
Start = Literal["unvisited-first", "zeros", "evaluate"]


def min_max(values: jax.Array, min_range: float = 0.0) -> jax.Array:
    """Eq. (5); equal values give zeros, so that the other term of the score decides.

    >>> print(min_max(jnp.array([1.0, 2.0, 5.0])), min_max(jnp.array([3.0, 3.0])))
    [0.   0.25 1.  ] [0. 0.]
    """
    low, high = jnp.min(values), jnp.max(values)
    span = jnp.maximum(high - low, min_range)
    degenerate = span <= 1e-8 * jnp.maximum(1.0, jnp.abs(high))
    return jnp.where(degenerate, 0.0, (values - low) / jnp.where(degenerate, 1.0, span))


def highest(scores: jax.Array, picks: jax.Array, ties: Ties, key: jax.Array) -> jax.Array:
    """Index of the highest score; among equals as `ties` says."""
    tied = scores >= jnp.max(scores)
    if ties == "first":
        order = jnp.zeros_like(scores)
    elif ties == "random":
        order = jax.random.uniform(key, scores.shape)
    else:
        order = picks.astype(scores.dtype)
    return jnp.argmin(jnp.where(tied, order, jnp.inf)).astype(jnp.int32)


def best_known(population: Member) -> jax.Array:
    """The path with the highest J among those rolled out at least once."""
    known = population.record.picks > 0
    known = known | ~jnp.any(known)
    return jnp.argmax(jnp.where(known, population.performance, -jnp.inf)).astype(jnp.int32)


@dataclass(frozen=True)
class Weighted:
    """The paper's rule: f = (1 - alpha) J + alpha H, both min-max normalised over the paths."""

    alpha: float = 0.1
    """Weight of the entropy against the performance."""
    start: Start = "unvisited-first"
    """Before a path was rolled out: try it first, take its J for 0, or measure all beforehand."""
    ties: Ties = "least-picked"
    """Which of several equal scores wins."""
    min_range: float = 0.0
    """The span of J counts as at least this much, so that noise is not blown up to 0 ... 1."""

    def __post_init__(self) -> None:
        check_ranges(self, alpha=(0, 1), min_range=(0, inf))

    def scores(self, population: Member) -> jax.Array:
        """f of every path.

        >>> from types import SimpleNamespace
        >>> two = SimpleNamespace(performance=jnp.array([0.0, 10.0, 10.0]),
        ...                       entropy=jnp.array([2.0, 1.0, 3.0]))
        >>> print(Weighted(alpha=0.1).scores(two))
        [0.05 0.9  1.  ]
        """
        performance = min_max(population.performance, self.min_range)
        return (1 - self.alpha) * performance + self.alpha * min_max(population.entropy)

    def pick(self, population: Member, iteration: jax.Array, key: jax.Array) -> jax.Array:
        return self._highest(population, key, unvisited=jnp.inf)

    def report(self, population: Member, iteration: jax.Array, key: jax.Array) -> jax.Array:
        """The pick, but of paths rolled out at least once: nobody wants an untrained policy."""
        nothing_known = jnp.all(population.record.picks == 0)
        return self._highest(population, key, unvisited=jnp.where(nothing_known, 0.0, -jnp.inf))

    def _highest(self, population: Member, key: jax.Array, unvisited) -> jax.Array:
        scores, picks = self.scores(population), population.record.picks
        if self.start != "zeros":
            scores = jnp.where(picks == 0, unvisited, scores)
        return highest(scores, picks, self.ties, key)


@dataclass(frozen=True)
class Best:
    """Always the highest J (alpha = 0)."""

    start: Start = "unvisited-first"
    """Before a path was rolled out: try it first, take its J for 0, or measure all beforehand."""
    ties: Ties = "least-picked"
    """Which of several equal scores wins."""
    alpha = 0.0

    def pick(self, population: Member, iteration: jax.Array, key: jax.Array) -> jax.Array:
        return Weighted(0.0, self.start, self.ties).pick(population, iteration, key)

    def report(self, population: Member, iteration: jax.Array, key: jax.Array) -> jax.Array:
        return Weighted(0.0, self.start, self.ties).report(population, iteration, key)


@dataclass(frozen=True)
class MaxEntropy:
    """Always the highest entropy (alpha = 1)."""

    start: Start = "unvisited-first"
    """Before a path was rolled out: try it first, or let the entropy decide at once."""
    ties: Ties = "least-picked"
    """Which of several equal scores wins."""

    def pick(self, population: Member, iteration: jax.Array, key: jax.Array) -> jax.Array:
        return Weighted(1.0, self.start, self.ties).pick(population, iteration, key)

    def report(self, population: Member, iteration: jax.Array, key: jax.Array) -> jax.Array:
        return Weighted(1.0, self.start, self.ties).report(population, iteration, key)


@dataclass(frozen=True)
class RoundRobin:
    """All paths take turns; the best one is shown (the Multi- methods)."""

    def pick(self, population: Member, iteration: jax.Array, key: jax.Array) -> jax.Array:
        return (iteration % population.performance.shape[0]).astype(jnp.int32)

    def report(self, population: Member, iteration: jax.Array, key: jax.Array) -> jax.Array:
        return best_known(population)


@dataclass(frozen=True)
class Uniform:
    """A path at random; the best one is shown."""

    def pick(self, population: Member, iteration: jax.Array, key: jax.Array) -> jax.Array:
        return jax.random.randint(key, (), 0, population.performance.shape[0])

    def report(self, population: Member, iteration: jax.Array, key: jax.Array) -> jax.Array:
        return best_known(population)
