"""Shuffled passes over a batch: what the value regression and PPO have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mppo.lazy import jax, jnp
from mppo.types import PyTree


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
    keys = jax.random.split(key, epochs)
    orders = jax.vmap(lambda k: jax.random.permutation(k, n)[: count * size])(keys)
    rows = orders.reshape(epochs * count, size)

    def visit(carry, row):
        return step(carry, jax.tree.map(lambda leaf: jnp.take(leaf, row, axis=0), samples))

    return jax.lax.scan(visit, carry, rows)
