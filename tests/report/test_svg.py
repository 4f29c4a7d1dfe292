"""Means, intervals and fewer points."""

import numpy as np
import pytest

from mppo.report.svg import Line, Scale, fit_log_scale, fit_scale, interval, kept_points, summarise
from mppo.statistics.intervals import t_interval


def test_the_interval_is_that_of_the_known_values():
    values = np.array([3.0, 4.5, 1.0, np.nan, 2.0, 8.0])
    assert interval(values) == t_interval(values[np.isfinite(values)])
    assert np.isnan(interval(np.array([np.nan]))).all()


def test_summary_counts_only_curves_that_reach_a_point():
    x = np.array([1.0, 2.0, 3.0])
    long = [Line(x, x * k) for k in (1.0, 2.0, 3.0)]
    short = Line(x[:2], np.array([6.0, 12.0]))
    found = summarise([*long, short])
    assert found.count.tolist() == [4, 4, 3]
    assert found.mean.tolist() == [3.0, 6.0, 6.0]
    half = 4.30265273 * 3 / np.sqrt(3)  # deviation of 3, 6, 9 is 3
    assert found.high[2] - found.mean[2] == pytest.approx(half)


def test_summary_interpolates_between_unlike_grids_and_not_beyond():
    found = summarise(
        [Line(np.array([0.0, 2.0]), np.array([0.0, 2.0])), Line(np.array([1.0]), np.array([5.0]))]
    )
    assert found.x.tolist() == [0, 1, 2]
    assert found.mean.tolist() == [0, 3, 2]
    assert np.isnan(found.low).all()  # two curves are too few for an interval


def test_thinning_keeps_ends_and_extremes_of_ten_thousand_points():
    rng = np.random.default_rng(0)
    y = rng.normal(size=10_000)
    y[1234], y[8765] = 50.0, -50.0
    keep = kept_points(y, 400)
    assert len(keep) <= 400
    assert {0, 1234, 8765, 9999} <= set(keep.tolist())


def test_a_gap_stays_a_gap():
    y = np.ones(1000)
    y[500:510] = np.nan
    assert np.isnan(y[kept_points(y, 100)]).any()


def test_scales_of_values_that_are_all_alike_or_absent():
    for values in (np.full(3, 7.0), np.zeros(2), np.array([np.nan]), np.zeros(0)):
        scale = fit_scale(values, 100)
        assert scale.high > scale.low
        assert scale.ticks(4)
    assert fit_log_scale(np.array([0.0, 100.0]), 100) is None
    assert fit_log_scale(np.array([1.0, 50.0]), 100) is None


@pytest.mark.parametrize("high", [1e-9, 3.0, 7e4, 1e12])
def test_ticks_lie_inside_and_are_few(high):
    ticks = Scale(0, high, 100).ticks(5)
    assert 4 <= len(ticks) <= 8
    assert ticks[0] == 0
    assert ticks[-1] <= high * (1 + 1e-9)
