"""The tables of docs/statistics.md, in short: 95 % t intervals hold, bootstraps of six do not."""

import numpy as np
import pytest
import scipy.stats

from benchmarks.interval_coverage import POPULATIONS, _welch_p, covered, main, told_apart


def test_coverage_is_what_the_page_says():
    shares = covered(POPULATIONS[0], 6, experiments=1000, resamples=200)
    assert shares["t 95 %"] == pytest.approx(0.95, abs=0.025)
    assert shares["t 75 %"] == pytest.approx(0.75, abs=0.045)
    assert shares["bootstrap 75 %"] < 0.72
    assert shares["bootstrap 95 %"] < 0.90
    apart = told_apart(POPULATIONS[0], 6, experiments=500, resamples=200)
    assert apart["bootstrap 75 %"] > 0.10
    assert apart["t 95 %"] < 0.02
    assert apart["Welch p < 0.05"] < 0.08


def test_welch_of_many_pairs_at_once():
    one, two = np.random.default_rng(0).normal(size=(2, 20, 6))
    expected = scipy.stats.ttest_ind(one, two, axis=1, equal_var=False).pvalue
    assert _welch_p(one, two) == pytest.approx(expected, rel=1e-12)
    flat = np.array([[1.0] * 4, [0.0] * 4])
    assert _welch_p(flat, np.ones((2, 4))).tolist() == [1.0, 2 / 70]  # permutations of 8


def test_both_tables_are_printed(capsys, monkeypatch):
    monkeypatch.setattr(
        "sys.argv", ["interval_coverage.py", "--experiments", "4", "--resamples", "5"]
    )
    main()
    first, second, rest = capsys.readouterr().out.split("\n\n")
    assert rest == ""
    assert first.startswith("| n | distribution of seeds | bootstrap 75 % | t 75 % |")
    assert len(first.splitlines()) == len(second.splitlines()) == 2 + 9
