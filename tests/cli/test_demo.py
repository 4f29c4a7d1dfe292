"""The demo on runs that are finished: the committed ones."""

import shutil
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from mppo.cli import demo, main
from mppo.experiments.compact import unpack
from mppo.experiments.grid import Grid
from mppo.experiments.spec import spec
from mppo.paper.artefacts import MAZE, MAZE_METHODS

ROOT = Path(__file__).parents[2]


def test_the_demo_makes_the_committed_page_of_the_committed_runs(tmp_path, capsys, monkeypatch):
    assert set(MAZE_METHODS) < set(demo.DEMO_METHODS)
    monkeypatch.setattr(demo, "DEMO_METHODS", MAZE_METHODS)  # those whose runs are kept
    unpack(ROOT / "results" / "sweeps" / "first-reading", tmp_path / "unpacked")
    for name in MAZE_METHODS:
        for seed in range(6):
            run = spec(name, MAZE, seed, 1_000_000)
            source = Grid(tmp_path / "unpacked").directory(run)
            shutil.copytree(source, Grid(tmp_path / "demo").directory(run))
    assert (
        main(["demo", "--out", str(tmp_path / "demo"), "--seeds", "6", "--steps", "1000000"]) == 0
    )
    page = (tmp_path / "demo" / "maze.md").read_text()
    committed = (ROOT / "docs" / "results" / "maze.md").read_text()
    assert committed.startswith(page.replace("(maze.png)", "(../maze.png)"))
    assert "mp-trpo     6 of 6  1.00" in capsys.readouterr().out
    assert (tmp_path / "demo" / "maze.png").read_bytes().startswith(b"\x89PNG")
