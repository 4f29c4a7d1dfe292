"""Shuffled passes: every sample once in each, none invented."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mppo.algorithm.minibatches import epochs_of_minibatches, shuffled


def visits(n, epochs, minibatch, key=0):
    """The rows of each step."""
    step = lambda count, part: (count + 1, part)
    return epochs_of_minibatches(
        step, jnp.asarray(0), jnp.arange(n), epochs, minibatch, jax.random.key(key)
    )


@pytest.mark.parametrize(("n", "epochs", "minibatch"), [(12, 3, 4), (8, 2, 8), (5, 4, 1)])
def test_every_sample_once_in_every_pass(n, epochs, minibatch):
    count, rows = visits(n, epochs, minibatch)
    assert int(count) == epochs * (n // minibatch)
    for one_pass in np.asarray(rows).reshape(epochs, n):
        assert sorted(one_pass) == list(range(n))


def test_last_partial_minibatch_is_left_out():
    count, rows = visits(11, 2, 4)
    assert (int(count), rows.shape) == (4, (4, 4))
    for one_pass in np.asarray(rows).reshape(2, 8):
        assert len(set(one_pass)) == 8


def test_batch_below_one_minibatch_is_used_whole():
    count, rows = visits(5, 3, 64)
    assert (int(count), rows.shape) == (3, (3, 5))
    assert sorted(np.asarray(rows)[0]) == list(range(5))


def test_passes_are_shuffled_anew():
    rows = np.asarray(visits(32, 4, 32)[1])
    assert len({tuple(row) for row in rows}) == 4
    assert not np.array_equal(rows, visits(32, 4, 32, key=1)[1])


def test_fields_stay_together():
    samples = (jnp.arange(10), 10.0 * jnp.arange(10))
    step = lambda carry, part: (carry, part)
    _, (left, right) = epochs_of_minibatches(step, (), samples, 2, 5, jax.random.key(0))
    np.testing.assert_array_equal(10.0 * np.asarray(left), right)


@pytest.mark.parametrize("n", [1, 2, 3, 64, 65, 1000])
def test_a_shuffle_is_a_permutation(n):
    order = np.asarray(shuffled(jax.random.key(n), n))
    assert sorted(order) == list(range(n))


def test_every_order_of_three_and_every_place_of_fifty_come_up_equally_often():
    keys = jax.random.split(jax.random.key(0), 6000)
    orders = np.asarray(jax.vmap(lambda k: shuffled(k, 3))(keys))
    counts = np.unique(orders @ [9, 3, 1], return_counts=True)[1]
    assert len(counts) == 6
    assert abs(counts - 1000).max() < 120  # 4 standard deviations
    places = np.asarray(jax.vmap(lambda k: shuffled(k, 50))(keys))
    table = np.stack([np.bincount(places[:, p], minlength=50) for p in range(50)])
    chi_square = np.sum((table - 120) ** 2 / 120)
    assert abs(chi_square - 49**2) < 4 * np.sqrt(2 * 49**2)
