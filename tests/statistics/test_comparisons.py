"""Two groups of seeds compared, against SciPy, textbooks and simulation."""

import math

import numpy as np
import pytest
import scipy.stats

from mppo.statistics.comparisons import (
    Moments,
    fewest_seeds,
    holm,
    least_p,
    power,
    seeds_needed,
    welch,
)


def test_welch_equals_scipy_s():
    rng = np.random.default_rng(5)
    for n, m in ((6, 6), (3, 10), (2, 2)):
        x, y = rng.normal(1, 1, n), rng.normal(0, 3, m)
        ours = welch(Moments.of(x), Moments.of(y))
        theirs = scipy.stats.ttest_ind(x, y, equal_var=False)
        assert ours.p == pytest.approx(theirs.pvalue, rel=1e-9)
        assert ours.difference[1:] == pytest.approx(theirs.confidence_interval(), rel=1e-9)


def test_groups_without_variance_are_compared_by_permutation():
    six, zero = Moments(1.0, 0.0, 6), Moments(0.0, 0.0, 6)
    assert welch(six, zero).p == least_p(6, 6) == 2 / 924
    assert welch(six, six).p == 1.0
    assert welch(six, zero).effect == math.inf
    x, y = np.ones(4), np.zeros(4)
    exact = scipy.stats.permutation_test(
        (x, y), lambda a, b, axis: a.mean(axis) - b.mean(axis), vectorized=True
    )
    assert least_p(4, 4) == pytest.approx(exact.pvalue)


def test_holm_by_hand_and_against_bonferroni():
    assert holm([0.01, 0.02, 0.03, 0.5]) == pytest.approx([0.04, 0.06, 0.06, 0.5])
    assert holm([]) == []
    p = np.random.default_rng(0).random(20)
    assert all(a <= min(1, 20 * b) for a, b in zip(holm(p), p, strict=True))


def test_seeds_needed_are_those_of_the_textbooks_and_of_simulation():
    assert [seeds_needed(d) for d in (0.2, 0.5, 0.8, 1.0)] == [394, 64, 26, 17]  # Cohen 1988
    assert seeds_needed(math.inf) == 4
    assert seeds_needed(0.001) is None
    assert seeds_needed(30.0) == 2
    rng = np.random.default_rng(6)
    x, y = rng.normal(1.5, 1, (4000, 8)), rng.normal(0, 1, (4000, 8))
    seen = np.mean(scipy.stats.ttest_ind(x, y, axis=1).pvalue < 0.05)
    assert power(1.5, 8) == pytest.approx(seen, abs=0.02)


def test_fewer_seeds_cannot_decide():
    assert [fewest_seeds(level) for level in (0.4, 0.05, 0.01)] == [2, 4, 5]
