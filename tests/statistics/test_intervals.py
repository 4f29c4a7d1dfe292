"""Intervals against SciPy and by hand."""

import math
import subprocess
import sys

import numpy as np
import pytest
import scipy.stats

from mppo.statistics.intervals import paper_bracket, t_half_width, t_interval, wilson_interval


def test_t_intervals_equal_scipy_s():
    values = np.random.default_rng(1).normal(3, 2, 6)
    for level in (0.5, 0.75, 0.95):
        expected = scipy.stats.t.interval(level, 5, values.mean(), scipy.stats.sem(values))
        assert t_interval(values, level)[1:] == pytest.approx(expected, rel=1e-12)


def test_half_widths_of_many_groups_at_once():
    n, deviation = np.array([1, 2, 7, 51, 1001]), np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    expected = scipy.stats.t.ppf(0.975, n - 1) * deviation / np.sqrt(n)
    assert math.isnan(t_half_width(deviation, n)[0])
    assert t_half_width(deviation, n)[1:] == pytest.approx(expected[1:], rel=1e-12)


def test_one_seed_has_no_interval_and_equal_seeds_have_a_point():
    assert math.isnan(t_interval([3.0]).low)
    assert math.isnan(paper_bracket([3.0]))
    assert t_interval([2.0, 2.0]) == (2.0, 2.0, 2.0)


@pytest.mark.parametrize("successes", [5, 4, 2])
def test_brackets_of_the_paper_follow_from_zeros_and_ones(successes):
    """SparseDoublePendulum: 5, 4 and 2 of 6 were printed with 0.12, 0.15 and 0.15."""
    values = [1.0] * successes + [0.0] * (6 - successes)
    assert round(paper_bracket(values), 2) == {5: 0.12, 4: 0.15, 2: 0.15}[successes]


@pytest.mark.parametrize(("k", "n"), [(0, 6), (1, 6), (5, 6), (6, 6), (13, 20)])
def test_wilson_intervals_solve_their_equation(k, n):
    z, share = scipy.stats.norm.ppf(0.975), k / n
    ends = np.roots([1 + z * z / n, -2 * share - z * z / n, share**2])  # |share - p| = z error(p)
    assert wilson_interval(k, n)[1:] == pytest.approx(sorted(ends.real), abs=1e-7)


def test_more_successes_than_trials_are_refused():
    with pytest.raises(ValueError, match=r"k \(7\) must not be greater than n \(6\)"):
        wilson_interval(7, 6)


def test_scipy_is_loaded_by_the_first_interval_alone():
    code = (
        "import sys, mppo\n"
        "from mppo.statistics import aggregates, comparisons, intervals, scores\n"
        "before = 'scipy' in sys.modules\n"
        "intervals.t_interval([1.0, 2.0])\n"
        "sys.exit(before or 'scipy.special' not in sys.modules or 'scipy.stats' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
