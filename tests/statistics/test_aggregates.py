"""One number for many tasks, against rliable and by hand."""

import json
import tracemalloc

import numpy as np
import pytest

from mppo.statistics.aggregates import iqm, probability_of_improvement, stratified
from tests.oracles_rliable import FILE, answers, score_tables

RLIABLE = json.loads(FILE.read_text())


def as_tasks(table):
    return list(table.T)


def test_aggregates_equal_rliable_s_on_200_score_tables():
    pairs = list(score_tables())
    assert len(pairs) == len(RLIABLE["answers"]) == 200
    for (ours, theirs), (middle, chance) in zip(pairs, RLIABLE["answers"], strict=True):
        assert iqm(ours.ravel()) == pytest.approx(middle, abs=1e-11)
        found = probability_of_improvement(as_tasks(ours), as_tasks(theirs), resamples=1)
        assert found.estimate == pytest.approx(chance, abs=1e-11)


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
    above = stratified([[0.0, 1.0, 2.0, 3.0]], lambda rows: (rows > 1.5).mean(1), resamples=5000)
    assert above == (0.5, 0.0, 1.0)


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
