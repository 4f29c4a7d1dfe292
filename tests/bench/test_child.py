import os

import pytest

from mppo.bench.sitting import Sitting
from mppo.bench.speed import _side_by_side


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="processes cannot be pinned here")
def test_a_run_in_a_process_of_its_own_waits_for_the_start(tmp_path):
    cores = sorted(os.sched_getaffinity(0))
    sitting = Sitting(1, True, cores, tmp_path)
    case = {"method": "trpo", "env": "mppo/Maze-v0", "together": True, "iterations": 1}
    (sample,) = _side_by_side(sitting, [0], {**case, "overrides": {"batch_size": 64}})
    assert sample["steps"] == 64
    assert sample["rate"] > 0
    assert sample["cores"] == cores[:1]
    assert sitting.samples == [sample]
    assert (tmp_path / "xla").is_dir()
