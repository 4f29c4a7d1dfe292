"""The runs behind each table and figure."""

import pytest

from mppo.envs import TASKS as DESCRIBED
from mppo.errors import BadRequest
from mppo.paper.artefacts import (
    ARTEFACTS,
    COMPARED_TASKS,
    PPO_METHODS,
    TASKS,
    TRPO_METHODS,
    distinct_runs,
    runs_by_artefact,
    task_named,
)

IDS = [
    *(f"figure-{n}" for n in range(2, 10)),
    *("table-1", "table-2", "table-memory-trpo", "table-memory-ppo"),
]


def of(*names, **filters):
    return runs_by_artefact([ARTEFACTS[name] for name in names], **filters)


def test_every_table_and_figure_of_the_paper_is_there():
    assert sorted(ARTEFACTS) == sorted(IDS)
    assert sorted(TASKS) == sorted(task.id for task in DESCRIBED)
    assert all(len(artefact.title) <= 38 for artefact in ARTEFACTS.values())  # 80 columns


def test_the_numbers_of_runs_follow_from_the_paper():
    counts = {name: len(artefact.runs()) for name, artefact in ARTEFACTS.items()}
    assert counts == {
        "figure-2": 3 * 6,
        "figure-3": 3 * 6,
        "figure-4": 1,
        "figure-5": (4 + 1 + 4 + 1) * 6,
        "figure-6": 5 * 6,
        "figure-7": 8 * 7 * 6,
        "table-1": 8 * 7 * 6,
        "figure-8": 8 * 4 * 6,
        "table-2": 8 * 4 * 6,
        "figure-9": 6,
        "table-memory-trpo": 0,
        "table-memory-ppo": 0,
    }
    assert len(COMPARED_TASKS) == 8
    assert len(TRPO_METHODS) == 7
    assert len(PPO_METHODS) == 4


def test_shared_runs_are_run_once():
    assert len(distinct_runs(of("figure-2", "figure-3", "figure-4", "figure-9"))) == 18
    assert len(distinct_runs(of("figure-7", "table-1"))) == 336
    # K = 8 and alpha = 0.1 are MP-TRPO itself, K = 2 is MP-PPO, and the base methods are shared
    assert len(distinct_runs(of("table-1", "table-2", "figure-5", "figure-6"))) == 528 + 36 + 24
    assert [run.seed for run in distinct_runs(of("figure-2"))] == sorted([0, 1, 2, 3, 4, 5] * 3)


def test_budgets_are_those_of_the_tasks():
    budgets = {(run.env, run.name): run.steps for run in distinct_runs(of("table-1", "table-2"))}
    for task in DESCRIBED:
        if task.id in COMPARED_TASKS:
            assert budgets[task.id, "mp-trpo"] == task.trpo_steps
            assert budgets[task.id, "mp-ppo"] == task.ppo_steps
    assert budgets["Ant-v5", "trpo"] == 5_000_000
    assert budgets["mppo/SparseDoublePendulum-v0", "trpo"] == 1_000_000


def test_some_tasks_methods_seeds_and_steps():
    found = of("table-1", tasks=["hopper", "Ant"], methods=["trpo"], seeds=[4, 7], steps=10_000)
    assert [(run.env, run.seed, run.steps) for run in found["table-1"]] == [
        ("Ant-v5", 4, 10_000),
        ("Hopper-v5", 4, 10_000),
        ("Ant-v5", 7, 10_000),
        ("Hopper-v5", 7, 10_000),
    ]
    varied = of("figure-5", methods=["mp-ppo"], seeds=[0])["figure-5"]
    assert [run.method.paths for run in varied] == [2, 4, 8, 16]
    varied = of("figure-6", seeds=[0])["figure-6"]
    assert [run.method.picking.alpha for run in varied] == [0.0, 0.1, 0.3, 0.5, 1.0]
    [usual] = of("figure-4", seeds=[0])["figure-4"]
    assert varied[1].method == usual.method


@pytest.mark.parametrize(
    ("filters", "says"),
    [
        ({"tasks": ["Hoper"]}, 'unknown task "Hoper"; did you mean "Hopper"?'),
        ({"tasks": ["Maze"]}, 'table-1 has no runs of the task "mppo/Maze-v0"'),
        ({"methods": ["trop"]}, 'unknown method "trop"; did you mean "trpo"?'),
        ({"methods": ["mp-ppo"]}, 'table-1 has no runs of the method "mp-ppo"'),
    ],
)
def test_what_would_give_nothing_is_refused(filters, says):
    with pytest.raises(BadRequest) as error:
        of("table-1", **filters)
    assert says in str(error.value)


def test_tasks_by_any_of_their_names():
    for task in DESCRIBED:
        for name in (task.id, task.name, task.name.lower(), task.id.removeprefix("mppo/")):
            assert task_named(name) == task.id


def test_the_ant_is_evaluated_less_often_and_all_else_as_in_the_paper():
    every = {run.env: run.evaluation.every for run in ARTEFACTS["table-1"].runs(seeds=[0])}
    assert every.pop("Ant-v5") == 50_000
    assert set(every.values()) == {10_000}
    assert len(every) == 7
