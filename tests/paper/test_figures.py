"""Figures from run directories: what they show, and the same bytes twice."""

import re
import shutil

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from mppo.errors import BadRequest
from mppo.paper.cells import Cell, Curve, Runs, score
from mppo.paper.figures import curves, maze
from mppo.paper.figures.drawing import right_half, settings
from mppo.paper.figures.make import FIGURES, figure
from mppo.paper.printed import Value
from tests.paper.synthetic import write_run


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    root = tmp_path_factory.mktemp("grid")
    for seed in range(3):
        for method in ("trpo", "multi-trpo", "mp-trpo"):
            write_run(root, "Maze", method, seed, steps=100_000)
        for changed in ({}, {"paths": 2}, {"picking.alpha": 0.5}):
            write_run(root, "SparseDoublePendulum", "mp-trpo", seed, changes=changed)
        write_run(root, "SparseDoublePendulum", "trpo", seed)
        write_run(root, "SparseDoublePendulum", "ppo", seed)
    return root


def drawn(name, grid):
    with settings():
        return FIGURES[name](grid)


def texts(found):
    from matplotlib.text import Text

    return " ".join(text.get_text() for text in found.findobj(Text))


def test_figure_2_shows_every_seed_the_mean_and_the_paper_s_mark(grid):
    found = drawn("figure-2", grid)
    _, returns, entropy = found.axes
    # 3 methods with 3 seeds and a mean each, and the paper's mark
    assert len(returns.lines) == 3 * 4 + 1
    assert len(entropy.lines) == 3 * 4
    assert len(returns.collections) == 3 * 2  # 95 % and 75 %
    means = [line for line in returns.lines if line.get_label() == "MP-TRPO"]
    cell = Runs(grid).cell("Maze", "mp-trpo", 100_000)
    expected = np.mean([curve.returns for curve in cell.curves], axis=0)
    assert np.allclose(means[0].get_ydata(), expected)
    assert returns.lines[-1].get_xdata()[0] == 0.6
    assert "TRPO 3, Multi-TRPO 3, MP-TRPO 3; 0.1M steps" in texts(found)
    assert "nats" in texts(found)


def test_figure_3_shows_shares_of_visits(grid):
    shown = texts(drawn("figure-3", grid))
    assert shown.count("seed 2:") == 3
    total = sum(
        np.array(record.visits()["counts"]).sum(0)
        for record in Runs(grid).records_of("Maze", "trpo", {})
    )
    assert f"TRPO, 3 seeds\n{right_half(total):.0%} of steps" in shown
    assert right_half(np.array([[0, 5, 3], [0, 0, 2]])) == 0.5


def test_figures_4_and_9_show_the_picks(grid):
    found = drawn("figure-4", grid)
    picks, returns, _ = found.axes
    record = Runs(grid).records_of("Maze", "mp-trpo", {})[0]
    assert picks.lines[0].get_ydata().tolist() == [row["picked"] for row in record.metrics()]
    assert len(returns.lines) == 8
    assert len(drawn("figure-9", grid).axes) == 4  # three seeds and an empty place


def test_the_last_switch_is_found():
    steps = np.arange(1.0, 7.0)
    course = maze.Course(steps, np.array([0, 1, 2, 1, 1, 1]), np.zeros((6, 3)), steps)
    assert course.settled == 4.0
    never = maze.Course(steps, np.zeros(6), np.zeros((6, 3)), steps)
    assert never.settled == 1.0


def test_figures_5_and_6_tell_settings_apart(grid):
    shown = texts(drawn("figure-5", grid))
    assert "K = 2 (3)" in shown
    assert "K = 8 (paper's best) (3)" in shown
    assert "TRPO (3)" in shown
    assert "α = 0.5 (3)" in texts(drawn("figure-6", grid))


def test_figure_7_marks_the_paper_s_values_and_what_is_missing(grid):
    found = drawn("figure-7", grid)
    shown = texts(found)
    caption = found.get_supxlabel()
    assert "no runs yet of Ant, Hopper, " in caption
    assert "mppo paper run figure-7 --tasks TASK" in caption
    assert "Div-TRPO (no runs)" in shown
    finals = [axes for axes in found.axes if "final return" in axes.get_title()]
    assert len(finals) == 1 == len(found.axes) // 2
    marks = [line.get_xdata()[0] for line in finals[0].lines if line.get_color() == "black"]
    assert marks == [1.00, 0.33, 1.00, 1.00, 0.83, 0.98, 1.00]


def test_the_same_bytes_twice_without_a_date(grid, tmp_path):
    first = figure("figure-6", grid, tmp_path / "a")
    second = figure("figure-6", grid, tmp_path / "b")
    assert [path.name for path in first] == ["figure-6.svg", "figure-6.png"]
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes()
    svg = first[0].read_text()
    assert not re.search(r"<dc:date>|20\d\d-\d\d-\d\d", svg)
    assert figure("figure-6", grid, tmp_path / "one.svg") == [tmp_path / "one.svg"]
    assert (tmp_path / "one.svg").read_text() == svg


def test_a_user_s_own_settings_change_nothing(grid, tmp_path):
    import matplotlib

    (plain,) = figure("figure-6", grid, tmp_path / "plain.svg")
    with matplotlib.rc_context({"font.size": 30, "svg.hashsalt": "other"}):
        (other,) = figure("figure-6", grid, tmp_path / "other.svg")
    assert plain.read_bytes() == other.read_bytes()


def test_what_cannot_be_drawn_says_how_to_get_there(grid, tmp_path):
    with pytest.raises(BadRequest, match="mppo paper run figure-2 --out"):
        figure("figure-2", tmp_path, tmp_path / "x.svg")
    with pytest.raises(BadRequest, match="mppo paper run figure-8 --out"):
        figure("figure-8", tmp_path, tmp_path / "x.svg")
    with pytest.raises(BadRequest, match=r'ends in "\.pdf"'):
        figure("figure-2", grid, tmp_path / "x.pdf")
    with pytest.raises(BadRequest, match='did you mean "figure-2"'):
        figure("figur-2", grid, tmp_path / "x.svg")


def test_the_scale_is_that_of_seeds_not_of_a_wide_interval():
    steps = np.array([1.0, 2.0])
    lines = (Curve(0, steps, np.array([0.0, 0.0])), Curve(1, steps, np.array([0.0, 900.0])))
    cell = Cell("SparseHopper", "trpo", 2, tuple(map(score, lines)), lines)
    line = curves.Line("TRPO", "black", "-", cell, Value(1000.0, 1.0))
    assert curves.span([line]) == (-60.0, 1060.0)
    flat = Cell("Maze", "trpo", 2, (), (Curve(0, steps, np.array([1.0, 1.0])),))
    assert curves.span([line._replace(cell=flat, printed=None)]) == (0.0, 2.0)


@pytest.mark.parametrize("kept", [0, 5])
@pytest.mark.parametrize("name", ["figure-2", "figure-4", "figure-9"])
def test_without_metrics_nothing_is_drawn_of_them(name, kept, grid, tmp_path):
    copy = shutil.copytree(grid, tmp_path / "copy")
    for file in copy.glob("runs/Maze-mp-trpo-*/metrics.jsonl"):
        lines = file.read_text().splitlines(keepends=True)
        file.write_text("".join(lines[:kept])) if kept else file.unlink()
    with pytest.raises(BadRequest, match=f"has {kept} iterations.*--evaluations-only"):
        drawn(name, copy)


def test_seeds_with_other_evaluation_times_are_joined():

    lines = (
        Curve(0, np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 2.0])),
        Curve(1, np.array([1.0, 3.0]), np.array([0.0, 4.0])),
    )
    steps, values = Cell("Maze", "trpo", 3, (), lines).stacked()
    assert steps.tolist() == [1.0, 2.0, 3.0]
    assert values.tolist() == [[0.0, 1.0, 2.0], [0.0, 2.0, 4.0]]
