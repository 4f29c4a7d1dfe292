"""Measured processes: from outside, and what happens inside them."""

import os
import sys

import pytest

from mppo.bench.measure import (
    MeasuredProcess,
    MeasurementFailed,
    WorkersDiffer,
    Workload,
    measure_in_turn,
    measure_training,
)
from mppo.bench.session import Session
from mppo.training.run import Run


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="processes cannot be pinned here")
def test_a_run_in_a_process_of_its_own_waits_for_the_start(tmp_path):
    cores = sorted(os.sched_getaffinity(0))
    session = Session(1, True, cores, tmp_path)
    case = {"together": True, "iterations": 1, "overrides": {"batch_size": 64}}
    (sample,) = session.together([session.start("trpo", "mppo/Maze-v0", **case)])
    assert sample["steps"] == 64
    assert sample["rate"] > 0
    assert sample["cores"] == cores[:1]
    assert session.samples == [sample]
    assert (tmp_path / "xla").is_dir()


def test_failure_of_a_process_carries_its_last_words():
    command = [sys.executable, "-c", "raise ValueError('no such task')"]
    with pytest.raises(MeasurementFailed, match="ValueError: no such task"):
        MeasuredProcess(command, {}, {}).result()
    process = MeasuredProcess(command, {}, {})
    with pytest.raises(MeasurementFailed, match="no such task"):
        process.wait_until_ready()


def test_a_real_run_is_replayed():
    workload = Workload(
        "trpo", "Hopper-v5", iterations=2, warmup=1, overrides={"batch_size": 64}, replay=True
    )
    found = measure_training(workload)
    assert found["steps"] == 128
    assert len(found["seconds"]) == len(found["bare_seconds"]) == 2
    assert found["episodes_replayed_bit_equal"] >= 2
    assert found["rate"] == pytest.approx(128 / sum(found["seconds"]))
    assert found["resident_mib"]["peak"] >= found["resident_mib"]["now"] > 10


def test_one_run_in_turn_with_one_thread_and_two():
    workload = Workload(
        "trpo", "Hopper-v5", 2, warmup=1, workers=2, overrides={"batch_size": 200}, alternate=True
    )
    found = measure_in_turn(workload)
    assert found["steps"] == 400
    assert set(found["rates"]) == {"one", "all", "bare one", "bare all"}
    for name, seconds in found["seconds"].items():
        assert len(seconds) == 2
        assert found["rates"][name] == pytest.approx(400 / sum(seconds))


def test_runs_in_turn_must_do_the_same_work(monkeypatch):
    made = []

    def run(method, on, steps, seed, *rest):
        made.append(seed)
        return Run(method, on, steps, seed + len(made) - 1, *rest)  # the second has another seed

    monkeypatch.setattr("mppo.training.run.Run", run)
    workload = Workload(
        "trpo", "Hopper-v5", 1, warmup=0, workers=2, overrides={"batch_size": 200}, alternate=True
    )
    with pytest.raises(WorkersDiffer, match="2 threads gave other numbers than one"):
        measure_in_turn(workload)
