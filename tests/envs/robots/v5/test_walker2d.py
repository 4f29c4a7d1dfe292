import gymnasium
import numpy as np
import pytest

from mppo.envs.batch import BatchVectorEnv
from tests.envs.robots.like_gymnasium import DTYPES, assert_like_gymnasium

VARIANTS = [
    {},
    {"xml_file": "walker2d.xml", "healthy_reward": 0.3},
    {"exclude_current_positions_from_observation": False},
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kwargs", VARIANTS, ids=str)
def test_equals_gymnasium_bit_for_bit(kwargs, dtype):
    assert_like_gymnasium("Walker2d-v5", kwargs, dtype)


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
