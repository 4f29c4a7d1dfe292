"""Grids that several tests read."""

import numpy as np
import pytest

from mppo.paper.make import table
from mppo.paper.printed import TABLE_1
from tests.paper.synthetic import write_run


@pytest.fixture(scope="session")
def grid(tmp_path_factory):
    """Two tasks of table 1: one complete with the paper's values, one with gaps."""
    root = tmp_path_factory.mktemp("grid")
    rng = np.random.default_rng(0)
    for method in TABLE_1.methods:
        value = TABLE_1.value("SparseCartPoleSwingup", method)
        for seed in range(6):
            level = value.mean + 5 * rng.standard_normal()
            write_run(root, "SparseCartPoleSwingup", method, seed, level, 1_000_000, every=50_000)
    for seed in range(3):
        write_run(root, "SparseHopper", "mp-trpo", seed, 300.0, 1_000_000, every=50_000)
    write_run(
        root, "SparseHopper", "mp-trpo", 3, 300.0, 1_000_000, 50_000, finished=False, done=0.5
    )
    write_run(root, "SparseHopper", "trpo", 0, 5.0, 1_000_000, 50_000, changes={"gamma": 0.9})
    (root / "runs" / "torn").mkdir()
    (root / "runs" / "torn" / "run.json").write_text("<script>alert(1)</script>")
    return root


@pytest.fixture(scope="session")
def page(grid):
    return table("table-1", grid)
