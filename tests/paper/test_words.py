"""Words about cells."""

from collections import Counter

import numpy as np

from mppo.paper import words
from mppo.paper.cells import Cell, Curve, Runs

CURVES = tuple(Curve(seed, np.array([1.0]), np.array([r])) for seed, r in enumerate((0.5, 0.95)))
CELL = Cell("Maze", "trpo", 1, CURVES, Counter(unfinished=2, failed=1))
EMPTY = Cell("Maze", "trpo", 1, ())


def test_seeds_and_how_the_others_stand():
    assert words.seeds(CELL) == "2, 1 failed, 2 unfinished"
    assert words.seeds(EMPTY) == "0"
    assert words.finals(CELL) == "0.50 0.95"
    assert words.finals(EMPTY) == "-"


def test_solved_is_said_of_tasks_that_can_be_solved():
    assert words.solved(CELL) == "1 of 2 [0.09, 0.91]"
    assert words.solved(EMPTY) == "-"
    assert words.solved(Cell("Ant", "trpo", 1, CURVES)) == "-"


def test_what_is_left_out_is_named(grid):
    runs = Runs(grid)
    cells = [runs.cell("SparseHopper", name, 1_000_000) for name in ("mp-trpo", "trpo")]
    count, varied, torn = words.run_notes(runs, cells)
    assert count == "48 run directories; 3 runs were read, 1 unfinished."
    assert varied == "Left out for other settings: trpo on SparseHopper with gamma = 0.9."
    assert torn.startswith("Left out: torn: run.json:")
