import pytest

from tests.envs.robots.like_gymnasium import DTYPES, assert_like_gymnasium

VARIANTS = [
    {},
    {"include_cinert_in_observation": False, "include_cfrc_ext_in_observation": False},
    {
        "terminate_when_unhealthy": False,
        "contact_cost_weight": 0.1,
        "contact_cost_range": (0.5, 3.0),
    },
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kwargs", VARIANTS, ids=str)
def test_equals_gymnasium_bit_for_bit(kwargs, dtype):
    assert_like_gymnasium("Humanoid-v5", kwargs, dtype)
