import pytest

from tests.envs.robots.like_gymnasium import DTYPES, assert_like_gymnasium

VARIANTS = [
    {},
    {"include_cvel_in_observation": False, "impact_cost_weight": 0.1, "frame_skip": 3},
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kwargs", VARIANTS, ids=str)
def test_equals_gymnasium_bit_for_bit(kwargs, dtype):
    assert_like_gymnasium("HumanoidStandup-v5", kwargs, dtype)
