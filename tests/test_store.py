"""The run directory: what is written reads back, and nothing is written over."""

import json
import os

import numpy as np
import pytest

from mppo.errors import BadRequest
from mppo.store import RunDirectory, plain, rows


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
    directory.create({"seed": 1})
    for n in range(3):
        directory.append("metrics.jsonl", {"n": n, "x": np.float32(0.1)})
    assert rows(tmp_path / "a" / "b", "metrics.jsonl") == [{"n": n, "x": 0.1} for n in range(3)]
    assert rows(tmp_path / "a" / "b", "none.jsonl") == []


def test_a_torn_last_line_is_left_out(tmp_path):
    directory = RunDirectory(tmp_path / "run")
    directory.create({})
    for n in range(3):
        directory.append("rows.jsonl", {"n": n, "text": "äöü"})
    file = tmp_path / "run" / "rows.jsonl"
    whole = file.read_bytes()
    second = whole.index(b"\n", whole.index(b"\n") + 1) + 1
    for cut in range(second, len(whole)):
        file.write_bytes(whole[:cut])
        assert [row["n"] for row in rows(tmp_path / "run", "rows.jsonl")] == [0, 1], cut
    file.write_bytes(whole)
    assert [row["n"] for row in rows(tmp_path / "run", "rows.jsonl")] == [0, 1, 2]


def test_never_over_another_run(tmp_path):
    directory = RunDirectory(tmp_path / "run")
    directory.create({"method_name": "trpo", "env": "Maze", "seed": 3})
    with pytest.raises(BadRequest, match="holds another run .trpo on Maze, seed 3."):
        directory.create({"method_name": "ppo"})
    assert json.loads((tmp_path / "run" / "run.json").read_text())["method_name"] == "trpo"


def test_never_into_a_full_directory_or_a_file(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(BadRequest, match="not an empty directory"):
        RunDirectory(tmp_path).create({})
    with pytest.raises(BadRequest, match="not an empty directory"):
        RunDirectory(tmp_path / "notes.txt").create({})
    with pytest.raises(BadRequest):
        RunDirectory(tmp_path / "notes.txt" / "below").create({})
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_failed_write_keeps_the_old_file(tmp_path, monkeypatch):
    directory = RunDirectory(tmp_path / "run")
    directory.create({"seed": 1})

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        directory.write("run.json", {"seed": 2})
    assert json.loads((tmp_path / "run" / "run.json").read_text()) == {"seed": 1}
