import numpy as np
import pytest

from mppo.envs.batch import BatchVectorEnv


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
