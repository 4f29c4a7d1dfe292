"""One reader: strict, it names what is wrong; lenient, it goes on without and says so."""

import json

import pytest

from mppo.errors import BadRequest, CheckpointError
from mppo.files import reader
from mppo.files.atomic import Lock
from mppo.files.reader import State


def lines(file, *rows):
    file.write_text(
        "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)
    )


def test_a_torn_line_is_left_out_and_a_bad_one_raises_or_is_noted(tmp_path):
    good = {"steps": 5}
    (tmp_path / "metrics.jsonl").write_text(json.dumps(good) + '\n{"steps": 1')
    assert reader.rows(tmp_path, "metrics.jsonl") == [good]
    lines(tmp_path / "metrics.jsonl", good, "{oops", "[1]", good)
    with pytest.raises(CheckpointError, match=r"metrics.jsonl\", line 2, is not valid JSON"):
        reader.rows(tmp_path, "metrics.jsonl")
    notes = []
    assert reader.rows(tmp_path, "metrics.jsonl", notes) == [good, good]
    assert notes == ["metrics.jsonl: 2 row(s) could not be read and are left out"]


def test_what_is_no_plain_file_raises_or_is_noted(tmp_path):
    (tmp_path / "events.jsonl").mkdir()
    with pytest.raises(CheckpointError, match="is not a plain file"):
        reader.rows(tmp_path, "events.jsonl")
    notes = []
    assert reader.rows(tmp_path, "events.jsonl", notes) == []
    assert notes == ["events.jsonl is not a plain file"]


def test_the_rows_up_to_a_checkpoint(tmp_path):
    for name in ("metrics", "timing"):
        rows = [{"iteration": n, "steps": 10 * n + 10} for n in range(4)]
        lines(tmp_path / f"{name}.jsonl", *rows)
    lines(tmp_path / "evaluations.jsonl", {"steps": 20}, {"steps": 40})
    found = reader.history(tmp_path)
    assert found.steps == 40
    until = found.until(2)
    assert [len(log) for log in until] == [2, 2, 1]
    assert until.steps == until.evaluations[-1]["steps"] == 20
    assert found.until(0) == reader.History([], [], [])


def test_how_a_run_stands_follows_from_its_files(tmp_path):
    run = tmp_path / "runs" / "a"
    assert reader.state(run) is State.MISSING
    run.mkdir(parents=True)
    (run / "run.json").write_text("{}")
    assert reader.state(run) is State.UNFINISHED
    lines(run / "events.jsonl", {"event": "start"}, {"event": "stopped"})
    assert reader.state(run) is State.STOPPED
    lock = Lock(run)
    assert [reader.state(run, watch) for watch in (True, False)] == [State.RUNNING, State.STOPPED]
    lock.release()
    lines(run / "events.jsonl", {"event": "fault", "message": "reward is nan"})
    assert (reader.state(run), reader.problem(run)) == (State.FAILED, "reward is nan")
    lines(run / "events.jsonl", {"event": "fault", "message": "x"}, {"event": "resume"})
    assert (reader.state(run), reader.problem(run)) == (State.UNFINISHED, "")
    (tmp_path / "failures").mkdir()
    reader.failure_file(run).write_text('{"message": "killed by SIGKILL"}')
    assert (reader.state(run), reader.problem(run)) == (State.FAILED, "killed by SIGKILL")
    (run / "final.json").write_text("{}")
    assert reader.state(run) is State.FINISHED


def test_a_place_without_a_run_or_a_checkpoint_says_so(tmp_path):
    assert reader.description(tmp_path) is None
    with pytest.raises(BadRequest, match=r"holds no run \(there is no run.json\)"):
        reader.known_description(tmp_path)
    with pytest.raises(BadRequest, match="has no checkpoint yet"):
        reader.newest(tmp_path)
    (tmp_path / "run.json").write_text('{"seed": 1, "sha256": "0"}')
    with pytest.raises(CheckpointError, match="does not match its hash"):
        reader.description(tmp_path)
