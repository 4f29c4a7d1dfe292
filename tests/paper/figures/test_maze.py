"""Figures 2 and 3, and the picture of the demo."""

import json
import shutil

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from mppo.errors import BadRequest, CheckpointError
from mppo.paper.cells import Runs
from mppo.paper.figures.drawing import right_half
from mppo.paper.figures.maze import demo_picture, maze_runs
from tests.paper.figures.text import texts


def test_figure_2_shows_every_seed_the_mean_and_the_paper_s_mark(drawn, grid):
    found = drawn("figure-2")
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


def test_figure_3_shows_shares_of_visits(drawn, grid):
    shown = texts(drawn("figure-3"))
    assert shown.count("seed 2:") == 3
    total = sum(
        np.array(record.visits()["counts"]).sum(0)
        for record in Runs(grid).records_of("Maze", "trpo")
    )
    assert f"TRPO, 3 seeds\n{right_half(total):.0%} of steps" in shown
    assert right_half(np.array([[0, 5, 3], [0, 0, 2]])) == 0.5


@pytest.mark.parametrize("kept", [0, 5])
@pytest.mark.parametrize("name", ["figure-2", "figure-4", "figure-9"])
def test_without_metrics_nothing_is_drawn_of_them(name, kept, drawn, grid, tmp_path):
    copy = shutil.copytree(grid, tmp_path / "copy")
    for file in copy.glob("runs/Maze-mp-trpo-*/metrics.jsonl"):
        lines = file.read_text().splitlines(keepends=True)
        file.write_text("".join(lines[:kept])) if kept else file.unlink()
    with pytest.raises(BadRequest, match=f"has {kept} iterations.*--evaluations-only"):
        drawn(name, copy)


def test_without_visits_there_is_no_figure_3(drawn, grid, tmp_path):
    copy = shutil.copytree(grid, tmp_path / "copy")
    for file in copy.glob("runs/*/visits.json"):
        file.unlink()
    with pytest.raises(BadRequest, match=r"have no visits\.json"):
        drawn("figure-3", copy)


def test_seeds_of_another_maze_are_refused(drawn, grid, tmp_path):
    copy = shutil.copytree(grid, tmp_path / "copy")
    file = sorted(copy.glob("runs/Maze-trpo-*/visits.json"))[-1]
    visits = json.loads(file.read_text())
    visits["start"] = [1, 0]
    file.write_text(json.dumps(visits))
    with pytest.raises(CheckpointError, match="has another maze than other seeds"):
        drawn("figure-3", copy)


def test_the_demo_s_runs_are_those_of_its_seeds(grid, tmp_path):
    (runs,) = maze_runs(Runs(grid), ("mp-trpo",), 100_000, range(2))
    assert sorted(runs.records) == [0, 1]
    assert runs.cell.seeds == 2
    steps, entropies = runs.entropies()
    assert entropies.shape == (2, len(steps)) == (2, 10)
    demo_picture([runs], tmp_path / "maze.png", "a note")
    assert (tmp_path / "maze.png").read_bytes().startswith(b"\x89PNG")
