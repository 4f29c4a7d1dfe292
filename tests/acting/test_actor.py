"""The NumPy actor against the policy in jax."""

import jax
import numpy as np
import pytest
import scipy.stats

from mppo.acting.actor import Actor
from mppo.algorithm.filters import Filter
from mppo.algorithm.heads import Categorical, Gaussian, Product
from mppo.algorithm.networks import Mlp
from mppo.algorithm.policies import Architecture, Policy
from mppo.algorithm.surrogate import statistics
from mppo.machine.seeding import Role, generator

HEADS = [
    Gaussian(2),
    Categorical((3,)),
    Categorical((2, 3)),
    Product((Gaussian(2), Categorical((3,)), Gaussian(1))),
]


def make(head, activation="tanh", filtered=True, size=1.0):
    """A policy with random weights, and observations far from standard."""
    rng = np.random.default_rng(0)
    architecture = Architecture(4, head, Mlp((8, 5), activation), filtered)
    shapes = jax.eval_shape(architecture.init, jax.random.key(0)).parameters
    draw = lambda leaf: size * rng.normal(size=leaf.shape).astype(np.float32)
    mean, spread = np.array([0, 5, -3, 100], np.float32), np.array([1, 2, 0.1, 30], np.float32)
    seen = Filter(np.float32(50), mean, 50 * spread**2)
    observations = mean + spread * rng.normal(size=(20, 4)).astype(np.float32) * 3
    return architecture, Policy(jax.tree.map(draw, shapes), seen), observations


def modes(head, stats):
    """The most likely action, read off the statistics."""
    return head.act(np.asarray(stats), np.zeros((len(stats), head.outputs), np.float32))


@pytest.mark.parametrize("filtered", [True, False])
@pytest.mark.parametrize("activation", ["tanh", "relu", "elu", "silu"])
def test_outputs_are_those_of_the_policy(activation, filtered):
    architecture, policy, observations = make(Gaussian(2), activation, filtered, 0.5)
    if not filtered:
        observations = observations / 30
    wanted = statistics(architecture, policy, observations)[:, :2]
    actor = Actor(architecture, policy)
    found = actor.outputs(observations)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    single = np.array([actor.outputs(one) for one in observations])
    np.testing.assert_allclose(single, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("head", HEADS, ids=repr)
def test_without_noise_it_takes_the_mode(head):
    architecture, policy, observations = make(head)
    stats = statistics(architecture, policy, observations)
    actor = Actor(architecture, policy)
    np.testing.assert_allclose(actor.act(observations, None), modes(head, stats), atol=1e-4)
    for one, wanted in zip(observations, modes(head, stats), strict=True):
        action = actor.act(one, None)
        assert (action.shape, action.dtype) == ((head.size,), np.float32)
        np.testing.assert_allclose(action, wanted, atol=1e-4)


@pytest.mark.parametrize("head", HEADS, ids=repr)
def test_noise_is_used_as_the_head_does(head):
    """The actor scales noise ahead; the head scales it at the action: the same samples."""
    architecture, policy, observations = make(head)
    stats = np.asarray(statistics(architecture, policy, observations))
    drawn = head.noise(generator(3, Role.ACTIONS, 1), (20,))
    actor = Actor(architecture, policy)
    noise = actor.noise(generator(3, Role.ACTIONS, 1), 20)
    wanted = head.act(stats, drawn)
    np.testing.assert_allclose(actor.act(observations, noise), wanted, rtol=1e-4, atol=1e-4)
    singles = [actor.act(o, n) for o, n in zip(observations, noise, strict=True)]
    np.testing.assert_allclose(singles, wanted, rtol=1e-4, atol=1e-4)


def test_samples_have_the_policy_s_distribution():
    architecture, policy, observations = make(Gaussian(1))
    mean, log_std = np.asarray(statistics(architecture, policy, observations[:1]))[0]
    actor = Actor(architecture, policy)
    noise = actor.noise(np.random.default_rng(5), 5000)
    actions = actor.act(np.repeat(observations[:1], 5000, axis=0), noise)[:, 0]
    assert scipy.stats.kstest(actions, scipy.stats.norm(mean, np.exp(log_std)).cdf).pvalue > 0.01


def test_a_snapshot_does_not_change_what_it_is_given():
    architecture, policy, observations = make(Gaussian(2))
    before = observations.copy()
    Actor(architecture, policy).act(observations, None)
    np.testing.assert_array_equal(observations, before)


@pytest.mark.parametrize("activation", ["tanh", "relu", "elu", "silu"])
def test_large_weights_raise_no_warnings(activation):
    """A saturated network is no reason to stop a run (warnings are errors here)."""
    architecture, policy, observations = make(Gaussian(2), activation, True, 60.0)
    assert np.isfinite(Actor(architecture, policy).act(observations, None)).all()


@pytest.mark.parametrize("activation", ["tanh", "relu", "elu", "silu"])
@pytest.mark.parametrize("head", [HEADS[0], HEADS[3]], ids=repr)
def test_one_observation_and_a_stack_give_the_same_bits(head, activation):
    architecture, policy, observations = make(head, activation, True, 0.3)
    actor = Actor(architecture, policy)
    noise = actor.noise(np.random.default_rng(0), len(observations))
    together = actor.act(observations, noise)
    for n, observation in enumerate(observations):
        np.testing.assert_array_equal(actor.act(observation, noise[n]), together[n])
