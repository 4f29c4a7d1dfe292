"""`mppo.envs` itself: what its import registers, and `native_vector`."""

import subprocess
import sys

import gymnasium
import pytest
from gymnasium.vector import AutoresetMode

import mppo.envs
from mppo.envs import native_vector
from mppo.envs.batch import BatchEnv, BatchVectorEnv
from tests.envs.roll import DENSE_IDS, NATIVE_IDS, NUMPY_IDS, SPARSE_IDS, actions_for

HORIZONS = dict(zip(NUMPY_IDS, (1000, 500, 500), strict=True)) | dict.fromkeys(SPARSE_IDS, 1000)
HORIZONS |= {"mppo/Pusher-v5": 100, "mppo/Reacher-v5": 50}


def test_import_registers_without_mujoco_or_jax():
    script = (
        "import sys, mppo.envs, gymnasium; "
        "assert not {'mujoco', 'jax'} & set(sys.modules), 'heavy import'; "
        "gymnasium.make('mppo/Maze-v0'); assert 'mujoco' not in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True)


def test_registering_again_changes_nothing():
    before = gymnasium.spec("mppo/Maze-v0")
    mppo.envs._register_all()
    assert gymnasium.spec("mppo/Maze-v0") is before


@pytest.mark.parametrize("env_id", NATIVE_IDS)
def test_spec(env_id):
    spec = gymnasium.spec(env_id)
    assert spec.max_episode_steps == HORIZONS.get(env_id, 1000)
    assert spec.entry_point is not None
    assert spec.vector_entry_point is not None


def test_gymnasium_registry_is_left_alone():
    for name in DENSE_IDS:
        assert gymnasium.spec(name).vector_entry_point is None


def truncation(env_id, **kwargs):
    env = gymnasium.make(env_id, **kwargs)
    action = env.action_space.sample() * 0
    env.reset(seed=0)
    for step in range(1, 6000):
        _, _, terminated, truncated, _ = env.step(action)
        assert not terminated
        if truncated:
            return step
    return None


def vector_truncation(env_id, **kwargs):
    env = gymnasium.make_vec(env_id, num_envs=2, autoreset_mode="Disabled", **kwargs)
    env.reset(seed=0)
    actions = actions_for(env, 1)[0] * 0
    for step in range(1, 6000):
        _, _, terminated, truncated, _ = env.step(actions)
        assert not terminated.any()
        if truncated.any():
            assert truncated.all()
            return step
    return None


@pytest.mark.parametrize("cut", [truncation, vector_truncation])
def test_horizon_and_max_episode_steps(cut):
    assert cut("mppo/Maze-v0") == 1000
    assert cut("mppo/SparseDoublePendulum-v0") == 500
    assert cut("mppo/Maze-v0", horizon=50) == 50
    assert cut("mppo/Maze-v0", max_episode_steps=50) == 50
    assert cut("mppo/Maze-v0", max_episode_steps=1500) == 1500
    assert cut("mppo/Maze-v0", max_episode_steps=20, horizon=50) == 20
    assert cut("mppo/SparseHalfCheetah-v0", horizon=7) == 7
    assert cut("mppo/SparseHalfCheetah-v0", max_episode_steps=7) == 7


def test_longer_horizon():
    assert vector_truncation("mppo/Maze-v0", horizon=1500) == 1500
    with pytest.raises(ValueError, match="pass max_episode_steps=1500 in place of horizon"):
        gymnasium.make("mppo/Maze-v0", horizon=1500)
    env = BatchEnv("mppo/Maze-v0")
    env.reset(seed=0)
    assert [env.step(0)[3] for _ in range(1000)] == [False] * 999 + [True]


@pytest.mark.parametrize("horizon", [0, -3, 1.5, True, "9"])
def test_bad_horizon(horizon):
    for env_id in ("mppo/Maze-v0", "mppo/SparseHopper-v0"):
        with pytest.raises(ValueError, match=r"horizon is .*allowed: a whole number"):
            gymnasium.make(env_id, horizon=horizon)
        with pytest.raises(ValueError, match=r"horizon is .*allowed: a whole number"):
            native_vector(env_id, 1, horizon=horizon)


def test_native_vector():
    for env_id in (*NATIVE_IDS, *DENSE_IDS):
        env = native_vector(env_id, 3)
        assert env is not None
        assert env.num_envs == 3
        assert env.metadata["autoreset_mode"] is AutoresetMode.DISABLED
        env.close()
    for env_id in ("CartPole-v1", "mppo/Nothing-v0", "Maze-v0", "Hopper-v4"):
        assert native_vector(env_id, 3) is None
    env = native_vector("Hopper-v5", 1, horizon=12)
    assert env is not None
    assert env.lanes[0].horizon == 12


def test_make_vec_reaches_our_vector():
    env = gymnasium.make_vec("mppo/Hopper-v5", num_envs=5)
    assert type(env) is BatchVectorEnv
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
