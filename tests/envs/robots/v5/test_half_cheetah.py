import numpy as np
import pytest

from mppo.envs.batch import BatchVectorEnv
from tests.envs.robots.like_gymnasium import DTYPES, assert_like_gymnasium

VARIANTS = [
    {},
    {"forward_reward_weight": 0.7, "ctrl_cost_weight": 0.2},
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kwargs", VARIANTS, ids=str)
def test_equals_gymnasium_bit_for_bit(kwargs, dtype):
    assert_like_gymnasium("HalfCheetah-v5", kwargs, dtype)


def test_starting_velocities_are_normal():
    """Uniform ones, as Swimmer's, would stay within their scale."""
    lane = BatchVectorEnv("HalfCheetah-v5", 1).lanes[0]
    velocities = []
    for _ in range(50):
        lane.reset()
        velocities.append(lane.data.qvel.copy())
    assert np.abs(velocities).max() > 0.1
    assert np.std(velocities) == pytest.approx(0.1, rel=0.2)
