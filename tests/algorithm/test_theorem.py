"""Theorem 1: never violated by the rule, always by a wrong pick, numbers by hand."""

from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mppo.algorithm.picking import Best, MaxEntropy, RoundRobin, Weighted
from mppo.algorithm.population import Member, fresh_record
from mppo.algorithm.theorem import TheoremViolated, check


@lru_cache
def jitted(rule):
    def pick(performance, entropy):
        K = performance.shape[0]
        record = jax.tree.map(lambda leaf: jnp.stack([leaf] * K), fresh_record(0))
        record = record._replace(picks=jnp.ones(K, jnp.int32))
        members = Member((), (), performance, entropy, record)
        return rule.pick(members, jnp.asarray(9), jax.random.key(0))

    return jax.jit(pick)


RULES = [Weighted(0.1), Weighted(0.5), Weighted(0.99), Weighted(0.1, min_range=50.0), Best()]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_the_rule_never_violates_it(rule):
    """1000 random populations of four sizes and many scales, against every previous pick."""
    rng, slacks = np.random.default_rng(0), []
    for _ in range(1000):
        K = int(rng.choice([1, 2, 5, 8]))
        scale, centre = 10.0 ** rng.uniform(-3, 5), rng.choice([0, 1, 1000]) * rng.normal()
        performance = (centre + scale * rng.normal(size=K)).astype(np.float32)
        entropy = rng.normal() + 10.0 ** rng.uniform(-4, 1) * rng.normal(size=K)
        entropy = entropy.astype(np.float32)
        if rng.random() < 0.2:
            performance = np.round(performance / scale) * np.float32(scale)  # ties
        if rng.random() < 0.2:
            entropy[:] = entropy[0]
        j = int(jitted(rule)(performance, entropy))
        for i in range(K):
            bound, slack = check(rule, performance, entropy, i, j)
            assert bound <= 0.0
            slacks.append(slack / max(1.0, np.abs(performance).max()))
    assert min(slacks) > -2e-6 / (1 - rule.alpha)


def test_numbers_by_hand():
    # alpha = 0.2: factor 1/4; J spans 8: bound -2; J falls from 10 to 9, slack -1 + 2
    J, H = np.array([10.0, 9.0, 2.0]), np.array([0.0, 1.0, 0.5])
    bound, slack = check(Weighted(0.2), J, H, 0, 1)
    assert (bound, slack) == pytest.approx((-2.0, 1.0))
    # staying: no fall at all
    assert check(Weighted(0.2), J, H, 1, 1) == pytest.approx((-2.0, 2.0))
    # a span of at least 20 counts: factor 1/4 of 20
    assert check(Weighted(0.2, min_range=20.0), J, H, 0, 1) == pytest.approx((-5.0, 4.0))


def test_a_wrong_pick_raises():
    J, H = np.array([10.0, 9.0, 2.0]), np.array([0.0, 1.0, 0.5])
    with pytest.raises(TheoremViolated, match="path 2 was picked after path 0"):
        check(Weighted(0.2), J, H, 0, 2)
    with pytest.raises(TheoremViolated):  # alpha = 0 allows no fall
        check(Best(), J, H, 0, 1)
    # a fall that the printed bound allows but the entropies do not: from more to less of it
    with pytest.raises(TheoremViolated):
        check(Weighted(0.2), np.array([9.5, 10.0, 2.0]), np.array([0.0, 1.0, 0.5]), 1, 0)


def test_equal_performance_allows_any_switch():
    assert check(Weighted(0.1), np.full(3, 4.0), np.arange(3.0), 2, 0) == (0.0, 0.0)


@pytest.mark.parametrize("rule", [RoundRobin(), MaxEntropy(), Weighted(1.0)])
def test_silent_where_it_says_nothing(rule):
    assert check(rule, np.array([1.0, 0.0]), np.array([0.0, 0.0]), 0, 1) is None


def test_two_paths_never_fall():
    """For K = 2 and alpha below a half the pick never has the lower J (facts 6)."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        J, H = rng.normal(size=(2, 2)).astype(np.float32)
        j = int(jitted(Weighted(0.1))(J, H))
        assert J[j] >= J[1 - j]
