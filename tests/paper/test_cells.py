"""Which runs belong to a cell, and what they scored."""

import json

import numpy as np
import pytest

from mppo.paper.artefacts import default_steps
from mppo.paper.cells import Cell, Curve, Reproduction, Runs, changes, read_curve
from mppo.paper.printed import TABLE_1
from tests.paper.synthetic import write_run


def test_a_cell_is_worked_by_hand(grid):
    cell = Runs(grid).cell("SparseCartPoleSwingup", "trpo", 1_000_000)
    for record in Runs(grid).records_of("SparseCartPoleSwingup", "trpo"):
        returns = [row["mean_return"] for row in record.evaluations()]
        assert len(returns) == 20
        assert cell.finals[record.seed] == pytest.approx(np.mean(returns[-2:]))  # the last tenth
        assert cell.areas[record.seed] == pytest.approx(np.mean(returns))
    assert cell.scores("final").tolist() == cell.finals.tolist()
    assert cell.scores("area").tolist() == cell.areas.tolist()


def test_a_seed_has_solved_a_task_from_nine_tenths_on():
    steps = np.array([1.0])
    curves = tuple(Curve(s, steps, np.array([r])) for s, r in enumerate((0.89, 0.9, 1.0)))
    assert Cell("Maze", "trpo", 1, curves).solved == 2


def test_a_budget_is_chosen_for_the_most_seeds(tmp_path):
    for seed in range(4):
        write_run(tmp_path, "SparseHopper", "trpo", seed, 1.0, 500_000, every=50_000)
    write_run(tmp_path, "SparseHopper", "trpo", 0, 1.0, 1_000_000, every=50_000)
    assert Runs(tmp_path).budget("SparseHopper", ["trpo"]) == 500_000
    assert len(Runs(tmp_path).cell("SparseHopper", "trpo", 500_000).curves) == 4


def test_a_seed_that_was_run_twice_counts_once(tmp_path):
    first = write_run(tmp_path, "Maze", "trpo", 0, 1.0, name="a")
    write_run(tmp_path, "Maze", "trpo", 0, 5.0, name="b")
    write_run(tmp_path, "Maze", "trpo", 0, finished=False, done=0.5, name="c")
    write_run(tmp_path, "Maze", "trpo", 1, finished=False, done=0.5, name="d")
    found = Runs(tmp_path).cell("Maze", "trpo", 100_000)
    assert [curve.seed for curve in found.curves] == [0]
    assert found.finals[0] == json.loads(last_line(first / "evaluations.jsonl"))["mean_return"]
    assert found.states == {"unfinished": 1}  # of seed 1: seed 0 has its result


def last_line(path):
    return path.read_text().splitlines()[-1]


def test_a_finished_run_without_its_last_evaluation_is_not_read(tmp_path):
    whole = write_run(tmp_path, "Maze", "trpo", 0, 1.0)
    cut = write_run(tmp_path, "Maze", "trpo", 1, 1.0)
    lines = (cut / "evaluations.jsonl").read_text().splitlines(keepends=True)
    (cut / "evaluations.jsonl").write_text("".join(lines[:-1]))
    found = Runs(tmp_path).cell("Maze", "trpo", 100_000)
    assert [curve.seed for curve in found.curves] == [0]
    assert found.states == {"not evaluated to its end": 1}
    empty = [json.dumps({**json.loads(line), "mean_return": None}) for line in lines]
    (whole / "evaluations.jsonl").write_text("\n".join(empty) + "\n")  # deterministic ones only
    assert Runs(tmp_path).cell("Maze", "trpo", 100_000).states == {"not evaluated to its end": 2}


def test_the_last_evaluation_of_ppo_lies_behind_the_budget(tmp_path):
    write_run(tmp_path, "Swimmer", "ppo", 0, steps=100_000)  # 49 batches of 2048: 100,352
    record = Runs(tmp_path).records[0]
    found = read_curve(record, 100_000)
    assert found is not None
    assert found.steps[-1] == 100_352
    assert changes(record) == {}
    assert default_steps("Swimmer-v5", "multi-ppo-independent") == 2_000_000
    assert default_steps("Swimmer-v5", "multi-trpo-independent") == 5_000_000


def test_seeds_with_other_evaluation_times_are_joined():
    lines = (
        Curve(0, np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 2.0])),
        Curve(1, np.array([1.0, 3.0]), np.array([0.0, 4.0])),
    )
    steps, values = Cell("Maze", "trpo", 3, lines).stacked()
    assert steps.tolist() == [1.0, 2.0, 3.0]
    assert values.tolist() == [[0.0, 1.0, 2.0], [0.0, 2.0, 4.0]]


def test_an_unfinished_run_is_read_at_budgets_it_has_passed(tmp_path):
    for seed in range(2):
        write_run(tmp_path, "SparseHopper", "mp-trpo", seed, 300.0, 2_000_000, every=50_000)
    write_run(
        tmp_path, "SparseHopper", "mp-trpo", 2, 300.0, 2_000_000, 50_000, finished=False, done=0.6
    )
    runs = Runs(tmp_path)
    assert runs.budget("SparseHopper", TABLE_1.methods) == 2_000_000
    assert runs.cell("SparseHopper", "mp-trpo", 2_000_000).seeds == 2
    assert runs.cell("SparseHopper", "mp-trpo", 1_000_000).seeds == 3
    earlier = read_curve(runs.records[0], 1_000_000)
    assert earlier is not None
    assert earlier.steps[-1] == 1_000_000


def test_tasks_with_enough_seeds_of_all_methods(grid):
    table = Reproduction(TABLE_1, Runs(grid), grid)
    assert table.ours == "mp-trpo"
    assert table.tasks_with(6, *TABLE_1.methods) == ["SparseCartPoleSwingup"]
    assert table.tasks_with(3, "mp-trpo") == ["SparseCartPoleSwingup", "SparseHopper"]
    assert table.tasks_with(4, "mp-trpo") == ["SparseCartPoleSwingup"]
