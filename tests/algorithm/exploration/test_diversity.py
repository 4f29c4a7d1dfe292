"""Diversity-driven exploration: distances, weights, the ring of predecessors."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mppo.algorithm.exploration.diversity import Diversity
from mppo.algorithm.filters import Filter
from mppo.algorithm.heads import Gaussian
from mppo.algorithm.networks import Layer, Mlp
from mppo.algorithm.policies import Architecture, Parameters, Policy
from mppo.algorithm.population import member
from tests.oracles import all_finite
from tests.worlds import random_trajectories

LINEAR = Architecture(1, Gaussian(1), Mlp(()))
THREE = Diversity(weight=0.5, priors=3)


def policy(mean, log_std=0.0):
    """Always the same mean action; KL of two with deviation 1 is half their distance squared."""
    layer = Layer(jnp.zeros((1, 1)), jnp.array([mean]))
    seen = Filter(jnp.array(1.0), jnp.zeros(1), jnp.ones(1))
    return Policy(Parameters((layer,), jnp.array([log_std])), seen)


SEEN = random_trajectories(0, 2, 8, 1, LINEAR.head)
update = jax.jit(lambda state, p, J: THREE.update(LINEAR, state, p, J, SEEN, jax.random.key(0)))
init = jax.jit(partial(THREE.init, LINEAR))
observations = SEEN.observations.reshape(-1, 1)


def after(*means_and_returns):
    state = init(jax.random.key(0))
    for mean, achieved in means_and_returns:
        state, _ = update(state, policy(mean), jnp.asarray(achieved))
    return state


def test_no_predecessors_no_bonus_and_a_gradient_that_is_finite():
    """The first iteration must be that of the base optimiser: value 0 and gradient 0."""
    bonus = THREE.bonus(LINEAR, init(jax.random.key(0)))
    value, gradient = jax.value_and_grad(
        lambda parameters: bonus(Policy(parameters, policy(0.0).filter), observations)
    )(policy(0.3).parameters)
    assert float(value) == 0.0
    assert all_finite(gradient)
    assert all(not np.any(leaf) for leaf in jax.tree.leaves(gradient))


def test_distances_by_hand():
    # predecessors at 1 and 3, policy at 0: 0.5, and 4.5 which counts as 1; the third place is empty
    state = after((1.0, 0.0), (3.0, 0.0))
    found = THREE.distances(LINEAR, state, policy(0.0), observations)
    np.testing.assert_allclose(found, [0.5, 1.0, 0.0], rtol=1e-5)


def test_distance_is_of_the_predecessor_from_the_policy():
    # deviations e^0.5 and 1: KL = -0.5 + e / 2 - 0.5 = 0.3591; the other way it would be 0.1839
    state, _ = update(init(jax.random.key(0)), policy(0.0, 0.5), jnp.asarray(0.0))
    found = THREE.distances(LINEAR, state, policy(0.0), observations)
    np.testing.assert_allclose(found, [np.e / 2 - 1, 0, 0], rtol=1e-4)


def test_bonus_by_hand():
    # reactive: returns 0 and 10 -> weights 1 and 0; weight 0.5, half of it for two predecessors;
    # the second update finds a distance of 1 > 0.05 and lowers the weight by 1 %
    state = after((1.0, 0.0), (3.0, 10.0))
    assert float(state.weight) == pytest.approx(0.5 * 0.99)
    found = THREE.bonus(LINEAR, state)(policy(0.0), observations)
    assert float(found) == pytest.approx(0.5 * 0.99 / 2 * 0.5, rel=1e-5)


def test_gradient_pushes_away_from_predecessors():
    bonus = THREE.bonus(LINEAR, after((0.0, 0.0)))
    slope = jax.grad(lambda p: bonus(Policy(p, policy(0.0).filter), observations))
    biases = lambda mean: float(slope(policy(mean).parameters).network[0].biases[0])
    assert biases(0.5) > 0.1
    assert biases(-0.5) < -0.1


@pytest.mark.parametrize(
    ("by", "weights"),
    [("equal", [1, 1, 0]), ("reactive", [1, 0, 0]), ("proactive", [1, -1, 0])],
)
def test_weights_by_performance(by, weights):
    state = after((1.0, 0.0), (3.0, 10.0))
    found = Diversity(priors=3, by_performance=by).weights(state)
    np.testing.assert_array_equal(found, weights)


def test_equal_returns_weigh_alike():
    """Before any reward all predecessors count, in either rule."""
    for by in ("reactive", "proactive"):
        found = Diversity(priors=3, by_performance=by).weights(after((1.0, 0.0), (2.0, 0.0)))
        np.testing.assert_array_equal(found, [1, 1, 0])


def test_ring_keeps_the_most_recent():
    state = after((0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (3.0, 3.0))
    means = [float(member(state.policies, n).parameters.network[0].biases[0]) for n in range(3)]
    assert means == [3.0, 1.0, 2.0]
    np.testing.assert_array_equal(state.performance, [3.0, 1.0, 2.0])
    assert int(state.count) == 4


def test_weight_follows_the_distance():
    """Down by 1 % above the wanted distance of 0.05, up by 1 % below, still before there is any."""
    assert float(after((0.0, 0.0)).weight) == 0.5
    assert float(after((0.0, 0.0), (1.0, 0.0)).weight) == pytest.approx(0.5 * 0.99)
    assert float(after((0.0, 0.0), (0.1, 0.0)).weight) == pytest.approx(0.5 * 1.01)
    constant = Diversity(weight=0.5, priors=3, scaling="constant")
    still, _ = constant.update(
        LINEAR, after((0.0, 0.0)), policy(1.0), jnp.asarray(0.0), SEEN, jax.random.key(0)
    )
    assert float(still.weight) == 0.5


def test_rewards_stay_what_they_are():
    np.testing.assert_array_equal(THREE.reward(LINEAR, after(), SEEN), SEEN.rewards)
