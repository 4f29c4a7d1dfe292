import numpy as np
import pytest

from mppo.envs.robots.rules import Body
from mppo.envs.robots.v5.hopper import healthy
from tests.envs.robots.like_gymnasium import DTYPES, assert_like_gymnasium

VARIANTS = [
    {},
    {"terminate_when_unhealthy": False, "reset_noise_scale": 0.1},
    {"healthy_state_range": (-5.0, 5.0), "healthy_angle_range": (-1.0, 1.0)},
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kwargs", VARIANTS, ids=str)
def test_equals_gymnasium_bit_for_bit(kwargs, dtype):
    assert_like_gymnasium("Hopper-v5", kwargs, dtype)


@pytest.mark.parametrize(
    ("place", "value", "stands"),
    [
        (("qpos", 0), 1e9, True),  # how far it came does not matter
        (("qpos", 1), 0.6, False),  # too low
        (("qpos", 2), 0.3, False),  # leans too far
        (("qpos", 5), 101.0, False),
        (("qvel", 3), -101.0, False),
        (("qvel", 3), np.nan, False),  # hides between larger and smaller numbers
        (("qvel", 0), 99.0, True),
    ],
)
def test_when_it_falls(place, value, stands):
    """The rule in Python: what is compiled is the same function."""
    state = {"qpos": np.array([0.0, 1.2, 0.1, 0.0, 0.0, 0.0]), "qvel": np.zeros(6)}
    state[place[0]][place[1]] = value
    body = Body(**state, ctrl=np.zeros(3), place=state["qpos"], forces=np.zeros(0), single=True)
    numbers = np.array([0.7, np.inf, -0.2, 0.2, -100.0, 100.0])
    assert healthy(body, numbers) == stands
