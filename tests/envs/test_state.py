"""The states of all our environments: they belong to no one module, so they are tested here."""

import json
import subprocess
import sys

import gymnasium
import numpy as np
import pytest

from mppo.envs import native_vector
from mppo.envs.batch import BatchVectorEnv
from tests.envs.roll import NATIVE_IDS, actions_for, digest, play

STEPS = 1000
CHILD = """
import json, sys
import numpy as np
from mppo.envs import native_vector
sys.path.insert(0, sys.argv[1])
from roll import digest, play
found = {}
for env_id, path in json.loads(sys.argv[2]).items():
    env = native_vector(env_id, 2)
    with np.load(path) as state:
        env.set_state(dict(state))
    found[env_id] = digest(play(env, int(sys.argv[3]), seed=9))
print(json.dumps(found))
"""


def test_same_future_in_a_new_process(tmp_path, request):
    paths, expected = {}, {}
    for number, env_id in enumerate(NATIVE_IDS):
        env = native_vector(env_id, 2)
        assert env is not None
        env.reset(seed=3)
        play(env, 37)
        state = env.get_state()
        paths[env_id] = str(tmp_path / f"{number}.npz")
        np.savez(paths[env_id], allow_pickle=False, **state)
        expected[env_id] = digest(play(env, STEPS, seed=9))
    folder = str(request.path.parent)
    command = [sys.executable, "-W", "error", "-c", CHILD, folder, json.dumps(paths), str(STEPS)]
    child = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path)
    assert json.loads(child.stdout) == expected


@pytest.mark.parametrize("env_id", NATIVE_IDS)
def test_same_future_from_random_moments(env_id):
    env, other = native_vector(env_id, 2), native_vector(env_id, 2)
    assert env is not None
    assert other is not None
    env.reset(seed=4)
    for moment in np.random.default_rng(0).integers(1, 30, 3).tolist():
        play(env, moment, seed=moment)
        state = {name: array.copy() for name, array in env.get_state().items()}
        assert all(
            isinstance(array, np.ndarray) and array.dtype != object for array in state.values()
        )
        other.set_state(state)
        assert digest(list(other.get_state().values())) == digest(list(state.values()))
        assert digest(play(env, 60)) == digest(play(other, 60))


@pytest.mark.parametrize("env_id", ["mppo/Maze-v0", "mppo/SparseHopper-v0"])
def test_pending_resets_are_kept(env_id):
    env = gymnasium.make_vec(env_id, num_envs=3, horizon=5)
    env.reset(seed=0)
    play(env, 5)
    state = env.get_state()
    assert state["pending"].all()
    other = gymnasium.make_vec(env_id, num_envs=3, horizon=5)
    other.set_state(state)
    actions = actions_for(env, 1)[0]
    for mine, theirs in zip(env.step(actions)[:4], other.step(actions)[:4], strict=True):
        assert mine.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("env_id", NATIVE_IDS[:6])
def test_single_environments_have_it_too(env_id):
    env, other = gymnasium.make(env_id).unwrapped, gymnasium.make(env_id).unwrapped
    env.reset(seed=1)
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(30)]
    env.step(actions[0])
    other.set_state(env.get_state())
    for action in actions[1:5]:
        assert env.step(action)[0].tobytes() == other.step(action)[0].tobytes()
    assert env.reset()[0].tobytes() == other.reset()[0].tobytes()


def test_state_is_checked():
    env = BatchVectorEnv("Hopper-v5", 2)
    env.reset(seed=0)
    state = env.get_state()
    with pytest.raises(ValueError, match=r"state\['elapsed'\] is float64"):
        env.set_state({**state, "elapsed": state["elapsed"].astype(np.float64)})
    with pytest.raises(ValueError, match=r"state\['physics'\] is float64 of shape \(1, "):
        env.set_state({**state, "physics": state["physics"][:1]})
