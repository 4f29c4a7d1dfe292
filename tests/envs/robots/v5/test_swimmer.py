import numpy as np
import pytest

from mppo.envs.robots.rules import Body, observe_state
from mppo.envs.robots.v5.swimmer import reward
from tests.envs.robots.like_gymnasium import DTYPES, assert_like_gymnasium

VARIANTS = [
    {},
    {"exclude_current_positions_from_observation": False, "frame_skip": 2},
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kwargs", VARIANTS, ids=str)
def test_equals_gymnasium_bit_for_bit(kwargs, dtype):
    assert_like_gymnasium("Swimmer-v5", kwargs, dtype)


def test_by_hand():
    """2 * (0.7 - 0.5) / 0.1 - 0.5 * (1 + 4) = 1.5; two positions are not seen."""
    body = Body(np.array([0.7, 8.0, 9.0]), np.array([1.0, 2.0]), np.array([1.0, 2.0]),
                np.array([0.7]), np.zeros(0), single=False)  # fmt: skip
    assert reward(body, np.array([0.1, 2.0, 0.5]), 0.5, True) == pytest.approx(1.5)
    seen = np.zeros(3)
    observe_state(body, np.array([2.0]), seen)
    assert seen.tolist() == [9.0, 1.0, 2.0]
