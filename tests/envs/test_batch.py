import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import mppo.envs  # noqa: F401
from tests.envs.roll import NUMPY_IDS, SPARSE_IDS, actions_for, play

VARIANTS = [
    ("mppo/Maze-v0", {"layout": "S..\n.#G", "horizon": 17}),
    ("mppo/Maze-v0", {"continuous": True, "layout": "S..\n.#G", "horizon": 17}),
    ("mppo/SparseCartPoleSwingup-v0", {}),
    ("mppo/SparseDoublePendulum-v0", {"goal": "height", "goal_height": -1.5, "horizon": 60}),
    ("mppo/SparseDoublePendulum-v0", {"preset": "rllab"}),
    ("mppo/SparseHopper-v0", {"threshold": 0.02, "horizon": 15}),
]


def sync(env_id, num_envs, mode, **kwargs):
    make = lambda: gymnasium.make(env_id, disable_env_checker=True, **kwargs)
    return SyncVectorEnv([make] * num_envs, autoreset_mode=mode)


def same(ours, theirs):
    assert ours.dtype == theirs.dtype
    assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize(("env_id", "kwargs"), VARIANTS)
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_equals_sync_vector_env(env_id, kwargs, mode):
    ours = gymnasium.make_vec(env_id, num_envs=4, autoreset_mode=mode, **kwargs)
    theirs = sync(env_id, 4, mode, **kwargs)
    assert ours.metadata["autoreset_mode"] is mode
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.action_space == theirs.action_space
    same(ours.reset(seed=11)[0], theirs.reset(seed=11)[0])
    endings = 0
    for actions in actions_for(ours, 200):
        mine, other = ours.step(actions), theirs.step(actions)
        for a, b in zip(mine[:4], other[:4], strict=True):
            same(a, b)
        ended = mine[2] | mine[3]
        endings += int(ended.sum())
        assert ("final_obs" in mine[4]) == ("final_obs" in other[4])
        if "final_obs" in mine[4]:
            assert (mine[4]["_final_obs"] == other[4]["_final_obs"]).all()
            assert (mine[4]["_final_info"] == other[4]["_final_info"]).all()
            for i in np.flatnonzero(ended):
                same(mine[4]["final_obs"][i], other[4]["final_obs"][i])
        if mode is AutoresetMode.DISABLED and ended.any():
            mask = ended.copy()
            a = ours.reset(options={"reset_mask": ended})[0]
            same(a, theirs.reset(options={"reset_mask": mask})[0])
    assert endings > 2


@pytest.mark.parametrize(("env_id", "kwargs"), VARIANTS)
def test_independent_of_the_number_of_environments(env_id, kwargs):
    many = gymnasium.make_vec(env_id, num_envs=19, autoreset_mode="Disabled", **kwargs)
    many.reset(seed=100)
    whole = play(many, 150)
    actions = actions_for(many, 150)
    for i in (0, 9, 18):  # within and behind the blocks of a vector unit
        one = gymnasium.make_vec(env_id, num_envs=1, autoreset_mode="Disabled", **kwargs)
        one.reset(seed=100 + i)
        for t in range(150):
            outcome = one.step(actions[t, i : i + 1])
            for name, value in zip(whole[1:], outcome[1:4], strict=True):
                same(name[t, i : i + 1], value)
            if outcome[2][0] or outcome[3][0]:
                outcome = one.reset(options={"reset_mask": np.array([True])})
            same(whole[0][t, i : i + 1], outcome[0])


@pytest.mark.parametrize("env_id", [*NUMPY_IDS[1:], SPARSE_IDS[1]])
def test_seeds(env_id):
    env = gymnasium.make_vec(env_id, num_envs=3)
    first, _ = env.reset(seed=5)
    same(env.reset(seed=[5, 6, 7])[0], first)
    later, _ = env.reset()
    assert (later != first).any()
    mixed, _ = env.reset(seed=[5, None, 7])
    same(mixed[[0, 2]], first[[0, 2]])
    assert (mixed[1] != first[1]).any()
    assert (mixed[1] != later[1]).any()
    assert len(env.np_random) == 3
    with pytest.raises(ValueError, match="seed has 2 entries for num_envs=3"):
        env.reset(seed=[1, 2])


@pytest.mark.parametrize("env_id", ["mppo/Maze-v0", "mppo/SparseHopper-v0"])
def test_errors(env_id):
    env = gymnasium.make_vec(env_id, num_envs=2, autoreset_mode="Disabled", horizon=1)
    env.reset(seed=0)
    actions = actions_for(env, 1)[0]
    with pytest.raises(ValueError, match=r"actions .*allowed"):
        env.step(actions[:1])
    env.step(actions)
    with pytest.raises(RuntimeError, match=r"sub-environments \[0, 1\] have ended"):
        env.step(actions)
    with pytest.raises(ValueError, match=r"reset_mask.*allowed"):
        env.reset(options={"reset_mask": [True, False]})
    with pytest.raises(ValueError, match="selects no sub-environment"):
        env.reset(options={"reset_mask": np.zeros(2, dtype=bool)})
    with pytest.raises(ValueError, match="autoreset_mode is 'never'; allowed: 'NextStep'"):
        gymnasium.make_vec(env_id, num_envs=2, autoreset_mode="never")
    with pytest.raises(ValueError, match="num_envs is 0"):
        gymnasium.make_vec(env_id, num_envs=0)
    with pytest.raises(ValueError, match=r"state holds \[\]"):
        env.set_state({})
