"""The running observation filter of the base code: standardise and clip (decision 0010)."""

from __future__ import annotations

from typing import NamedTuple

from mppo.algorithm.networks import Layer
from mppo.algorithm.types import PyTree
from mppo.machine.lazy import jax, jnp

CLIP = 5.0  # standard deviations
VARIANCE_FLOOR = 1e-2
FIRST_COUNT = 1e-2  # weight of the prior: mean 0, variance 1
RAW = 0.0  # the count that marks a filter which leaves observations as they are


class Filter(NamedTuple):
    """Running mean and sum of squared deviations of all observations seen."""

    count: jax.Array  # []
    mean: jax.Array  # [obs]
    deviations: jax.Array  # [obs]
    turns: PyTree = ()  # whether sines and cosines are shown too, 0 or 1; () if none has them


def init(size: int, turns: PyTree = ()) -> Filter:
    """A filter that has seen next to nothing: it leaves observations unchanged but for the clip."""
    return Filter(jnp.asarray(FIRST_COUNT), jnp.zeros(size), FIRST_COUNT * jnp.ones(size), turns)


def update(filter: Filter, observations: jax.Array) -> Filter:
    """Take in a stack of observations [N, obs]; two exact halves merged (Chan et al. 1979).

    >>> seen = update(init(1), jnp.array([[1.0], [3.0]]))
    >>> print(seen.mean.round(2), (seen.deviations / seen.count).round(2))
    [1.99] [1.02]
    """
    n = observations.shape[0]
    mean = jnp.mean(observations, axis=0)
    deviations = jnp.sum((observations - mean[None]) ** 2, axis=0)
    count = filter.count + n
    shift = mean - filter.mean
    return Filter(
        count,
        filter.mean + shift * (n / count),
        filter.deviations + deviations + shift**2 * (filter.count * n / count),
        filter.turns,
    )


def scale(filter: Filter) -> jax.Array:
    """The standard deviation that observations are divided by."""
    return jnp.sqrt(jnp.maximum(filter.deviations / filter.count, VARIANCE_FLOOR))


def apply(filter: Filter, observation: jax.Array, some_raw: bool = False) -> jax.Array:
    """One observation in standard deviations from the mean, clipped; or as it is.

    Where some filters show turns, the sines and cosines of all numbers follow, or zeros for them.
    """
    seen = jnp.clip((observation - filter.mean) / scale(filter), -CLIP, CLIP)
    if some_raw:
        seen = jnp.where(is_raw(filter), observation, seen)
    return with_turns(filter, observation, seen)


def with_turns(filter: Filter, observation: jax.Array, seen: jax.Array) -> jax.Array:
    """What is seen of an observation, and its sines and cosines where some filters show them."""
    if isinstance(filter.turns, tuple):
        return seen
    turned = jnp.concatenate([jnp.sin(observation), jnp.cos(observation)])
    return jnp.concatenate([seen, jnp.where(filter.turns > 0, turned, 0.0)])


def is_raw(filter: Filter) -> jax.Array:
    """Whether the policy behind it sees observations as they are."""
    return filter.count == RAW


def folded(layer: Layer, old: Filter, new: Filter) -> Layer:
    """The first layer that makes of the new filter's numbers what it made of the old one's.

    Exact but for rounding where neither filter clips: W' = W s'/s, b' = b + W (m' - m) / s.
    """
    before, after = scale(old), scale(new)
    shift = (new.mean - old.mean) / before
    filtered, others = jnp.split(layer.weights, [shift.shape[0]])  # sines pass it by
    moved = filtered * (after / before)[:, None]
    return layer._replace(
        weights=moved if isinstance(old.turns, tuple) else jnp.concatenate([moved, others]),
        biases=layer.biases + shift @ filtered,
    )
