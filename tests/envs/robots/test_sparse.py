import tomllib
from pathlib import Path

import numpy as np
import pytest

from mppo.envs.batch import BatchVectorEnv
from mppo.envs.source import env_source


@pytest.mark.parametrize(
    ("name", "threshold"),
    [("SparseHalfCheetah", 5.0), ("SparseHopper", 1.0), ("SparseWalker2d", 1.0)],
)
def test_sparse_reward(name, threshold):
    for absolute in (False, True):
        lane = BatchVectorEnv(f"mppo/{name}-v0", 1, absolute=absolute).lanes[0]
        for x, pays in (
            (threshold - 0.05, False),
            (threshold + 0.05, True),
            (-threshold - 0.05, absolute),
        ):
            lane.reset()
            lane.data.qpos[0] = x
            reward, terminated, truncated = lane.step(np.zeros(lane.model.nu))
            assert (reward, terminated, truncated) == (float(pays), False, False)


def test_bad_thresholds():
    with pytest.raises(ValueError, match="threshold is 'far'; allowed: a distance in metres"):
        BatchVectorEnv("mppo/SparseHopper-v0", 1, threshold="far")
    with pytest.raises(ValueError, match="threshold is inf; allowed: a finite distance"):
        BatchVectorEnv("mppo/SparseHopper-v0", 1, threshold=np.inf)


def readings():
    """The tasks of the sweep that compares what sparse robots may pay for (decision 0035)."""
    file = Path(__file__).parents[3] / "benchmarks" / "sparse_readings.toml"
    tasks = tomllib.loads(file.read_text())["tasks"]
    return [({"env": task} if isinstance(task, str) else task) for task in tasks]


@pytest.mark.parametrize("task", readings(), ids=str)
def test_every_reading_pays_past_its_line_and_ends_at_falls_only_if_asked(task):
    """Against Gymnasium's own robot: the same motion, the line and the falls worked out here."""
    arguments = task.get("arguments", {})
    source = env_source(task["env"], **arguments)
    assert source.native  # no reading costs speed
    simulation = BatchVectorEnv(task["env"], 1, **arguments)
    lane, base = simulation.lanes[0], simulation.simulation.base
    line = arguments.get("threshold", {"SparseHalfCheetah": 5.0}.get(source.name[5:-3], 1.0))
    rng, (falls, steps) = np.random.default_rng(0), (0, 0)
    upright = getattr(type(base), "is_healthy", None)
    for place in (line - 0.5, line + 0.5, -line - 0.5):
        lane.reset()
        lane.data.qpos[0] = place
        for _ in range(120):
            reward, terminated, truncated = lane.step(rng.uniform(-1, 1, lane.model.nu))
            moved = lane.data.qpos[0] - base.init_qpos[0]
            moved = abs(moved) if arguments.get("absolute") else moved
            assert reward == (moved > line)
            base.data.qpos[:], base.data.qvel[:] = lane.data.qpos, lane.data.qvel
            fallen = upright is not None and not base.is_healthy
            assert terminated == (fallen and arguments.get("terminate_when_unhealthy", True))
            assert not truncated
            falls, steps = falls + fallen, steps + 1
            if terminated:
                break
    if "Cheetah" not in task["env"]:
        assert falls
        assert (steps == 360) == (not arguments.get("terminate_when_unhealthy", True))
