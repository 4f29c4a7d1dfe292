"""Wrappers that compiled steps do themselves: the bits of Gymnasium's own wrappers."""

from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import ClipAction, RescaleAction, TimeLimit, TransformReward

from mppo.envs.batch import BatchVectorEnv, lanes_of
from mppo.envs.robots.gates import expressed
from mppo.envs.source import env_source

LOW = np.array([-3.0, -1.0, 0.25], np.float32)
pytestmark = pytest.mark.filterwarnings("ignore:.*precision lowered")
WRAPPERS = {
    "clip": [ClipAction],
    "rescale": [partial(RescaleAction, min_action=LOW, max_action=LOW + 0.7)],
    "both": [ClipAction, partial(TimeLimit, max_episode_steps=7)],
    "other way": [partial(RescaleAction, min_action=-2.0, max_action=0.3), ClipAction],
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_steps_are_those_of_the_wrapped_environment(name):
    found = env_source("Hopper-v5", wrappers=WRAPPERS[name])
    vector = found.make(1)
    assert found.native
    assert lanes_of(vector)
    env = gymnasium.make("Hopper-v5", disable_env_checker=True)
    for wrap in WRAPPERS[name]:
        env = wrap(env)
    assert found.spaces.action == env.action_space
    assert found.horizon == (7 if name == "both" else 1000)
    first, _ = vector.reset(seed=5)
    assert first[0].tobytes() == env.reset(seed=5)[0].tobytes()
    rng, ended = np.random.default_rng(0), 0
    for _ in range(300):
        action = (2 * rng.normal(size=3)).astype(np.float32)
        theirs = env.step(action)
        ours = vector.step(action[None])
        assert ours[0][0].tobytes() == theirs[0].tobytes()
        assert [part[0] for part in ours[1:4]] == list(theirs[1:4])
        if theirs[2] or theirs[3]:
            ended += 1
            again, _ = vector.reset(options={"reset_mask": np.ones(1, bool)})
            assert again[0].tobytes() == env.reset()[0].tobytes()
    assert ended


def test_what_cannot_be_expressed_is_stepped_as_it_is():
    other = partial(TransformReward, func=lambda reward: 2 * reward)
    assert expressed([ClipAction, other]) is None
    assert not env_source("Hopper-v5", wrappers=[other]).native
    assert expressed([partial(RescaleAction, 3)]) is None  # it lacks an argument
    assert not env_source("Pendulum-v1", wrappers=[ClipAction]).native


def test_limits_are_the_smallest():
    limit = partial(TimeLimit, max_episode_steps=2000)
    assert env_source("Hopper-v5", wrappers=[limit]).horizon == 1000
    both = env_source("Hopper-v5", wrappers=[limit], max_episode_steps=30)
    assert (both.horizon, both.make(1).horizon) == (30, 30)


def test_rescaling_needs_bounds():
    with pytest.raises(ValueError, match="nothing to scale"):
        BatchVectorEnv("Hopper-v5", 1, gates=(("clip",), ("rescale", -np.inf, np.inf)))
