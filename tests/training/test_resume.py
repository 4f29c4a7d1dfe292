"""Stop a run in any way, resume it, and it ends with the same bits."""

import json
import os

import numpy as np
import pytest

from mppo.errors import CheckpointError, RunLocked, StorageFault
from mppo.files import atomic, checkpoints
from mppo.files.atomic import Lock
from mppo.files.reader import rows
from tests.runs import leave, outcome


@pytest.mark.parametrize(
    ("env", "episodes"),
    [
        ("mppo/Maze-v0", "fresh"),
        ("Hopper-v5", "fresh"),
        ("Hopper-v5", "continue"),
        ("mppo/SparseCartPoleSwingup-v0", "continue"),
        ("mppo/SparseCartPoleSwingup-v0", "continue-per-path"),
        ("Hopper-v5", "continue-per-path"),
        ("CartPole-v1", "fresh"),
        ("CartPole-v1", "continue"),
    ],
)
def test_an_interrupted_run_ends_with_the_same_bits(tmp_path, env, episodes):
    leave(tmp_path / "whole", env=env, episodes=episodes)
    for stop_after in (1, 4):
        leave(tmp_path / "parts", env=env, episodes=episodes, stop_after=stop_after)
        assert not (tmp_path / "parts" / "final.json").exists()
    leave(tmp_path / "parts", env=env, episodes=episodes)
    assert outcome(tmp_path / "parts") == outcome(tmp_path / "whole")
    how = json.loads((tmp_path / "parts" / "run.json").read_text())["resume"]
    unknown_state = env == "CartPole-v1" and episodes == "continue"
    assert how == ("bitwise-with-reset" if unknown_state else "bitwise")


@pytest.mark.parametrize("method", ["ppo", "curiosity-trpo", "div-ppo", "multi-trpo-independent"])
def test_all_kinds_of_state_are_kept(tmp_path, method):
    leave(tmp_path / "whole", method=method)
    leave(tmp_path / "parts", method=method, stop_after=3)
    leave(tmp_path / "parts", method=method)
    assert outcome(tmp_path / "parts") == outcome(tmp_path / "whole")


def test_a_second_process_is_refused_and_told_who_writes(tmp_path):
    lock = Lock(tmp_path)
    with pytest.raises(RunLocked, match=f"pid {os.getpid()}"):
        Lock(tmp_path)
    lock.release()
    Lock(tmp_path).release()


ARRAYS = {"a": np.arange(6.0).reshape(2, 3), "b": np.array(7)}


def test_every_flipped_bit_is_noticed_and_the_older_checkpoint_is_taken(tmp_path):
    folder = tmp_path / "checkpoints"
    checkpoints.save(folder, 1, ARRAYS, {"x": 1})
    checkpoints.save(folder, 2, ARRAYS, {"x": 2})
    generator = np.random.default_rng(0)
    for name in ("000000002.json", "000000002.safetensors"):
        good = (folder / name).read_bytes()
        for _ in range(150):
            place, bit = generator.integers(len(good)), generator.integers(8)
            bad = bytearray(good)
            bad[place] ^= 1 << bit
            (folder / name).write_bytes(bad)
            with pytest.raises(CheckpointError, match="000000002"):
                checkpoints.load(folder, 2)
        (folder / name).write_bytes(good)
    assert checkpoints.load(folder, 2).data == {"x": 2}
    np.testing.assert_array_equal(checkpoints.load(folder, 1).arrays["a"], ARRAYS["a"])


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"[" * 100_000, b'{"format": NaN}', b"\x80\x04K*.", b"PK\x03\x04"],
    ids=["empty", "torn", "list", "null", "deep", "nan", "pickle", "zip"],
)
def test_foreign_files_are_refused_in_words(tmp_path, content):
    checkpoints.save(tmp_path, 1, ARRAYS, {})
    (tmp_path / "000000001.json").write_bytes(content)
    with pytest.raises(CheckpointError):
        checkpoints.load(tmp_path, 1)


@pytest.mark.parametrize("call", ["open", "write", "fsync", "replace"])
@pytest.mark.parametrize("error", [28, 5, 13, 30])  # ENOSPC, EIO, EACCES, EROFS
def test_a_failed_write_is_never_silent_and_the_old_checkpoint_stays_good(
    tmp_path, monkeypatch, call, error
):
    checkpoints.save(tmp_path, 1, ARRAYS, {"x": 1})
    real, state = getattr(os, call), {"left": 0}

    def failing(*arguments, **options):
        if state["left"] == 0:
            raise OSError(error, os.strerror(error))
        state["left"] -= 1
        return real(*arguments, **options)

    failures = 0
    for k in range(12):
        state["left"] = k
        with monkeypatch.context() as patch:
            patch.setattr(atomic.os, call, failing)
            try:
                checkpoints.save(tmp_path, 2 + k, ARRAYS, {"x": 2})
            except StorageFault as fault:
                failures += os.strerror(error) in str(fault)
            else:
                break
        newest = checkpoints.numbers(tmp_path)
        assert any(_loads(tmp_path, number) for number in newest)
    assert failures >= 2


def _loads(folder, number):
    try:
        return bool(checkpoints.load(folder, number).arrays)
    except CheckpointError:
        return False


def test_a_save_is_durable_before_it_is_called_saved(tmp_path, monkeypatch):
    """Each file: write, fsync, rename, fsync of the directory, in this order."""
    calls = []
    for name in ("write", "fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(
            atomic.os, name, lambda *a, _n=name, _r=real, **k: (calls.append(_n), _r(*a, **k))[1]
        )
    checkpoints.save(tmp_path, 1, ARRAYS, {})
    assert calls == ["write", "fsync", "replace", "fsync"] * 2


def test_logs_are_cut_back_and_torn_tails_are_left_out(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"a":1}\n{"a":2}\n{"a"')
    assert rows(tmp_path, "log.jsonl") == [{"a": 1}, {"a": 2}]
    log = atomic.Appender(path, 8)
    log.append(b'{"a":3}\n')
    log.close()
    assert rows(tmp_path, "log.jsonl") == [{"a": 1}, {"a": 3}]


def test_only_the_last_two_checkpoints_are_kept(tmp_path):
    for number in range(1, 6):
        checkpoints.save(tmp_path, number, ARRAYS, {})
    assert checkpoints.numbers(tmp_path) == [5, 4]
    assert len(list(tmp_path.iterdir())) == 4
