"""The run directory: what is written reads back, and nothing is written over."""

import json
import os
import types

import numpy as np
import pytest

from mppo.errors import BadRequest, CheckpointError, RunLocked, StorageFault
from mppo.files import atomic, reader
from mppo.files.atomic import Lock, require_space
from mppo.files.reader import rows
from mppo.files.run_directory import RunDirectory, plain


def test_plain_numbers_read_back_to_the_same_bits():
    rng = np.random.default_rng(0)
    singles = np.frombuffer(rng.bytes(4 * 10_000), np.float32)
    doubles = np.frombuffer(rng.bytes(8 * 10_000), np.float64)
    singles, doubles = singles[np.isfinite(singles)], doubles[np.isfinite(doubles)]
    back = json.loads(json.dumps(plain({"one": singles, "two": doubles}), allow_nan=False))
    assert np.array(back["one"], np.float32).tobytes() == singles.tobytes()
    assert np.array(back["two"]).tobytes() == doubles.tobytes()


def test_plain_data():
    given = {
        "flag": np.True_,
        "count": np.int32(3),
        "scalar": np.array(2.5, np.float32),
        "nothing": [np.nan, np.inf, -np.inf, None],
        "nested": ({"text": "x"}, np.zeros((2, 1), np.int64)),
    }
    assert plain(given) == {
        "flag": True,
        "count": 3,
        "scalar": 2.5,
        "nothing": [None, None, None, None],
        "nested": [{"text": "x"}, [[0], [0]]],
    }
    assert type(plain(np.int64(3))) is int
    assert type(plain(np.False_)) is bool


def test_rows_come_back_in_order(tmp_path):
    directory = RunDirectory(tmp_path / "a" / "b")
    assert directory.begin({"seed": 1}) is None
    for n in range(3):
        directory.append("metrics.jsonl", plain({"n": n, "x": np.float32(0.1)}))
    directory.close()
    assert rows(tmp_path / "a" / "b", "metrics.jsonl") == [{"n": n, "x": 0.1} for n in range(3)]
    assert rows(tmp_path / "a" / "b", "none.jsonl") == []


def test_a_torn_last_line_is_left_out(tmp_path):
    whole = b"".join(b'{"n":%d,"text":"abc"}\n' % n for n in range(3))
    (tmp_path / "run").mkdir()
    file = tmp_path / "run" / "rows.jsonl"
    file.write_bytes(whole)
    second = whole.index(b"\n", whole.index(b"\n") + 1) + 1
    for cut in range(second, len(whole)):
        file.write_bytes(whole[:cut])
        assert [row["n"] for row in rows(tmp_path / "run", "rows.jsonl")] == [0, 1], cut
    file.write_bytes(whole)
    assert [row["n"] for row in rows(tmp_path / "run", "rows.jsonl")] == [0, 1, 2]


def test_never_over_another_run(tmp_path):
    directory = RunDirectory(tmp_path / "run")
    directory.begin({"method_name": "trpo", "env": "Maze", "seed": 3})
    directory.close()
    other = RunDirectory(tmp_path / "run")
    with pytest.raises(BadRequest, match=r"holds another run \(trpo on Maze, seed 3; seed differ"):
        other.begin({"method_name": "trpo", "env": "Maze", "seed": 4})
    other.close()
    assert json.loads((tmp_path / "run" / "run.json").read_text())["seed"] == 3


def test_a_run_that_counts_cut_episodes_otherwise_is_another_one(tmp_path):
    RunDirectory(tmp_path / "run").begin({"seed": 1})
    with pytest.raises(BadRequest) as caught:
        RunDirectory(tmp_path / "run").refuse_other({"seed": 1, "unfinished": "bootstrap"})
    assert str(caught.value).endswith(
        f"unfinished differ); mppo resume {tmp_path / 'run'} goes on with it; or choose another "
        "--out, or --from-scratch, which moves it aside"
    )


def test_the_same_run_is_taken_up(tmp_path):
    """Rows behind the newest checkpoint are of iterations that are done again."""
    run = {"method_name": "trpo", "env": "Maze", "seed": 3}
    directory = RunDirectory(tmp_path / "run")
    assert directory.begin(run) is None
    directory.append("metrics.jsonl", {"n": 0})
    directory.save(1, {"x": np.arange(3.0)}, {"iteration": 1})
    directory.append("metrics.jsonl", {"n": 1})
    directory.close()
    again = RunDirectory(tmp_path / "run")
    found = again.begin(run)
    assert found.data["iteration"] == 1
    np.testing.assert_array_equal(found.arrays["x"], np.arange(3.0))
    assert rows(tmp_path / "run", "metrics.jsonl") == [{"n": 0}]
    again.close()


def test_one_writer_at_a_time(tmp_path):
    run = {"method_name": "trpo", "env": "Maze", "seed": 3}
    first, second = RunDirectory(tmp_path / "run"), RunDirectory(tmp_path / "run")
    first.begin(run)
    with pytest.raises(RunLocked, match=f"pid {os.getpid()}"):
        second.begin(run)
    first.close()
    second.begin(run)
    second.close()


def test_never_into_a_full_directory_or_a_file(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(BadRequest, match="not an empty directory"):
        RunDirectory(tmp_path).begin({})
    with pytest.raises(BadRequest, match="not a directory"):
        RunDirectory(tmp_path / "notes.txt").begin({})
    with pytest.raises(BadRequest):
        RunDirectory(tmp_path / "notes.txt" / "below").begin({})
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt"]


def test_a_failed_write_keeps_the_old_file_and_says_so(tmp_path, monkeypatch):
    directory = RunDirectory(tmp_path / "run")
    directory.begin({"seed": 1})

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageFault, match="No space"):
        directory.write("run.json", {"seed": 2})
    directory.close()
    assert json.loads((tmp_path / "run" / "run.json").read_text())["seed"] == 1


def test_a_run_that_was_changed_by_hand_is_refused(tmp_path):
    directory = RunDirectory(tmp_path / "run")
    directory.begin({"seed": 1})
    directory.close()
    file = tmp_path / "run" / "run.json"
    file.write_text(file.read_text().replace('"seed": 1', '"seed": 2'))
    with pytest.raises(CheckpointError, match="does not match its hash"):
        reader.description(tmp_path / "run")


def test_an_event_after_a_torn_one_is_readable(tmp_path):
    for torn in (b"", b'{"time":1,"ev'):
        directory = RunDirectory(tmp_path / "run")
        directory.begin({"seed": 1})
        directory.close()
        with (tmp_path / "run" / "events.jsonl").open("ab") as file:
            file.write(torn)
    assert len(rows(tmp_path / "run", "events.jsonl")) == 2


def test_rows_say_where_they_are_damaged(tmp_path):
    (tmp_path / "rows.jsonl").write_bytes(b'{"n":0}\n{"n":\n{"n":2}\n')
    with pytest.raises(CheckpointError, match=r"rows.jsonl., line 2, is not valid JSON"):
        rows(tmp_path, "rows.jsonl")


def test_a_damaged_checkpoint_is_passed_over_and_named(tmp_path):
    directory = RunDirectory(tmp_path / "run")
    directory.begin({"seed": 1})
    for n in (1, 2):
        directory.append("metrics.jsonl", {"n": n})
        directory.save(n, {"x": np.zeros(3)}, {"iteration": n})
    directory.close()
    (tmp_path / "run" / "checkpoints" / "000000002.safetensors").write_bytes(b"")
    again = RunDirectory(tmp_path / "run")
    assert again.begin({"seed": 1}).data["iteration"] == 1
    again.close()
    assert len(again.refused) == 1
    assert "000000002.safetensors" in again.refused[0]


def test_nothing_starts_where_there_is_no_room(tmp_path, monkeypatch):
    require_space(tmp_path / "not" / "there" / "yet", 1000)
    small = types.SimpleNamespace(f_blocks=1 << 30, f_bavail=50 << 20, f_frsize=1)
    monkeypatch.setattr(os, "statvfs", lambda path: small)
    with pytest.raises(StorageFault, match="52 MB free, and a run needs 106 MB"):
        require_space(tmp_path, 1_000_000)
    small.f_blocks = small.f_bavail = 0  # a place that counts no bytes: writing will tell
    require_space(tmp_path, 1_000_000)


def test_a_dead_holder_is_not_named(tmp_path, monkeypatch):
    """The name that a killed process left is not taken for that of the next one."""
    lock = Lock(tmp_path)
    (tmp_path / "lock").write_text(f"pid 999999999 on {os.uname().nodename}\n")
    monkeypatch.setattr(atomic, "PATIENCE", 0.05)
    with pytest.raises(RunLocked, match="unknown"):
        Lock(tmp_path)
    lock.release()
    assert (tmp_path / "lock").read_text() == ""
