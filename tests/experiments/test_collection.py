"""Runs below a directory as records: sorted, complete, and what is broken says so."""

import json
import re

import pytest

from mppo.errors import BadRequest, CheckpointError
from mppo.experiments.collection import collect
from tests.paper.synthetic import write_run


def test_records_say_what_was_run_and_are_sorted(tmp_path):
    write_run(tmp_path, "Maze", "trpo", 1, name="b")
    write_run(tmp_path, "Maze", "trpo", 0, name="c")
    write_run(tmp_path, "Hopper", "mp-trpo", 0, name="z", changes={"paths": 4})
    found = collect(tmp_path)
    shown = [(record.env, record.method, record.seed) for record in found]
    assert shown == [
        ("Hopper-v5", "mp-trpo", 0),
        ("mppo/Maze-v0", "trpo", 0),
        ("mppo/Maze-v0", "trpo", 1),
    ]
    assert found[0].settings["paths"] == 4
    assert found[0].steps == 100_000
    assert found[0].state == "finished"
    assert [row["steps"] for row in found[0].evaluations()] == list(range(10_000, 100_001, 10_000))
    assert len(found[0].metrics()) == 20
    assert found[0].visits() is None
    visits = found[1].visits()
    assert visits is not None
    assert visits["goal"].tolist() == [20, 0]


def test_runs_are_found_three_levels_down_and_not_inside_runs(tmp_path):
    run = write_run(tmp_path / "a" / "b", "Maze", "trpo", 0)  # a/b/runs/x is four levels down
    assert collect(tmp_path) == []
    assert [record.directory for record in collect(tmp_path / "a")] == [run]
    write_run(run, "Maze", "trpo", 1)
    assert len(collect(tmp_path / "a")) == 1


def test_what_is_broken_unfinished_failed_or_missing_is_reported(tmp_path):
    write_run(tmp_path, "Maze", "trpo", 0, name="good")
    write_run(tmp_path, "Maze", "trpo", 1, name="going", finished=False)
    failed = write_run(tmp_path, "Maze", "trpo", 2, name="failed", finished=False)
    event = {"time": 1.0, "event": "fault", "message": "the reward is nan"}
    (failed / "events.jsonl").write_text(json.dumps(event) + "\n")
    write_run(tmp_path, "Maze", "trpo", 3, name="noted", finished=False)
    (tmp_path / "failures").mkdir()
    (tmp_path / "failures" / "noted.json").write_text('{"exit_code": -9, "message": "killed"}')
    (tmp_path / "runs" / "torn").mkdir()
    (tmp_path / "runs" / "torn" / "run.json").write_text('{"seed": 1')
    (tmp_path / "runs" / "half").mkdir()
    (tmp_path / "runs" / "half" / "run.json").write_text('{"seed": 1, "steps": 5}')
    spec = json.loads((tmp_path / "runs" / "good" / "run.json").read_text()) | {"seed": 9}
    (tmp_path / "requests").mkdir()
    (tmp_path / "requests" / "1.json").write_text(json.dumps({"runs": {"waiting": spec}}))
    found = {record.directory.name: record for record in collect(tmp_path)}
    states = {name: record.state for name, record in found.items()}
    assert states == {
        "good": "finished",
        "going": "unfinished",
        "failed": "failed",
        "noted": "failed",
        "torn": "damaged",
        "half": "damaged",
        "waiting": "missing",
    }
    assert found["failed"].problem == "the reward is nan"
    assert found["noted"].problem == "killed"
    assert "not valid JSON" in found["torn"].problem
    assert "method_name" in found["half"].problem
    assert found["waiting"].seed == 9


def test_a_torn_last_row_is_left_out_and_a_broken_one_is_named(tmp_path):
    run = write_run(tmp_path, "Maze", "trpo", 0)
    file = run / "evaluations.jsonl"
    file.write_text(file.read_text() + '{"steps": 110')
    assert len(collect(tmp_path)[0].evaluations()) == 10
    file.write_text("{oops\n")
    with pytest.raises(CheckpointError, match=r"evaluations\.jsonl"):
        collect(tmp_path)[0].evaluations()


def test_a_place_that_is_no_directory_is_refused(tmp_path):
    with pytest.raises(BadRequest, match="is not a directory"):
        collect(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"steps": -1}, "line 3: -1 is not a whole number"),
        ({"steps": 20_000}, "line 3: steps is 20000 after 20000"),
        ({"path": 1}, "line 3: 1 is not a whole number from 0 to 0"),
        ({"mean_return": float("nan")}, "line 3: nan is not a finite number"),
        ({"mean_return": "0.5"}, "line 3: '0.5' is not a finite number"),
    ],
)
def test_evaluations_that_cannot_be_are_named(change, says, tmp_path):
    run = write_run(tmp_path, "Maze", "trpo", 0)
    lines = (run / "evaluations.jsonl").read_text().splitlines()
    lines[2] = json.dumps({**json.loads(lines[2]), **change})
    (run / "evaluations.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(CheckpointError, match=re.escape(says)):
        collect(tmp_path)[0].evaluations()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"picked": 8}, "line 1: 8 is not a whole number from 0 to 7"),
        ({"entropy": [1.0] * 7}, "line 1: entropy is not a list of 8 numbers"),
        ({"performance": [None] * 8}, "line 1: None is not a finite number"),
    ],
)
def test_metrics_that_cannot_be_are_named(change, says, tmp_path):
    run = write_run(tmp_path, "Maze", "mp-trpo", 0)
    first, *rest = (run / "metrics.jsonl").read_text().splitlines()
    lines = [json.dumps({**json.loads(first), **change}), *rest]
    (run / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(CheckpointError, match=re.escape(says)):
        collect(tmp_path)[0].metrics()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"goal": [21, 0]}, "goal [21, 0] is no cell"),
        ({"counts": [[[0]]]}, "counts (1, 1, 1) do not fit walls (21, 21)"),
        ({"walls": [[0, 1], [0]]}, "no visits of a maze"),
        ({"start": [0.5, 0]}, "start holds something else than whole numbers"),
    ],
)
def test_visits_that_cannot_be_are_named(change, says, tmp_path):
    file = write_run(tmp_path, "Maze", "trpo", 0) / "visits.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    with pytest.raises(CheckpointError, match=re.escape(says)):
        collect(tmp_path)[0].visits()
