"""Plans write the numbers that Gymnasium's own `flatten` gives."""

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.spaces.utils import flatten
from gymnasium.vector.utils import concatenate, create_empty_array
from hypothesis import given, settings
from hypothesis import strategies as st

from mppo.acting.flattening import Plan

shapes = st.lists(st.integers(1, 3), max_size=3).map(tuple)
boxes = st.tuples(shapes, st.sampled_from(["f2", "f4", "f8", "i1", "u1", "i8", "?"])).map(
    lambda made: spaces.Box(0, 1 if made[1] == "?" else 9, made[0], np.dtype(made[1]).type)
)
unbounded = shapes.map(lambda shape: spaces.Box(-np.inf, np.inf, shape, np.float64))
choices = st.tuples(st.integers(1, 5), st.integers(-3, 3)).map(
    lambda made: spaces.Discrete(made[0], start=made[1])
)
several = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(
    lambda sizes: spaces.MultiDiscrete(sizes, start=[-2] * len(sizes))
)
binary = shapes.filter(len).map(spaces.MultiBinary)
one_of = st.lists(choices, min_size=1, max_size=2).map(spaces.OneOf)
leaves = boxes | unbounded | choices | several | binary
nested = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: spaces.Tuple(tuple(parts)))
        | st.dictionaries(st.sampled_from("zyxa"), inner, min_size=1, max_size=3).map(spaces.Dict)
    ),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None)
@given(nested | one_of, st.integers(0, 2**31))
def test_numbers_are_gymnasium_s(space, seed):
    space.seed(seed)
    plan, samples = Plan(space), [space.sample() for _ in range(3)]
    wanted = [np.asarray(flatten(space, one), np.float32) for one in samples]
    for one, flat in zip(samples, wanted, strict=True):
        row = np.full(plan.size, np.nan, np.float32)
        plan.write(one, row)
        assert row.tobytes() == flat.tobytes()
    stack = concatenate(space, samples, create_empty_array(space, 3))
    rows = np.full((3, plan.size), np.nan, np.float32)
    plan.write_stack(stack, rows)
    assert rows.tobytes() == np.stack(wanted).tobytes()


def test_where_the_parts_go():
    goal = spaces.Dict({"seen": spaces.Box(-1, 1, (3,)), "goal": spaces.Box(-1, 1, (2,))})
    plan = Plan(spaces.Tuple((spaces.Discrete(4), goal)))
    keys = [(part.keys, part.start, part.stop) for part in plan.parts]
    assert keys == [((0,), 0, 4), ((1, "goal"), 4, 6), ((1, "seen"), 6, 9)]
    assert plan.size == 9


def test_large_integers_are_rounded_as_in_one_array():
    """2^60 + 2^36 + 1 becomes another float32 by way of float64, as beside a float it does."""
    large = spaces.Box(0, 2**62, (1,), np.int64)
    for space, value in (
        (spaces.Tuple((large, spaces.Box(0, 1, (1,), np.float64))), (2**60 + 2**36 + 1, 0.5)),
        (spaces.Tuple((large, spaces.Discrete(2))), (2**60 + 2**36 + 1, 1)),
    ):
        one = (np.array([value[0]]), np.asarray(value[1]).reshape(space[1].shape))
        row = np.empty(Plan(space).size, np.float32)
        Plan(space).write(one, row)
        assert row.tolist() == flatten(space, one).astype(np.float32).tolist()


def test_a_subclass_with_a_way_of_its_own_is_flattened_that_way():
    class Angle(spaces.Box):
        pass

    flatten.register(Angle)(lambda space, x: np.array([np.cos(x[0])], np.float32))
    row = np.zeros(1, np.float32)
    Plan(Angle(-9, 9, (1,))).write(np.array([0.0]), row)
    assert row.tolist() == [1.0]


def test_what_is_no_element_is_not_written():
    plan, row = Plan(spaces.Discrete(3)), np.zeros(3, np.float32)
    with pytest.raises(IndexError):
        plan.write(3, row)
