import itertools

import gymnasium
import numpy as np
import pytest

from mppo.envs.batch import BatchVectorEnv
from tests.envs.roll import DENSE_IDS

VARIANTS = [(name, {}) for name in DENSE_IDS] + [
    ("Ant-v5", {"include_cfrc_ext_in_observation": False, "terminate_when_unhealthy": False}),
    ("Ant-v5", {"contact_force_range": (-0.5, 2.0), "contact_cost_weight": 0.1, "frame_skip": 3}),
    ("HalfCheetah-v5", {"forward_reward_weight": 0.7, "ctrl_cost_weight": 0.2}),
    ("Hopper-v5", {"terminate_when_unhealthy": False, "reset_noise_scale": 0.1}),
    ("Hopper-v5", {"healthy_state_range": (-5.0, 5.0), "healthy_angle_range": (-1.0, 1.0)}),
    ("Swimmer-v5", {"exclude_current_positions_from_observation": False, "frame_skip": 2}),
    ("Walker2d-v5", {"xml_file": "walker2d.xml", "healthy_reward": 0.3}),
    ("Walker2d-v5", {"exclude_current_positions_from_observation": False}),
]


@pytest.mark.parametrize(
    ("name", "kwargs", "dtype"),
    [(*variant, dtype) for variant, dtype in itertools.product(VARIANTS, (np.float32, np.float64))],
)
def test_equals_gymnasium_bit_for_bit(name, kwargs, dtype):
    env = gymnasium.make(name, disable_env_checker=True, **kwargs)
    vector = BatchVectorEnv(name, 1, **kwargs)
    lane = vector.lanes[0]
    assert vector.single_observation_space == env.observation_space
    assert vector.single_action_space == env.action_space
    first, _ = vector.reset(seed=5)
    assert first[0].tobytes() == env.reset(seed=5)[0].tobytes()
    generator = np.random.default_rng(1)
    for _ in range(1010 if not kwargs and dtype is np.float32 else 250):
        action = (generator.normal(size=lane.model.nu) * 1.3).astype(dtype)
        observation, reward, *flags, _ = env.step(action)
        ours = lane.step(action)
        assert observation.tobytes() == lane.observation.tobytes()
        assert np.float64(reward).tobytes() == np.float64(ours[0]).tobytes()
        assert tuple(flags) == ours[1:]
        assert [type(x) for x in ours] == [float, bool, bool]
        if any(flags):
            observation, _ = env.reset()
            lane.reset()
            assert observation.tobytes() == lane.observation.tobytes()
    assert not any(lane.warnings().values())


def test_velocities_beyond_the_clip():
    env, vector = gymnasium.make("Walker2d-v5").unwrapped, BatchVectorEnv("Walker2d-v5", 1)
    lane = vector.lanes[0]
    env.reset(seed=0)
    vector.reset(seed=0)
    env.data.qvel[3:] = lane.data.qvel[3:] = [30.0, -30.0, 9.0, -9.0, 50.0, -11.0]
    observation = env.step(np.zeros(6))[0]
    lane.step(np.zeros(6))
    assert np.abs(lane.data.qvel).max() > 10.0
    assert np.abs(lane.observation[8:]).max() == 10.0
    assert observation.tobytes() == lane.observation.tobytes()


@pytest.mark.parametrize("name", DENSE_IDS)
def test_blow_up_stays_visible(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    vector = BatchVectorEnv(name, 1)
    vector.reset(seed=0)
    lane = vector.lanes[0]
    lane.data.qvel[:] = np.nan
    _, terminated, _ = lane.step(np.zeros(lane.model.nu))
    assert np.isnan(lane.observation).any()  # MuJoCo's own way would be a start pose
    assert terminated == (name not in ("HalfCheetah-v5", "Swimmer-v5"))
    seen = lane.warnings()
    assert set(seen) == {"BADQPOS", "BADQVEL", "BADQACC", "BADCTRL"}
    assert seen["BADQVEL"] > 0
    lane.reset()
    assert lane.warnings() == seen
    assert np.isfinite(lane.observation).all()
    lane.step(np.full(lane.model.nu, np.nan))
    assert lane.warnings()["BADCTRL"] > seen["BADCTRL"]
    assert list(tmp_path.iterdir()) == []  # no MUJOCO_LOG.TXT


def test_hidden_nan_is_unhealthy():
    """A NaN between larger and smaller numbers escapes min and max; the hopper must still fall."""
    vector = BatchVectorEnv("Hopper-v5", 1)
    vector.reset(seed=0)
    lane = vector.lanes[0]
    lane.data.qvel[3] = np.nan
    lane._look(lane._compiled)
    assert lane.ended() == (True, False)


def test_action_shape():
    lane = BatchVectorEnv("Hopper-v5", 1).lanes[0]
    with pytest.raises(ValueError, match=r"action has shape \(1,\); allowed: \(3,\)"):
        lane.step(np.zeros(1))


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


def test_sparse_keeps_the_physics_of_gymnasium():
    for name, base, kwargs in (
        ("SparseHalfCheetah", "HalfCheetah-v5", {}),
        ("SparseHopper", "Hopper-v5", {}),
        ("SparseWalker2d", "Walker2d-v5", {"xml_file": "walker2d.xml"}),
    ):
        theirs, ours = gymnasium.make(base, **kwargs), gymnasium.make(f"mppo/{name}-v0")
        assert (theirs.reset(seed=1)[0] == ours.reset(seed=1)[0]).all()
        generator = np.random.default_rng(0)
        for _ in range(60):
            action = generator.normal(size=ours.action_space.shape).astype(np.float32)
            mine, other = ours.step(action), theirs.step(action)
            assert mine[0].tobytes() == other[0].tobytes()
            assert mine[2:4] == other[2:4]
            assert mine[1] in (0.0, 1.0)
            assert mine[4]["x_position"] == other[4]["x_position"]
            if mine[2]:
                ours.reset(), theirs.reset()
        assert ours.unwrapped.dt == theirs.unwrapped.dt
        assert ours.metadata["render_fps"] == theirs.metadata["render_fps"]


def test_observe_position():
    env = gymnasium.make("mppo/SparseHopper-v0", observe_position=True)
    observation, info = env.reset(seed=0)
    assert observation.shape == (12,)
    assert observation[0] == info["x_position"]


def test_errors():
    with pytest.raises(
        ValueError, match="task is 'Humanoid-v5'; allowed: mppo/SparseCartPoleSwingup-v0, "
    ):
        BatchVectorEnv("Humanoid-v5", 1)
    with pytest.raises(ValueError, match="concern the sparse tasks alone"):
        BatchVectorEnv("Hopper-v5", 1, threshold=1.0)
    with pytest.raises(ValueError, match="threshold is 'far'; allowed"):
        BatchVectorEnv("mppo/SparseHopper-v0", 1, threshold="far")
    with pytest.raises(ValueError, match="threads is 0; allowed"):
        BatchVectorEnv("Hopper-v5", 1, threads=0)
