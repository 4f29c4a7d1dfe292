"""A grid is its files: requests add up, states follow from what is there."""

import json

import pytest

from mppo.errors import BadRequest, CheckpointError
from mppo.experiments.grid import Failure, Grid, opened, status
from mppo.experiments.spec import spec
from mppo.files.atomic import Lock
from mppo.files.reader import State


def runs(*seeds):
    return [spec("mp-trpo", "mppo/Maze-v0", seed, 10_000) for seed in seeds]


def finish(grid, run, **files):
    directory = grid.directory(run)
    directory.mkdir(parents=True)
    (directory / "metrics.jsonl").write_text('{"steps": 5000}\n')
    for name, text in {"run.json": "{}", "evaluations.jsonl": "{}\n", "lock": ""}.items():
        (directory / name).write_text(text)
    (directory / "checkpoints").mkdir()
    (directory / "checkpoints" / "000000001.safetensors").write_bytes(b"x" * 100_000)
    (directory / "final.json").write_text(json.dumps({"state_sha256": run.run_id}))


def test_requests_add_up_and_the_same_twice_is_one(tmp_path):
    grid = Grid(tmp_path)
    grid.remember("figure-2", runs(0, 1))
    grid.remember("figure-2", list(reversed(runs(0, 1))))
    grid.remember("figure-9", runs(1, 2))
    assert len(list((tmp_path / "requests").iterdir())) == 2
    assert [request.label for request in grid.requests()] == ["figure-2", "figure-9"]
    assert {run.run_id for run in grid.entries()} == {run.run_id for run in runs(0, 1, 2)}
    assert len(grid.entries()) == 3
    assert grid.entries()[0].batch_size == 5000


def test_states_follow_from_files(tmp_path):
    grid, (run,) = Grid(tmp_path), runs(0)
    directory = grid.directory(run)
    assert grid.state(run) is State.MISSING
    directory.mkdir(parents=True)
    lock = Lock(directory)
    assert grid.state(run) is State.RUNNING
    lock.release()
    assert grid.state(run) is State.MISSING
    (directory / "run.json").write_text("{}")
    (directory / "metrics.jsonl").write_text("{}\n")
    assert grid.state(run) is State.UNFINISHED
    assert grid.steps_done(run) == 5000
    grid.note_failure(run, Failure(65, "reward is nan", "mppo: reward is nan"))
    assert grid.state(run) is State.FAILED
    assert grid.failure(run) == Failure(65, "reward is nan", "mppo: reward is nan")
    grid.forget_failure(run)
    assert grid.state(run) is State.UNFINISHED
    (directory / "final.json").write_text("{}")
    assert grid.state(run) is State.FINISHED
    assert grid.steps_done(run) == 10_000


def test_status_counts_runs_and_requests(tmp_path):
    grid = Grid(tmp_path)
    grid.remember("figure-2", runs(0, 1, 2))
    grid.remember("figure-9", runs(0))
    finish(grid, runs(0)[0])
    grid.note_failure(runs(1)[0], Failure(2, "no such maze"))
    found = status(opened(tmp_path))
    counted = {state: count for state, count in found["states"].items() if count}
    assert counted == {"finished": 1, "failed": 1, "missing": 1}
    assert found["requests"] == [
        {"label": "figure-2", "runs": 3, "done": 1},
        {"label": "figure-9", "runs": 1, "done": 1},
    ]
    assert (found["steps"], found["steps_done"]) == (30_000, 10_000)
    (failed,) = [run for run in found["runs"] if run["state"] == "failed"]
    assert failed["failure"]["message"] == "no such maze"
    assert failed["label"] == "mp-trpo on Maze-v0, seed 1"


@pytest.mark.parametrize("name", ["../../../etc/passwd", "x", "0" * 17, "0123456789ABCDEF", ""])
def test_a_request_cannot_lead_out_of_the_grid(tmp_path, name):
    grid = Grid(tmp_path)
    grid.remember("figure-2", runs(0))
    (file,) = (tmp_path / "requests").iterdir()
    data = json.loads(file.read_text())
    data["runs"] = {name: next(iter(data["runs"].values()))}
    file.write_text(json.dumps(data))
    with pytest.raises(CheckpointError, match="no name of a run"):
        grid.entries()


def test_a_directory_that_is_no_grid_is_refused(tmp_path):
    with pytest.raises(BadRequest, match="holds no grid"):
        opened(tmp_path)
