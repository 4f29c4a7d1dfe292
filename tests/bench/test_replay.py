import numpy as np
import pytest

from mppo.algorithm.types import Earlier, Trajectories
from mppo.bench.replay import Replay, ReplayDiffers
from mppo.envs import native_vector
from mppo.machine.seeding import Role, generator

STEPS = 120


def recorded(env, seed=3, iteration=5, envs=2):
    """A batch as the collector makes it, by random actions."""
    vector = native_vector(env, envs)
    draws = np.random.default_rng(0)
    rows = {name: [] for name in Trajectories._fields[:-1]}
    for e, lane in enumerate(vector.lanes):
        lane.generator = generator(seed, Role.ENVIRONMENT, iteration, e)
        lane.reset()
        columns = {name: [] for name in rows}
        for _ in range(STEPS):
            action = draws.normal(size=lane.model.nu).astype(np.float32)
            columns["observations"].append(lane.observation.astype(np.float32))
            reward, terminated, truncated = lane.step(action)
            after = lane.observation.astype(np.float32)
            outcome = (action, reward, after, terminated, truncated)
            for name, value in zip(Trajectories._fields[1:-1], outcome, strict=True):
                columns[name].append(value)
            if terminated or truncated:
                lane.reset()
        for name, column in columns.items():
            rows[name].append(np.stack(column))
    zeros = np.zeros(envs, np.float32)
    arrays = {name: np.stack(stacked) for name, stacked in rows.items()}
    return Trajectories(**arrays, earlier=Earlier(zeros, zeros, np.zeros(envs, np.int32)))


@pytest.mark.parametrize("env", ["Hopper-v5", "HalfCheetah-v5", "Ant-v5", "Swimmer-v5"])
def test_bare_physics_lives_through_the_same_states(env):
    seen = recorded(env)
    replay = Replay(env, seed=3)
    episodes = replay.episodes(5, seen)
    ends = int((seen.terminated | seen.truncated)[:, :-1].sum()) + len(seen.actions)
    assert len(episodes) == ends
    assert sum(len(episode.controls) for episode in episodes) == 2 * STEPS
    assert replay.seconds(episodes) > 0
    for threads in (1, 2):  # and in compiled code
        assert replay.seconds(episodes, threads) > 0
    assert ends > 2 or env not in ("Hopper-v5", "Ant-v5")  # these fall, and begin again


def test_another_run_is_refused():
    seen = recorded("Hopper-v5")
    replay = Replay("Hopper-v5", seed=3)
    with pytest.raises(ReplayDiffers, match="another observation"):
        replay.episodes(6, seen)
    episodes = replay.episodes(5, seen)
    episodes[0].controls[0][0] += 1e-6
    with pytest.raises(ReplayDiffers, match="another state"):
        replay.seconds(episodes)
    with pytest.raises(ReplayDiffers, match="another state"):
        replay.seconds(episodes, 2)


def test_no_physics_to_replay():
    with pytest.raises(ValueError, match="no bare mj_step"):
        Replay("mppo/Maze-v0", seed=0)


def test_threads_need_mujoco_s_own_library(monkeypatch):
    replay = Replay("Hopper-v5", seed=3)
    episodes = replay.episodes(5, recorded("Hopper-v5"))
    monkeypatch.setattr("mppo.bench.replay.addresses", lambda: None)
    with pytest.raises(ValueError, match="library was not found"):
        replay.seconds(episodes, 2)
