import pytest

from tests.envs.robots.like_gymnasium import DTYPES, assert_like_gymnasium

VARIANTS = [
    {},
    {"include_cfrc_ext_in_observation": False, "terminate_when_unhealthy": False},
    {"contact_force_range": (-0.5, 2.0), "contact_cost_weight": 0.1, "frame_skip": 3},
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kwargs", VARIANTS, ids=str)
def test_equals_gymnasium_bit_for_bit(kwargs, dtype):
    assert_like_gymnasium("Ant-v5", kwargs, dtype)
