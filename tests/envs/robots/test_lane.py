import numpy as np
import pytest

from mppo.envs.batch import BatchVectorEnv
from tests.envs.roll import DENSE_IDS

NEVER_END = ("HalfCheetah", "HumanoidStandup", "Pusher", "Reacher", "Swimmer")
NEVER_END += ("InvertedDoublePendulum",)  # by a height that is no number; as Gymnasium's own


@pytest.mark.parametrize("name", DENSE_IDS)
def test_blow_up_stays_visible(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    vector = BatchVectorEnv(name, 1)
    vector.reset(seed=0)
    lane = vector.lanes[0]
    lane.data.qvel[:] = np.nan
    _, terminated, _ = lane.step(np.zeros(lane.model.nu))
    assert np.isnan(lane.observation).any()  # MuJoCo's own way would be a start pose
    assert terminated == (name.rpartition("-")[0] not in NEVER_END)
    assert lane.bad_numbers()["BADQVEL"] > 0
    lane.reset()
    assert lane.bad_numbers() == {}
    assert np.isfinite(lane.observation).all()
    lane.step(np.full(lane.model.nu, np.nan))
    assert list(lane.bad_numbers()) == ["BADCTRL"]
    assert np.isnan(lane.action).all()
    assert list(tmp_path.iterdir()) == []  # no MUJOCO_LOG.TXT


def test_action_shape():
    lane = BatchVectorEnv("Hopper-v5", 1).lanes[0]
    with pytest.raises(ValueError, match=r"action has shape \(1,\); allowed: \(3,\)"):
        lane.step(np.zeros(1))
