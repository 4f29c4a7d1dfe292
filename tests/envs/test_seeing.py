"""What an environment shows: written as Gymnasium flattens it, refused where it is no element."""

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.spaces.utils import flatten
from hypothesis import given, settings
from hypothesis import strategies as st

from mppo.acting.flattening import Plan
from mppo.envs.checked import CheckedEnv
from mppo.envs.seeing import Sight
from mppo.errors import EnvironmentFault
from tests.acting.test_flattening import nested
from tests.worlds import Anything

GOAL = spaces.Dict(
    {
        "far": spaces.Box(-np.inf, np.inf, (2,), np.float64),
        "near": spaces.Box(-1, 1, (2,), np.float64),
        "small": spaces.Box(0, 1, (1,), np.float32),
        "grid": spaces.Box(0, 9, (2, 2), np.uint8),
    }
)
FINE = {
    "far": np.array([1e5, -3.0]),
    "near": np.array([1.0, -0.5]),
    "small": np.ones(1, np.float32),
    "grid": np.full((2, 2), 9, np.uint8),
}


def sight_of(space):
    checked = CheckedEnv(Anything(space, spaces.Discrete(2)), "Thing-v0")
    return Sight(checked, Plan(space))


def inside(sight):
    return bool(((sight.low < sight.now) & (sight.now < sight.high)).all())


@pytest.mark.filterwarnings("ignore:.*Casting input x")  # Gymnasium's, of a number without axes
@settings(max_examples=150, deadline=None)
@given(nested, st.integers(0, 2**31))
def test_elements_are_written_and_pass(space, seed):
    space.seed(seed)
    sight = sight_of(space)
    for _ in range(3):
        one = space.sample()
        sight.take(one)
        assert sight.now.tobytes() == flatten(space, one).astype(np.float32).tobytes()
        if not inside(sight):  # at a bound of double precision it needs the second look
            sight.precise(one)


def test_of_what_lies_between_the_bounds_no_second_look_is_needed():
    sight = sight_of(GOAL)
    sight.take(FINE | {"near": np.array([0.999, -0.5])})
    assert inside(sight)  # whole and single-precision numbers may be at their bounds
    sight.take(FINE)
    assert not inside(sight)
    sight.precise(FINE)  # it is an element


@pytest.mark.parametrize(
    "wrong",
    [
        {"near": np.array([1.0 + 1e-12, 0.0])},  # in single precision it would be 1
        {"near": np.array([np.nan, 0.0])},
        {"far": np.array([np.nan, 0.0])},
        {"far": np.array([np.inf, 0.0])},
        {"far": np.array([1e300, 0.0])},  # not finite in single precision
        {"small": np.array([1.0000001], np.float32)},
        {"grid": np.full((2, 2), 10, np.uint8)},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_numbers_beyond_their_bounds_are_found_at_the_second_look(wrong):
    sight = sight_of(GOAL)
    sight.take(FINE | wrong)
    assert not inside(sight)
    with pytest.raises(EnvironmentFault, match="observation = "):
        sight.precise(FINE | wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        FINE | {"far": np.zeros(3)},
        FINE | {"grid": np.zeros((2, 2))},
        FINE | {"more": 1},
        {key: FINE[key] for key in ("far", "near", "small")},
        {**{key: FINE[key] for key in ("far", "near", "small")}, "other": 1},
        None,
    ],
    ids=["shape", "type", "more", "less", "other", "nothing"],
)
def test_other_types_and_shapes_are_found_at_once(wrong):
    with pytest.raises(EnvironmentFault, match="observation = "):
        sight_of(GOAL).take(wrong)


def test_choices():
    both = spaces.Tuple((spaces.Discrete(3, start=5), spaces.Discrete(2)))
    sight = sight_of(both)
    for one in ((5, 1), (np.int64(7), True), (np.int32(6), 0)):
        sight.take(one)
        assert sight.now.tolist() == flatten(both, (int(one[0]), int(one[1]))).tolist()
    for wrong in ((8, 0), (4, 0), (5.0, 0), (5,)):
        with pytest.raises(EnvironmentFault, match="observation = "):
            sight.take(wrong)
    alone = sight_of(spaces.Discrete(3))
    alone.take(2)
    assert alone.now.tolist() == [0, 0, 1]
    with pytest.raises(EnvironmentFault):
        alone.take(-1)


def test_a_box_is_taken_as_before():
    """Bounds of a single box are not looked at: many environments leave theirs."""
    sight = sight_of(spaces.Box(-1, 1, (2,), np.float32))
    for fine in (np.array([5.0, 0.0], np.float32), [5, 0], np.array([5.0, 0.0])):
        sight.take(fine)
        assert sight.now.tolist() == [5.0, 0.0]
        assert inside(sight)
    with pytest.raises(EnvironmentFault, match="shape"):
        sight.take(np.zeros(3, np.float32))
