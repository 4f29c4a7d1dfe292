"""The table of any grid, from runs whose outcome is known."""

import json

import numpy as np
import pytest

from mppo.cli import main
from mppo.errors import BadRequest
from mppo.experiments.grid import Grid
from mppo.paper import words
from mppo.paper.cells import Cell, Curve
from mppo.paper.make import table
from tests.paper.synthetic import rows_of, write_run

LITERAL = {"gain": "literal"}


def runs(root, task, method, level, changes=None, seeds=6, **more):
    for seed in range(seeds):
        write_run(root, task, method, seed, level + 0.001 * seed, changes=changes, **more)


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    root = tmp_path_factory.mktemp("sweep")
    runs(root, "Maze", "mp-trpo", 0.2, LITERAL)
    runs(root, "Maze", "mp-trpo", 0.95)
    runs(root, "Maze", "mp-trpo", 0.95, {"picking": {"start": "zeros"}}, seeds=3)
    runs(root, "SparseHopper", "mp-trpo", 30.0, env_kwargs={"threshold": 0.5})
    runs(root, "SparseHopper", "trpo", 20.0, env_kwargs={"threshold": 0.5})
    runs(root, "SparseHopper", "trpo", 10.0)
    return root


def test_settings_are_compared_on_their_own_task(grid):
    page = table("sweep", grid)
    rows = rows_of(page, "Maze, 0.1M steps")
    assert [row["method"] for row in rows] == [
        "mp-trpo",  # nothing changed: what the others are compared with
        "mp-trpo gain=literal",
        "mp-trpo picking.start=zeros",
    ]
    first, literal, zeros = rows
    assert first["solved [95 %]"] == "6 of 6 [0.61, 1.00]"
    assert first["against the first"] == first["P, final [95 %]"] == "-"
    assert literal["solved [95 %]"] == "0 of 6 [0.00, 0.39]"
    assert literal["P, final [95 %]"] == literal["P, area [95 %]"] == "0.00 [0.00, 0.00]"
    assert literal["against the first"] == "final worse, area worse"
    assert zeros["seeds"] == "3"
    assert zeros["against the first"] == "not resolved at 3 seeds: needs 4 seeds"
    assert len(zeros["final of each seed"].split()) == 3


def test_the_title_is_the_sweep_s_name(grid, tmp_path):
    assert table("sweep", grid).startswith("# All runs: each setting")
    Grid(tmp_path).remember("sweep open points", [])
    assert table("sweep", tmp_path).startswith("# Open points: each setting")
    Grid(tmp_path).remember("figure-2", [])
    assert table("sweep", tmp_path).startswith("# All runs: each setting")


def test_arguments_of_an_environment_make_another_task(grid):
    page = table("sweep", grid)
    plain = rows_of(page, "SparseHopper, 0.1M steps")
    assert [row["method"] for row in plain] == ["trpo"]
    easy = rows_of(page, "SparseHopper threshold=0.5, 0.1M steps")
    assert [row["method"] for row in easy] == ["trpo", "mp-trpo"]
    assert easy[1]["against the first"] == "final better, area better"
    assert "solved [95 %]" not in easy[0]


def test_runs_of_another_length_stand_apart(tmp_path):
    runs(tmp_path, "Maze", "trpo", 0.5, seeds=2)
    runs(tmp_path, "Maze", "trpo", 0.9, seeds=2, steps=50_000)
    page = table("sweep", tmp_path)
    assert rows_of(page, "Maze, 0.1M steps")[0]["seeds"] == "2"
    (short,) = rows_of(page, "Maze, 50,000 steps")
    assert short["seeds"] == "2"
    assert short["final [95 %]"] != rows_of(page, "Maze, 0.1M steps")[0]["final [95 %]"]


def test_by_command_twice_the_same(grid, tmp_path, capsys):
    page = table("sweep", grid)
    assert main(["paper", "table", "sweep", str(grid)]) == 0
    assert capsys.readouterr().out == page
    assert main(["paper", "table", "sweep", str(grid), "--out", str(tmp_path / "a.csv")]) == 0
    assert (tmp_path / "a.csv").read_text() == table("sweep", grid, "csv")


def test_unfinished_and_broken_runs_are_named(grid, tmp_path):
    runs(tmp_path, "Maze", "trpo", 0.5, seeds=2)
    write_run(tmp_path, "Maze", "trpo", 2, 0.5, finished=False, done=0.5)
    broken = write_run(tmp_path, "Maze", "trpo", 3, name="torn")
    (broken / "run.json").write_text("{")
    page = table("sweep", tmp_path)
    (row,) = rows_of(page, "Maze, 0.1M steps")
    assert row["seeds"] == "2, 1 unfinished"
    assert "Left out: torn: run.json" in page


def test_nothing_there(tmp_path):
    assert "0 run directories." in table("sweep", tmp_path)
    with pytest.raises(BadRequest, match="not a directory"):
        table("sweep", tmp_path / "nowhere")


def test_a_misspelt_table_names_sweep_too(tmp_path, capsys):
    assert main(["paper", "table", "swep", str(tmp_path)]) == 2
    assert "sweep" in capsys.readouterr().err


def test_settings_are_compared_over_the_tasks(tmp_path):
    for task in ("Maze", "SparseHopper", "Hopper"):
        high, low = (0.9, 0.1) if task != "Hopper" else (0.1, 0.9)
        runs(tmp_path, task, "mp-trpo", high)
        runs(tmp_path, task, "trpo", low)
    every, sparse = rows_of(table("sweep", tmp_path), "Over the tasks")
    assert (every["a run of"], every["beats one of"]) == ("mp-trpo", "trpo")
    assert (every["tasks"], every["P, final [95 %]"]) == ("all, 3", "0.67 [0.67, 0.67]")
    assert (sparse["tasks"], sparse["P, final [95 %]"]) == ("sparse, 2", "1.00 [1.00, 1.00]")


def test_over_the_tasks_takes_four_seeds_on_each(tmp_path):
    for task in ("Maze", "SparseHopper"):
        runs(tmp_path, task, "mp-trpo", 0.9)
        runs(tmp_path, task, "trpo", 0.1, seeds=3)
    assert "Over the tasks" not in table("sweep", tmp_path)


def test_runs_from_before_a_field_of_styles_are_as_they_were(tmp_path):
    run = write_run(tmp_path, "Maze", "sp-trpo", 0)
    data = json.loads((run / "run.json").read_text())
    for style in data["method"]["styles"]:
        if style["recalls"] == 0:
            del style["recalls"]
    (run / "run.json").write_text(json.dumps(data))
    (row,) = rows_of(table("sweep", tmp_path), "Maze, 0.1M steps")
    assert row["method"] == "sp-trpo"


def test_of_many_styles_only_those_that_differ_are_named(tmp_path):
    run = write_run(tmp_path, "Maze", "sp-trpo", 0)
    data = json.loads((run / "run.json").read_text())
    data["method"]["styles"][2] |= {"sigma": 0.5}
    (run / "run.json").write_text(json.dumps(data))
    (row,) = rows_of(table("sweep", tmp_path), "Maze, 0.1M steps")
    words = "apart:sigma=0.5,choice_persistence=0.95"
    assert row["method"] == f"sp-trpo styles[2]={words}"


def test_when_each_seed_first_succeeded_is_told_where_there_is_a_goal(tmp_path):
    write_run(tmp_path, "Maze", "trpo", 0, 0.95)
    write_run(tmp_path, "Maze", "trpo", 1, 0.2)
    (row,) = rows_of(table("sweep", tmp_path), "Maze, 0.1M steps")
    early, never = row["first 0.9, M steps"].split()
    assert (0 < float(early) <= 0.1, never) == (True, "-")
    curves = (Curve(0, np.array([10_000, 20_000]), np.array([0.8, 0.9])),)
    cell = Cell("Maze", "trpo", 20_000, curves)
    assert (cell.first_successes(0.9), cell.first_successes(0.95)) == ([20_000], [np.inf])
    assert words.first_successes(cell) == {"first 0.9, M steps": "0.02"}
    assert words.first_successes(Cell("SparseWalker2d", "trpo", 20_000, curves)) == {}
