"""Figures 4 and 9: the course of picking."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from mppo.paper.cells import Runs
from mppo.paper.figures.picking import Course


def test_figures_4_and_9_show_the_picks(drawn, grid):
    found = drawn("figure-4")
    picks, returns, _ = found.axes
    record = Runs(grid).records_of("Maze", "mp-trpo")[0]
    assert picks.lines[0].get_ydata().tolist() == [row["picked"] for row in record.metrics()]
    assert len(returns.lines) == 8
    assert len(drawn("figure-9").axes) == 4  # three seeds and an empty place


def test_the_last_switch_is_found():
    steps = np.arange(1.0, 7.0)
    course = Course(steps, np.array([0, 1, 2, 1, 1, 1]), np.zeros((6, 3)), steps)
    assert course.last_switch == 4.0
    never = Course(steps, np.zeros(6), np.zeros((6, 3)), steps)
    assert never.last_switch == 1.0
