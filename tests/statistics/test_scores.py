"""The score of a run, by hand."""

import numpy as np
import pytest

from mppo.statistics.scores import final_score, last_tenth


@pytest.mark.parametrize(("points", "last"), [(1, 1), (9, 1), (19, 1), (20, 2), (100, 10)])
def test_a_tenth_is_rounded_down_and_at_least_one(points, last):
    assert last_tenth(np.arange(points)).tolist() == list(range(points - last, points))


def test_the_final_score_of_each_of_several_runs():
    returns = np.array([np.arange(20.0), np.full(20, 3.0)])
    assert final_score(returns).tolist() == [18.5, 3.0]
    assert final_score(returns[0]) == 18.5
