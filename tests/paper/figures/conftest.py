"""Runs that all figures are drawn from."""

import pytest

from tests.paper.synthetic import write_run


@pytest.fixture(scope="session")
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


@pytest.fixture
def drawn(grid):
    """Draws a figure of the grid, or of another."""
    pytest.importorskip("matplotlib")
    from mppo.paper.figures.drawing import settings
    from mppo.paper.make import FIGURES

    def draw(name, root=grid):
        with settings():
            return FIGURES[name](root)

    return draw
