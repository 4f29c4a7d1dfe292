"""`predict` for every kind of space, single and stacked."""

from types import SimpleNamespace

import jax
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array

from mppo.acting.agent import Agent
from mppo.acting.spaces import Spaces
from mppo.algorithm.networks import Mlp
from mppo.algorithm.policies import Architecture
from mppo.errors import BadRequest
from tests.acting.test_spaces import ACTIONS, OBSERVATIONS

BOX = spaces.Box(-1, 1, (2,), np.float32)


def agent(observation, action, seed=0, clip=True):
    there = Spaces(observation, action)
    architecture = Architecture(there.observation_size, there.head, Mlp((3,)))
    shapes = jax.eval_shape(architecture.init, jax.random.key(0))
    rng = np.random.default_rng(0)
    policy = jax.tree.map(lambda x: rng.uniform(0.5, 1, x.shape).astype(np.float32), shapes)
    return Agent(SimpleNamespace(), there, architecture, policy, seed, clip)


def stack(space, samples):
    return concatenate(space, samples, create_empty_array(space, len(samples)))


@pytest.mark.parametrize("name", ACTIONS)
def test_actions_belong_to_the_space(name):
    action, _ = ACTIONS[name]
    acting = agent(BOX, action)
    for deterministic in (False, True):
        found, state = acting.predict(BOX.sample(), deterministic=deterministic)
        assert action.contains(found)
        assert state is None
    many, _ = acting.predict(np.zeros((4, 2), np.float32))
    assert batch_space(action, 4).contains(many)


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_observations_of_every_space(name):
    """A stack is each by itself, with the most likely actions."""
    observation, _ = OBSERVATIONS[name]
    acting = agent(observation, BOX)
    observation.seed(0)
    samples = [observation.sample() for _ in range(3)]
    singles = [acting.predict(one, deterministic=True)[0] for one in samples]
    together, _ = acting.predict(stack(observation, samples), deterministic=True)
    assert together.shape == (3, 2)
    np.testing.assert_allclose(together, singles, rtol=1e-5, atol=1e-6)


def test_double_precision_observations_are_single_ones():
    """Many environments give float64 where their space says float32."""
    acting = agent(spaces.Dict({"p": spaces.Box(-9, 9, (2,), np.float32)}), BOX)
    wanted, _ = acting.predict({"p": np.array([0.5, 1.0], np.float32)}, deterministic=True)
    found, _ = acting.predict({"p": np.array([0.5, 1.0])}, deterministic=True)
    assert found.shape == (2,)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_observations_outside_the_bounds_are_single_ones():
    acting = agent(spaces.Dict({"p": spaces.Box(-1, 1, (2,), np.float32)}), BOX)
    found, _ = acting.predict({"p": np.array([1.5, 0.0], np.float32)}, deterministic=True)
    assert found.shape == (2,)


def test_plain_lists_will_do():
    found, _ = agent(BOX, BOX).predict([0.5, 1.0], deterministic=True)
    assert found.shape == (2,)


def test_wrong_shapes_are_named():
    with pytest.raises(BadRequest, match=r"shape \(3,\).*trained on \(2,\)"):
        agent(BOX, BOX).predict(np.zeros(3))


def test_state_is_handed_back():
    _, state = agent(BOX, BOX).predict(np.zeros(2), state="kept")
    assert state == "kept"


def test_seeds_decide_the_samples():
    draw = lambda seed: agent(BOX, BOX, seed).predict(np.zeros((5, 2)))[0]
    np.testing.assert_array_equal(draw(1), draw(1))
    assert not np.array_equal(draw(1), draw(2))
    acting = agent(BOX, BOX)
    assert not np.array_equal(acting.predict(np.zeros(2))[0], acting.predict(np.zeros(2))[0])


def test_clipping_as_in_training():
    small = spaces.Box(-0.01, 0.01, (2,), np.float32)
    assert np.abs(agent(BOX, small).predict(np.ones((9, 2)))[0]).max() <= 0.01
    assert np.abs(agent(BOX, small, clip=False).predict(np.ones((9, 2)))[0]).max() > 0.01


def test_spaces_are_shown():
    acting = agent(BOX, spaces.Discrete(3))
    assert (acting.observation_space, acting.action_space) == (BOX, spaces.Discrete(3))
