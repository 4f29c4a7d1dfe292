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
from mppo.algorithm.styles import ALIKE, Style
from mppo.errors import BadRequest
from mppo.machine.seeding import Role, generator
from tests.acting.test_spaces import ACTIONS, OBSERVATIONS

BOX = spaces.Box(-1, 1, (2,), np.float32)


def agent(observation, action, seed=0, clip=True, style=ALIKE):
    there = Spaces(observation, action)
    architecture = Architecture(there.observation_size, there.head, Mlp((3,)))
    shapes = jax.eval_shape(architecture.init, jax.random.key(0))
    rng = np.random.default_rng(0)
    policy = jax.tree.map(lambda x: rng.uniform(0.5, 1, x.shape).astype(np.float32), shapes)
    return Agent(SimpleNamespace(), there, architecture, policy, seed, clip, 0, style)


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


RHO = 0.9
PERSISTENT = Style(persistence=RHO, choice_persistence=RHO)


def noise_of(acting, actions, observations):
    """What was added to the means, in standard deviations."""
    means, _ = acting.predict(observations, deterministic=True)
    return (actions - means) / np.exp(acting.policy.parameters.free)


def test_own_noise_goes_on_from_the_state_that_was_handed_back():
    """z' = rho z + sqrt(1 - rho^2) e, with e of the agent's own stream, environment by itself."""
    acting = agent(BOX, BOX, seed=3, clip=False, style=PERSISTENT)
    stream, seen = generator(3, Role.PREDICTION), np.zeros((2, 2), np.float32)
    state, wanted = None, None
    for _ in range(4):
        actions, state = acting.predict(seen, state, own_noise=True)
        fresh = np.concatenate([stream.standard_normal((1, 2)) for _ in range(2)])
        wanted = fresh if wanted is None else RHO * wanted + np.sqrt(1 - RHO**2) * fresh
        np.testing.assert_allclose(state, wanted, rtol=1e-12)
        np.testing.assert_allclose(noise_of(acting, actions, seen), wanted, rtol=1e-4, atol=1e-5)


def test_own_noise_begins_anew_with_an_episode():
    acting = agent(BOX, BOX, seed=3, clip=False, style=PERSISTENT)
    far = np.full((2, 2), 100.0)
    _, state = acting.predict(np.zeros((2, 2)), far, [True, False], own_noise=True)
    assert np.abs(state[0]).max() < 10  # begun anew
    assert state[1].min() > 0.9 * 100 - 10
    assert (far == 100).all()  # what was handed in is not written to
    _, state = acting.predict(np.zeros((2, 2)), far, True, own_noise=True)
    assert np.abs(state).max() < 10


def test_own_noise_of_a_single_observation():
    acting = agent(BOX, BOX, clip=False, style=PERSISTENT)
    _, first = acting.predict(np.zeros(2), own_noise=True)
    action, state = acting.predict(np.zeros(2), first, own_noise=True)
    assert (action.shape, state.shape) == ((2,), (1, 2))
    with pytest.raises(BadRequest, match=r"state has the shape \(1, 2\).*3 observations.*\(3, 2\)"):
        acting.predict(np.zeros((3, 2)), state, own_noise=True)


@pytest.mark.parametrize("name", ACTIONS)
def test_own_noise_gives_actions_of_every_space(name):
    action, _ = ACTIONS[name]
    acting, state = agent(BOX, action, style=PERSISTENT), None
    for _ in range(3):
        found, state = acting.predict(BOX.sample(), state, own_noise=True)
        assert action.contains(found)
    assert np.isfinite(state).all()


def test_white_and_certain_actions_are_what_they_were():
    white = agent(BOX, BOX, seed=5)
    wanted = agent(BOX, BOX, seed=5).predict(np.zeros((4, 2)))[0]
    found, state = white.predict(np.zeros((4, 2)), "kept", own_noise=True)
    np.testing.assert_array_equal(found, wanted)
    assert state == "kept"
    persistent = agent(BOX, BOX, seed=5, style=PERSISTENT)
    found, state = persistent.predict(np.zeros((4, 2)), "kept")  # white unless asked
    np.testing.assert_array_equal(found, wanted)
    assert state == "kept"
    certain = [persistent.predict(np.zeros(2), None, None, True, own)[0] for own in (True, False)]
    np.testing.assert_array_equal(*certain)
