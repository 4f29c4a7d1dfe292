"""Statistics against SciPy, rliable and by hand; coverage by simulation."""

import json
import math
import tracemalloc

import numpy as np
import pytest
import scipy.stats

from mppo.statistics.aggregates import (
    iqm,
    performance_profile,
    probability_of_improvement,
    profile_interval,
    stratified,
)
from mppo.statistics.comparisons import Summary, holm, least_p, power, seeds_needed, welch
from mppo.statistics.coverage import POPULATIONS, covered, told_apart
from mppo.statistics.intervals import (
    bootstrap_interval,
    paper_bracket,
    t_interval,
    t_quantile,
    wilson_interval,
)
from tests.oracles_rliable import FILE, THRESHOLDS, answers, score_tables

RLIABLE = json.loads(FILE.read_text())


def test_t_quantiles_and_intervals_equal_scipy_s():
    for degrees in (1, 2, 3.7, 5, 9, 50, 1000):
        for p in (0.6, 0.75, 0.875, 0.975, 0.995):
            expected = scipy.stats.t.ppf(p, degrees)
            assert t_quantile(p, degrees) == pytest.approx(expected, rel=1e-9)
    values = np.random.default_rng(1).normal(3, 2, 6)
    for level in (0.75, 0.95):
        expected = scipy.stats.t.interval(level, 5, values.mean(), scipy.stats.sem(values))
        assert t_interval(values, level)[1:] == pytest.approx(expected, rel=1e-9)


def test_one_seed_has_no_interval_and_equal_seeds_have_a_point():
    assert math.isnan(t_interval([3.0]).low)
    assert math.isnan(bootstrap_interval([3.0]).low)
    assert t_interval([2.0, 2.0]) == (2.0, 2.0, 2.0)
    assert bootstrap_interval([2.0, 2.0], method="bca") == (2.0, 2.0, 2.0)


@pytest.mark.parametrize("successes", [5, 4, 2])
def test_brackets_of_the_paper_follow_from_zeros_and_ones(successes):
    """SparseDoublePendulum: 5, 4 and 2 of 6 were printed with 0.12, 0.15 and 0.15."""
    values = [1.0] * successes + [0.0] * (6 - successes)
    assert round(paper_bracket(values), 2) == {5: 0.12, 4: 0.15, 2: 0.15}[successes]


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrap_intervals_equal_scipy_s(method):
    values = np.random.default_rng(2).lognormal(size=12)
    ours = bootstrap_interval(values, method=method, resamples=50_000)
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=50_000, method=method, rng=np.random.default_rng(3)
    ).confidence_interval
    spread = values.std() / math.sqrt(12)
    assert ours[1:] == pytest.approx(tuple(theirs), abs=0.1 * spread)
    assert ours == bootstrap_interval(values, method=method, resamples=50_000)


def test_an_unknown_bootstrap_is_refused():
    with pytest.raises(ValueError, match='method is "basic"'):
        bootstrap_interval([1.0, 2.0], method="basic")


@pytest.mark.parametrize(("k", "n"), [(0, 6), (1, 6), (5, 6), (6, 6), (13, 20)])
def test_wilson_intervals_equal_scipy_s(k, n):
    expected = scipy.stats.binomtest(k, n).proportion_ci(0.95, "wilson")
    assert wilson_interval(k, n)[1:] == pytest.approx(expected, abs=1e-12)


def as_tasks(table):
    return list(table.T)


def test_aggregates_equal_rliable_s_on_200_score_tables():
    pairs = list(score_tables())
    assert len(pairs) == len(RLIABLE["answers"]) == 200
    for (ours, theirs), (middle, chance, *profile) in zip(pairs, RLIABLE["answers"], strict=True):
        assert iqm(ours) == pytest.approx(middle, abs=1e-11)
        assert iqm(ours) == pytest.approx(scipy.stats.trim_mean(ours, 0.25, axis=None), abs=1e-12)
        found = probability_of_improvement(as_tasks(ours), as_tasks(theirs), resamples=1)
        assert found.estimate == pytest.approx(chance, abs=1e-11)
        assert performance_profile(as_tasks(ours), THRESHOLDS) == pytest.approx(profile, abs=1e-11)


def test_stratified_intervals_equal_rliable_s_but_for_chance():
    pairs = list(score_tables())[1:7]
    for (ours, theirs), ends in zip(pairs, RLIABLE["intervals"], strict=True):
        middle = stratified(as_tasks(ours), resamples=20_000)
        chance = probability_of_improvement(as_tasks(ours), as_tasks(theirs), resamples=20_000)
        found = [*middle[1:], *chance[1:]]
        widths = np.repeat([ends[1] - ends[0], ends[3] - ends[2]], 2)
        assert np.all(np.abs(np.array(found) - ends) <= 0.07 * widths + 1e-4)


def test_rliable_itself_agrees_where_it_is_installed():
    pytest.importorskip("rliable", exc_type=ImportError)
    assert np.allclose(answers(), RLIABLE["answers"], atol=1e-11)


def test_aggregates_worked_by_hand():
    # tasks with 2 and 4 seeds: the middle of 6 values drops one on each side
    assert stratified([[0.0, 1.0], [2.0, 3.0, 4.0, 9.0]], resamples=10).estimate == 2.5
    # task 1: 3 of 4 pairs won, one drawn; task 2: all lost
    found = probability_of_improvement([[2.0, 3.0], [0.0]], [[1.0, 2.0], [1.0, 1.0]], resamples=10)
    assert found.estimate == (3.5 / 4 + 0) / 2
    one = profile_interval([[0.0, 1.0, 2.0, 3.0]], 1.5, resamples=5000)
    assert (one.estimate, one.low, one.high) == (0.5, 0.0, 1.0)


def test_fifty_thousand_resamples_stay_small():
    tasks = [np.arange(10.0) + i for i in range(8)]
    tracemalloc.start()
    first = stratified(tasks)
    second = probability_of_improvement(tasks, tasks)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6
    assert first == stratified(tasks)  # the same seed, the same ends
    assert second.estimate == 0.5


def test_welch_equals_scipy_s():
    rng = np.random.default_rng(5)
    for n, m in ((6, 6), (3, 10), (2, 2)):
        x, y = rng.normal(1, 1, n), rng.normal(0, 3, m)
        ours = welch(Summary.of(x), Summary.of(y))
        theirs = scipy.stats.ttest_ind(x, y, equal_var=False)
        assert ours.p == pytest.approx(theirs.pvalue, rel=1e-9)
        assert ours.difference[1:] == pytest.approx(theirs.confidence_interval(), rel=1e-9)


def test_groups_without_variance_are_compared_by_permutation():
    six, zero = Summary(1.0, 0.0, 6), Summary(0.0, 0.0, 6)
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


def test_coverage_is_what_the_page_says():
    """The short form of `python -m mppo.statistics.coverage`: 95 % t intervals hold, the 75 %
    bootstrap intervals of six seeds do not."""
    shares = covered(POPULATIONS[0], 6, experiments=1000, resamples=200)
    assert shares["t 95 %"] == pytest.approx(0.95, abs=0.025)
    assert shares["t 75 %"] == pytest.approx(0.75, abs=0.045)
    assert shares["bootstrap 75 %"] < 0.72
    assert shares["bootstrap 95 %"] < 0.90
    apart = told_apart(POPULATIONS[0], 6, experiments=500, resamples=200)
    assert apart["bootstrap 75 %"] > 0.10
    assert apart["t 95 %"] < 0.02
    assert apart["Welch p < 0.05"] < 0.08
