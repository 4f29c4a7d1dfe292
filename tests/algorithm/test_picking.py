"""Lines 2 to 4: scores by hand, ties, starts and the facts of the rule."""

import itertools
from collections import Counter
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mppo.algorithm.picking import (
    Best,
    MaxEntropy,
    RoundRobin,
    Uniform,
    Weighted,
    best_known,
    highest,
    min_max,
)
from mppo.algorithm.population import Member, fresh_record

KEY = jax.random.key(0)


def population(performance, entropy, picks=None):
    K = len(performance)
    record = jax.tree.map(lambda leaf: np.stack([np.asarray(leaf)] * K), fresh_record(0))
    record = record._replace(picks=np.array([1] * K if picks is None else picks, np.int32))
    as_float = lambda x: np.asarray(x, np.float32)
    return Member((), (), as_float(performance), as_float(entropy), record)


@lru_cache
def jitted(rule, method="pick"):
    return jax.jit(getattr(rule, method))


def pick(rule, members, iteration=100, key=KEY):
    return int(jitted(rule)(members, jnp.asarray(iteration), key))


def test_scores_by_hand():
    # J -> 0, 1, 0.5; H -> 1, 0, 0.5; alpha = 0.1: 0.1, 0.9, 0.5
    members = population([-10, 10, 0], [3, 1, 2])
    np.testing.assert_allclose(Weighted(0.1).scores(members), [0.1, 0.9, 0.5], rtol=1e-6)
    assert pick(Weighted(0.1), members) == 1
    assert pick(Weighted(0.9), members) == 0


def test_entropy_decides_among_good_paths():
    # J -> 1, 0.95, 0; H -> 0, 1, 0: f = 0.9, 0.955, 0
    members = population([20, 19, 0], [1, 2, 1])
    np.testing.assert_allclose(Weighted(0.1).scores(members), [0.9, 0.955, 0], rtol=1e-6)
    assert pick(Weighted(0.1), members) == 1


def test_a_path_needs_eight_ninths_of_the_best():
    """With alpha = 0.1 a normalised J below 1 - alpha / (1 - alpha) never wins (facts 0.4)."""
    for worse, wanted in ((0.88, 0), (0.90, 1)):
        assert pick(Weighted(0.1), population([1, worse, 0], [0, 1, 0])) == wanted


@settings(max_examples=100)
@given(
    st.lists(st.floats(-1e6, 1e6, width=32), min_size=2, max_size=2, unique=True),
    st.lists(st.floats(-10, 10, width=32), min_size=2, max_size=2),
    st.sampled_from([0.0, 0.1, 0.3, 0.49]),
)
def test_two_paths_are_picked_by_performance_alone(performance, entropy, alpha):
    """Min-max values of two paths are 0 and 1, so any alpha below a half is greedy (facts 0.3)."""
    span = abs(performance[0] - performance[1])
    if span > 1e-7 * max(1, *map(abs, performance)):
        members = population(performance, entropy)
        assert pick(Weighted(alpha), members) == int(np.argmax(performance))


def test_min_max_of_degenerate_ranges():
    np.testing.assert_array_equal(min_max(jnp.full(3, 7.0)), [0, 0, 0])
    np.testing.assert_array_equal(min_max(jnp.array([1e9, 1e9])), [0, 0])
    np.testing.assert_array_equal(min_max(jnp.array([-5.0])), [0])
    np.testing.assert_allclose(min_max(jnp.array([0.0, 1e-9, 5e-9])), [0, 0, 0])
    np.testing.assert_allclose(min_max(jnp.array([0.0, 1.0, 2.0]), 4.0), [0, 0.25, 0.5])


def test_equal_performance_leaves_the_choice_to_entropy():
    assert pick(Weighted(0.1), population([5, 5, 5], [1, 3, 2])) == 1


def test_equal_entropy_leaves_the_choice_to_performance():
    """All log standard deviations are 0 at the start, so this is no rare case."""
    assert pick(Weighted(0.1), population([1, 3, 2], [2.8379, 2.8379, 2.8379])) == 1


def test_min_range_keeps_noise_small():
    # J -> 0, 0.01, 0.005 of the range 100; H -> 1, 0, 0: f = 0.1, 0.009, 0.0045
    members = population([0, 1, 0.5], [1, 0, 0])
    assert pick(Weighted(0.1), members) == 1
    assert pick(Weighted(0.1, min_range=100.0), members) == 0


def test_ties():
    members = population([1, 1, 0, 1], [2, 2, 2, 2], [5, 3, 0, 3])
    rule = Weighted(0.1, start="zeros")
    assert pick(rule, members) == 1  # picks 5, 3, 3: the first of the least picked
    assert pick(Weighted(0.1, start="zeros", ties="first"), members) == 0
    random = Weighted(0.1, start="zeros", ties="random")
    found = Counter(pick(random, members, key=jax.random.key(n)) for n in range(300))
    assert set(found) == {0, 1, 3}
    assert min(found.values()) > 60


def test_highest_ignores_ties_below_the_top():
    scores, picks = jnp.array([1.0, 1.0, 2.0]), jnp.array([0, 0, 9])
    for ties in ("least-picked", "first", "random"):
        assert int(highest(scores, picks, ties, KEY)) == 2


def test_unvisited_paths_come_first_in_order():
    """K iterations in index order, whatever J says (facts 5.1)."""
    rule, picks, order = Weighted(0.1), [0, 0, 0, 0], []
    for iteration in range(4):
        i = pick(rule, population([9, 0, 0, 0], [1, 2, 3, 4], picks), iteration)
        order.append(i)
        picks[i] += 1
    assert order == [0, 1, 2, 3]
    assert pick(rule, population([9, 0, 0, 0], [1, 2, 3, 4], picks), 4) == 0


def test_zeros_start_depends_on_the_sign_of_the_reward():
    """Positive returns: the first path for ever; negative: each is tried once (facts 0.5)."""
    rule = Weighted(0.1, start="zeros")
    assert pick(rule, population([3, 0, 0], [1, 1, 1], [1, 0, 0])) == 0
    assert pick(rule, population([-3, 0, 0], [1, 1, 1], [1, 0, 0])) == 1


@pytest.mark.parametrize("rule", [Weighted(0.1), Weighted(0.6), Best(), MaxEntropy()])
def test_permuting_paths_permutes_the_pick(rule):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        performance, entropy = rng.normal(size=(2, 5))
        picks = rng.permutation(5) + 1
        order = rng.permutation(5)
        straight = pick(rule, population(performance, entropy, picks))
        permuted = pick(rule, population(performance[order], entropy[order], picks[order]))
        assert order[permuted] == straight


def test_best_and_max_entropy_are_the_ends_of_alpha():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        performance, entropy = rng.normal(size=(2, 5))
        members = population(performance, entropy)
        assert pick(Best(), members) == pick(Weighted(0.0), members) == np.argmax(performance)
        assert pick(MaxEntropy(), members) == pick(Weighted(1.0), members) == np.argmax(entropy)
    assert Best().alpha == 0.0


def test_round_robin_takes_turns_and_shows_the_best():
    members = population([1, 9, 5], [0, 0, 0])
    assert [pick(RoundRobin(), members, n) for n in range(7)] == [0, 1, 2, 0, 1, 2, 0]
    assert int(RoundRobin().report(members, jnp.asarray(0), KEY)) == 1


def test_the_best_is_sought_among_known_paths():
    assert int(best_known(population([-3, 0, -5], [0, 0, 0], [1, 0, 1]))) == 0
    assert int(best_known(population([0, 0, 0], [0, 0, 0], [0, 0, 0]))) == 0


def test_uniform_picks_all_alike():
    members = population([1, 9, 5], [0, 0, 0])
    keys = jax.random.split(jax.random.key(1), 3000)
    draws = jax.vmap(lambda key: Uniform().pick(members, jnp.asarray(0), key))(keys)
    counts = np.bincount(np.asarray(draws), minlength=3)
    assert counts.min() > 900  # 1000 each, standard deviation 26
    assert int(Uniform().report(members, jnp.asarray(0), KEY)) == 1


@pytest.mark.parametrize("rule", [Weighted(), Best(), MaxEntropy()])
def test_what_is_reported_is_what_would_be_picked(rule):
    for performance in itertools.permutations([1.0, 2.0, 3.0]):
        members = population(performance, [1, 2, 3])
        report = jitted(rule, "report")(members, jnp.asarray(7), KEY)
        assert int(report) == pick(rule, members, 7)


@pytest.mark.parametrize("rule", [Weighted(), Best(), MaxEntropy(), RoundRobin(), Uniform()])
def test_one_path_is_always_picked(rule):
    found = jitted(rule)(population([3], [2]), jnp.asarray(5), KEY)
    assert (int(found), found.dtype) == (0, jnp.int32)
