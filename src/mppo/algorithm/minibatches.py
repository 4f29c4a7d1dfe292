"""Shuffled passes over a batch: what the value regression and PPO have in common."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log
from typing import Any

from mppo.algorithm.types import PyTree
from mppo.machine.lazy import jax, jnp, optax


def epochs_of_minibatches(
    step: Callable[[Any, Any], tuple[Any, Any]],
    carry: Any,
    samples: PyTree,
    epochs: int,
    minibatch: int,
    key: jax.Array,
) -> tuple[Any, Any]:
    """Scan `step` over `epochs` shuffled passes; a last partial minibatch is left out.

    The passes are one flat scan: a scan within a scan costs more than the work of a small step.
    """
    n = jax.tree.leaves(samples)[0].shape[0]
    size = min(minibatch, n)
    count = n // size
    orders = jax.vmap(lambda k: shuffled(k, n)[: count * size])(jax.random.split(key, epochs))
    rows = orders.reshape(epochs * count, size)

    def visit(carry, row):
        return step(carry, jax.tree.map(lambda leaf: jnp.take(leaf, row, axis=0), samples))

    return jax.lax.scan(visit, carry, rows)


def adam_step(adam: optax.GradientTransformation, loss: Callable, has_aux: bool = False):
    """The `step` by which Adam lowers a loss of (parameters, part), and what the loss tells."""

    def step(carry, part):
        parameters, moments = carry
        value, gradient = jax.value_and_grad(loss, has_aux=has_aux)(parameters, part)
        updates, moments = adam.update(gradient, moments, parameters)
        told = value[1] if has_aux else value
        return (optax.apply_updates(parameters, updates), moments), told

    return step


def shuffled(key: jax.Array, n: int) -> jax.Array:
    """The numbers below n in random order; `jax.random.permutation` takes six times as long.

    Each number rides in the low bits of a random key, so that one plain sort of keys suffices.
    As there, several rounds make up for equal keys.
    """
    low = max(1, (n - 1).bit_length())
    rounds = ceil(3 * log(max(n, 2)) / (log(2) * (32 - low)))
    numbers = jnp.arange(n, dtype=jnp.uint32)
    order = numbers
    for round_key in jax.random.split(key, rounds):
        high = jax.random.bits(round_key, (n,), jnp.uint32) >> low << low
        order = order[jnp.sort(high | numbers) & (2**low - 1)]
    return order.astype(jnp.int32)
