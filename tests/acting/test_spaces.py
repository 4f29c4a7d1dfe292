"""Between Gymnasium's spaces and flat vectors, there and back."""

import ast
import copy
import re
from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from mppo.acting.spaces import CHOICE, DOUBLE, FLOAT, Spaces, form_of
from mppo.algorithm.heads import Categorical, Gaussian, Product
from mppo.envs.source import env_source
from mppo.envs.wrapping import imported_wrapper
from mppo.errors import BadRequest
from tests.worlds import Anything

ONE = spaces.Box(-1, 1, (1,), np.float32)
ACTIONS = {
    "box": (spaces.Box(-2, 2, (2,), np.float32), Gaussian(2)),
    "matrix": (spaces.Box(-1, 1, (2, 3), np.float64), Gaussian(6)),
    "discrete": (spaces.Discrete(3, start=-1), Categorical((3,))),
    "multi-discrete": (spaces.MultiDiscrete([2, 3]), Categorical((2, 3))),
    "started": (spaces.MultiDiscrete([2, 3], start=[10, -5]), Categorical((2, 3))),
    "binary": (spaces.MultiBinary(3), Categorical((2, 2, 2))),
    "binary-matrix": (spaces.MultiBinary((2, 2)), Categorical((2,) * 4)),
    "tuple": (
        spaces.Tuple((spaces.Discrete(2), ONE)),
        Product((Categorical((2,)), Gaussian(1))),
    ),
    "dict": (
        spaces.Dict({"a": ONE, "b": spaces.Discrete(2), "c": spaces.MultiBinary(2)}),
        Product((Gaussian(1), Categorical((2, 2, 2)))),
    ),
    "nested": (
        spaces.Dict({"x": spaces.Tuple((ONE, ONE)), "y": spaces.Discrete(4, start=7)}),
        Product((Gaussian(2), Categorical((4,)))),
    ),
}
OBSERVATIONS = {
    "box": (spaces.Box(-1, 1, (2,), np.float32), 2),
    "matrix": (spaces.Box(-1, 1, (2, 2), np.float64), 4),
    "discrete": (spaces.Discrete(3, start=5), 3),
    "multi-discrete": (spaces.MultiDiscrete([2, 3]), 5),
    "binary": (spaces.MultiBinary(4), 4),
    "dict": (spaces.Dict({"p": ONE, "q": spaces.Discrete(3)}), 4),
    "tuple": (spaces.Tuple((ONE, spaces.MultiBinary(2))), 3),
}


def stepped(observation, action, count=3):
    makers = [lambda: Anything(observation, action)] * count
    return SyncVectorEnv(makers, autoreset_mode=AutoresetMode.DISABLED)


@pytest.mark.parametrize("name", ACTIONS)
def test_sampled_actions_belong_to_the_space(name):
    """What the head samples is taken by a vector environment and by a single one."""
    space, head = ACTIONS[name]
    found = Spaces(ONE, space)
    assert found.head == head
    rng = np.random.default_rng(0)
    statistics = rng.normal(size=(3, head.outputs + head.free)).astype(np.float32)
    vector = stepped(ONE, space)
    vector.reset(seed=0)
    for _ in range(5):
        flat = head.act(statistics, head.noise(rng, (3,)))
        assert flat.shape == (3, head.size)
        together = found.to_env(flat, clip=True)
        vector.step(together)  # Anything asserts that each belongs to the space
        for e, env in enumerate(vector.envs):
            single = found.to_env_one(flat[e], clip=True)
            assert space.contains(single)
            assert spaces.utils.flatten(space, single) == pytest.approx(
                spaces.utils.flatten(space, env.taken[-1])
            )
    vector.close()


def test_choices_by_hand():
    """Indices become elements: counted from the space's start."""
    flat = np.array([[1.0, 0.0], [0.0, 2.0]], np.float32)
    started = Spaces(ONE, ACTIONS["started"][0]).to_env(flat)
    np.testing.assert_array_equal(started, [[11, -5], [10, -3]])
    discrete = Spaces(ONE, ACTIONS["discrete"][0]).to_env(flat[:, :1])
    np.testing.assert_array_equal(discrete, [0, -1])
    both = Spaces(ONE, ACTIONS["tuple"][0]).to_env(np.array([[1.0, 0.5]], np.float32))
    assert (both[0].tolist(), both[1].tolist()) == ([1], [[0.5]])


def test_clipping_is_for_boxes_and_only_when_asked():
    found = Spaces(ONE, spaces.Box(np.array([-1.0, 0.0]), np.array([1.0, 9.0]), dtype=np.float64))
    flat = np.array([[5.0, -5.0]], np.float32)
    np.testing.assert_array_equal(found.to_env(flat), [[5.0, -5.0]])
    np.testing.assert_array_equal(found.to_env(flat, clip=True), [[1.0, 0.0]])


def test_action_scale_is_the_bound_or_one():
    box = spaces.Box(
        np.array([-2.0, -np.inf, 0.0], np.float32), np.array([1.0, np.inf, 0.0], np.float32)
    )
    both = spaces.Tuple((spaces.Discrete(3), box, spaces.MultiBinary(2)))
    assert Spaces(ONE, both).action_scale == (1.0, 2.0, 1.0, 1.0, 1.0, 1.0)


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_observations_of_a_vector_environment_are_those_of_each(name):
    space, size = OBSERVATIONS[name]
    found = Spaces(space, spaces.Discrete(2))
    assert found.observation_size == size
    makers = [lambda: Anything(copy.deepcopy(space), spaces.Discrete(2))] * 3
    vector = SyncVectorEnv(makers, autoreset_mode=AutoresetMode.DISABLED)
    seen, _ = vector.reset(seed=[1, 2, 3])
    together = found.flatten(seen, 3)
    assert (together.shape, together.dtype) == ((3, size), np.float32)
    for e, seed in enumerate((1, 2, 3)):
        space.seed(seed)
        np.testing.assert_array_equal(together[e], found.flatten_one(space.sample()))
    vector.close()


def test_flat_observations_by_hand():
    dictionary = Spaces(OBSERVATIONS["dict"][0], ONE)
    one = {"p": np.array([0.5], np.float32), "q": np.int64(2)}
    np.testing.assert_array_equal(dictionary.flatten_one(one), [0.5, 0, 0, 1])
    stack = {"p": np.array([[0.5], [0.25]], np.float32), "q": np.array([2, 0])}
    np.testing.assert_array_equal(dictionary.flatten(stack, 2), [[0.5, 0, 0, 1], [0.25, 1, 0, 0]])
    discrete = Spaces(OBSERVATIONS["discrete"][0], ONE)
    np.testing.assert_array_equal(discrete.flatten(np.array([5, 7]), 2), [[1, 0, 0], [0, 0, 1]])


@pytest.mark.parametrize(
    "space",
    [
        spaces.Box(0, 255, (84, 84, 3), np.uint8),
        spaces.Box(0, 255, (84, 84), np.uint8),
        spaces.Box(0, 1, (3, 84, 84), np.float32),
        spaces.Box(0, 255, (7, 11, 13), np.uint8),  # 1001: one more than a grid may have
        spaces.Dict({"camera": spaces.Box(0, 255, (84, 84, 3), np.uint8)}),
    ],
    ids=["rgb", "grey", "float", "smallest", "dict"],
)
def test_images_are_refused_with_a_way_out_that_works(space):
    with pytest.raises(BadRequest) as caught:
        _ = Spaces(space, ONE, "Camera-v0").observation_size
    message = str(caught.value)
    assert '"Camera-v0" shows images (Box(' in message
    assert "--wrappers gymnasium.wrappers:FlattenObservation" in message
    assert "gymnasium.ObservationWrapper that gives a vector of features" in message
    wrap = imported_wrapper("gymnasium.wrappers:FlattenObservation")
    found = env_source(lambda: Anything(space, ONE), wrappers=[wrap])
    assert found.spaces.observation_size == spaces.flatdim(space) > 1000


@pytest.mark.parametrize(
    ("space", "size"),
    [
        (spaces.Box(0, 255, (7, 7, 3), np.uint8), 147),  # MiniGrid's
        (spaces.Box(0, 255, (8, 8), np.uint8), 64),
        (spaces.Box(0, 1, (10, 10, 10), np.bool_), 1000),  # the largest of MinAtar's
        (spaces.Box(-1, 1, (2, 3, 4), np.float32), 24),
        (spaces.Box(-9, 9, (3, 3, 3), np.int64), 27),
    ],
    ids=["symbols", "bytes", "bits", "floats", "integers"],
)
def test_small_grids_are_flattened(space, size):
    found = Spaces(space, ONE)
    assert found.observation_size == size
    one = space.sample()
    np.testing.assert_array_equal(found.flatten_one(one), one.ravel().astype(np.float32))
    stack = np.stack([one, space.sample()])
    np.testing.assert_array_equal(found.flatten(stack, 2), stack.reshape(2, size))


class Mission(spaces.Space):
    """Words, as MiniGrid has them: a space that knows nothing of vectors."""

    def __init__(self):
        super().__init__(dtype=str)

    def sample(self, mask=None, probability=None):
        return "get to the green goal square"

    def contains(self, x):
        return isinstance(x, str)

    def __repr__(self):
        return "Mission()"


def minigrid(mission):
    image = spaces.Box(0, 255, (7, 7, 3), np.uint8)
    parts = {"direction": spaces.Discrete(4), "image": image, "mission": mission}
    return spaces.Dict(parts)


class Pictures(gymnasium.ObservationWrapper):
    """The image alone, as minigrid.wrappers:ImgObsWrapper gives it."""

    def __init__(self, env):
        super().__init__(env)
        self.observation_space = env.observation_space["image"]

    def observation(self, observation):
        return observation["image"]


@pytest.mark.parametrize("mission", [Mission(), spaces.Text(40)], ids=["own", "text"])
def test_text_is_refused_with_ways_out_that_work(mission):
    make = lambda: Anything(minigrid(mission), spaces.Discrete(3))
    with pytest.raises(BadRequest) as caught:
        env_source(make)
    message = str(caught.value)
    assert f'"Anything" observes text ("mission": {mission})' in message
    assert "--wrappers module:callable (MiniGrid: minigrid.wrappers:ImgObsWrapper)" in message
    keys = re.search(r"FilterObservation, filter_keys=(\[.*?\])\)", message)
    kept = partial(gymnasium.wrappers.FilterObservation, filter_keys=ast.literal_eval(keys[1]))
    assert env_source(make, wrappers=[kept]).spaces.observation_size == 4 + 147
    found = env_source(make, wrappers=[Pictures])
    assert found.spaces.observation_size == 147
    vector = found.make(2)
    seen, _ = vector.reset(seed=1)
    np.testing.assert_array_equal(found.spaces.flatten(seen, 2), seen.reshape(2, 147))
    flat = imported_wrapper("gymnasium.wrappers:FlattenObservation")
    assert env_source(make, wrappers=[Pictures, flat]).spaces.observation_size == 147


def test_text_alone_leaves_nothing_to_keep():
    for space in (spaces.Text(3), spaces.Dict({"a": spaces.Tuple((Mission(), Mission()))})):
        with pytest.raises(BadRequest) as caught:
            _ = Spaces(space, ONE, "Prose-v0").observation_size
        message = str(caught.value)
        assert '"Prose-v0" observes text (' in message
        assert "FilterObservation" not in message
        assert "gymnasium.ObservationWrapper that gives a Box of one dimension" in message


class Odd(Mission):
    """Not even text."""

    def __init__(self):
        spaces.Space.__init__(self, dtype=None)


@pytest.mark.parametrize("odd", [spaces.Sequence(spaces.Discrete(2)), Odd()], ids=["long", "own"])
def test_what_cannot_be_flattened_is_refused(odd):
    with pytest.raises(BadRequest, match=r'"Long-v0" observes .*, which cannot be flattened'):
        _ = Spaces(odd, ONE, "Long-v0").observation_size
    both = spaces.Tuple((ONE, odd))
    with pytest.raises(BadRequest, match=r"cannot be flattened.*filter_keys=\[0\]"):
        _ = Spaces(both, ONE, "Long-v0").observation_size


@pytest.mark.parametrize(
    "space", [spaces.Box(0, 9, (2,), np.int64), spaces.Text(3)], ids=["integers", "text"]
)
def test_actions_no_policy_can_serve_are_refused(space):
    with pytest.raises(BadRequest) as caught:
        _ = Spaces(ONE, space, "Odd-v0").head
    assert str(space) in str(caught.value)
    assert "ActionWrapper" in str(caught.value)


def test_numbers_have_their_bounds_and_choices_their_first_option():
    box = form_of(spaces.Box(-2.0, np.array([[1.0], [3.0]]), dtype=np.float64))
    assert (box.kind, box.shape, box.least.tolist()) == (DOUBLE, (2, 1), [-2, -2])
    assert box.most.tolist() == [1, 3]
    assert form_of(spaces.Box(-1.0, 1.0, (3,))).kind == FLOAT
    choice = form_of(spaces.Discrete(4, start=2))
    assert (choice.kind, choice.shape, choice.least.tolist()) == (CHOICE, (), [2])
    assert form_of(spaces.MultiDiscrete([2, 3])).least.tolist() == [0, 0]


def test_what_compiled_code_cannot_write_has_no_kind():
    assert form_of(None).kind == form_of(spaces.Box(0, 9, (2,), np.int32)).kind == 0
    assert form_of(spaces.MultiBinary(2)).kind == 0
