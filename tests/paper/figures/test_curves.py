"""Figures 5 to 8: learning curves beside the paper's values."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from mppo.paper.cells import Cell, Curve
from mppo.paper.figures.curves import CurveLine, span
from mppo.paper.printed import Value
from tests.paper.figures.text import texts


def test_figures_5_and_6_tell_settings_apart(drawn):
    shown = texts(drawn("figure-5"))
    assert "K = 2 (3)" in shown
    assert "K = 8 (paper's best) (3)" in shown
    assert "TRPO (3)" in shown
    assert "α = 0.5 (3)" in texts(drawn("figure-6"))


def test_figure_7_marks_the_paper_s_values_and_what_is_missing(drawn):
    found = drawn("figure-7")
    shown = texts(found)
    caption = found.get_supxlabel()
    assert "no runs yet of Ant, Hopper, " in caption
    assert "mppo paper run figure-7 --tasks TASK" in caption
    assert "Div-TRPO (no runs)" in shown
    finals = [axes for axes in found.axes if "final return" in axes.get_title()]
    assert len(finals) == 1 == len(found.axes) // 2
    marks = [line.get_xdata()[0] for line in finals[0].lines if line.get_color() == "black"]
    assert marks == [1.00, 0.33, 1.00, 1.00, 0.83, 0.98, 1.00]


def test_the_scale_is_that_of_seeds_not_of_a_wide_interval():
    steps = np.array([1.0, 2.0])
    lines = (Curve(0, steps, np.array([0.0, 0.0])), Curve(1, steps, np.array([0.0, 900.0])))
    cell = Cell("SparseHopper", "trpo", 2, lines)
    line = CurveLine("TRPO", "black", "-", cell, Value(1000.0, 1.0))
    assert span([line]) == (-60.0, 1060.0)
    flat = Cell("Maze", "trpo", 2, (Curve(0, steps, np.array([1.0, 1.0])),))
    assert span([line._replace(cell=flat, printed=None)]) == (0.0, 2.0)
