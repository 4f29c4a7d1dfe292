"""The policy buffer: whole members in and out, all others untouched."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mppo.algorithm.population import Member, fresh_record, member, put, slot_for
from tests.oracles import assert_same_bits


def population(performance, picks, seed=0):
    """K members with random policies; only J and picks matter for the slot."""
    rng, K = np.random.default_rng(seed), len(performance)
    record = jax.tree.map(lambda leaf: jnp.stack([leaf] * K), fresh_record(3))
    record = record._replace(picks=jnp.array(picks))
    weights = rng.normal(size=(K, 4, 3)).astype(np.float32)
    return Member(
        (jnp.array(weights), jnp.array(weights[:, 0])),
        {"moment": jnp.array(weights[:, :, 0])},
        jnp.array(performance, jnp.float32),
        jnp.array(rng.normal(size=K), jnp.float32),
        record,
    )


@pytest.mark.parametrize("i", [0, 1, 3])
def test_put_leaves_all_others_bit_identical(i):
    before = population([1, 2, 3, 4], [1, 1, 1, 1])
    new = jax.tree.map(lambda leaf: leaf + 1, member(population([5, 6], [7, 8], seed=1), 1))
    after = put(before, jnp.asarray(i), new)
    assert_same_bits(member(after, i), new)
    for k in set(range(4)) - {i}:
        assert_same_bits(member(after, k), member(before, k))


def test_member_takes_every_leaf():
    before = population([1, 2, 3], [4, 5, 6])
    one = member(before, jnp.asarray(2))
    assert (float(one.performance), int(one.record.picks)) == (3.0, 6)
    assert one.policy[0].shape == (4, 3)
    assert one.record.returns.shape == (3,)


def test_fresh_record_was_never_picked():
    record = fresh_record(5)
    assert (int(record.picks), int(record.last_pick), int(record.finished)) == (0, -1, 0)
    assert record.returns.shape == (5,)


@pytest.mark.parametrize(
    ("replacement", "performance", "picks", "i", "slot"),
    [
        ("self", [5, -1, 3], [1, 1, 1], 2, 2),
        ("worst", [5, -1, 3], [1, 1, 1], 2, 1),
        ("worst", [5, -1, 3], [1, 1, 1], 1, 1),  # the worst itself: replaces itself
        ("worst", [5, -9, 3], [1, 0, 1], 0, 2),  # a path never rolled out has no J
        ("worst", [5, 0, 0], [1, 0, 0], 0, 0),
        ("worst", [2, 1, 1], [1, 1, 1], 0, 1),  # the first of several worst
    ],
)
def test_slot_for(replacement, performance, picks, i, slot):
    found = slot_for(replacement, population(performance, picks), jnp.asarray(i, jnp.int32))
    assert (int(found), found.dtype) == (slot, jnp.int32)
