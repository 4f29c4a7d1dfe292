"""The paper's order of methods under readings, from runs whose order is known."""

import pytest

from mppo.paper.agreement import printed_order
from mppo.paper.make import table
from tests.paper.synthetic import rows_of, write_run

APART = {"styles": ["apart"]}
HEADING = "The paper's order under each reading"


def runs(root, task, method, levels, changes=None, **more):
    for seed, level in enumerate(levels):
        write_run(root, task, method, seed, level, changes=changes, noise=0.0, **more)


def test_pairs_are_counted_run_by_run(tmp_path):
    runs(tmp_path, "SparseHalfCheetah", "mp-trpo", [30, 10])
    runs(tmp_path, "SparseHalfCheetah", "trpo", [20, 20])
    runs(tmp_path, "SparseHalfCheetah", "mp-trpo", [500, 600], APART)
    runs(tmp_path, "SparseHalfCheetah", "trpo", [300, 400], APART)
    plain, apart = rows_of(table("sweep", tmp_path), HEADING)
    assert (plain["reading"], plain["mean share"], plain["agrees"]) == ("as it is", "0.50", "no")
    assert apart["reading"] == "styles=apart"
    assert (apart["pairs in the paper's order"], apart["agrees"]) == ("1 of 1", "yes")
    assert apart["pairs"] == "mp-trpo > trpo: 1.00"


def test_a_method_that_a_reading_leaves_alone_is_taken_as_it_is(tmp_path):
    runs(tmp_path, "Maze", "mp-trpo", [1.0, 1.0])
    runs(tmp_path, "Maze", "multi-trpo", [1.0, 1.0])
    runs(tmp_path, "Maze", "multi-trpo", [0.0, 1.0], {"batch_size": 625, "envs": 1})
    plain, split = rows_of(table("sweep", tmp_path), HEADING)
    assert plain["pairs"] == "mp-trpo > multi-trpo: 0.50"
    assert split["pairs"] == "mp-trpo > multi-trpo: 0.75"


def test_environments_are_never_mixed(tmp_path):
    runs(tmp_path, "SparseHopper", "mp-trpo", [300.0, 310.0])
    runs(tmp_path, "SparseHopper", "trpo", [100.0, 110.0], env_kwargs={"threshold": 3.0})
    assert HEADING not in table("sweep", tmp_path)


def test_a_grid_with_methods_of_our_own_has_no_readings(tmp_path):
    runs(tmp_path, "Maze", "mp-trpo", [1.0, 1.0])
    runs(tmp_path, "Maze", "trpo", [0.0, 1.0])
    assert HEADING in table("sweep", tmp_path)
    runs(tmp_path, "Maze", "sp-trpo", [1.0, 1.0])
    assert HEADING not in table("sweep", tmp_path)


@pytest.mark.parametrize(
    ("task", "one", "other", "order"),
    [
        ("Maze", "trpo", "multi-trpo", ("multi-trpo", "trpo")),
        ("Maze", "trpo", "div-trpo", None),
        ("SparseHopper", "multi-trpo", "trpo", ("trpo", "multi-trpo")),
        ("SparseWalker2d", "multi-ppo", "ppo", ("multi-ppo", "ppo")),
        ("SparseDoublePendulum", "mp-trpo", "trpo", None),
        ("Hopper", "mp-trpo", "ppo", None),
    ],
)
def test_the_order_that_the_paper_prints(task, one, other, order):
    assert printed_order(task, one, other) == printed_order(task, other, one) == order
