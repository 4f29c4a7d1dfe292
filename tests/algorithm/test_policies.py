"""A policy's statistics, with and without the filter."""

import jax
import jax.numpy as jnp
import numpy as np

from mppo.algorithm import filters
from mppo.algorithm.heads import Gaussian
from mppo.algorithm.networks import Layer, Mlp
from mppo.algorithm.policies import Architecture, Parameters, Policy

LINEAR = Architecture(1, Gaussian(1), Mlp(()))


def linear(weight, bias, log_std, mean=0.0, variance=1.0):
    """mean action = weight * filtered observation + bias."""
    layer = Layer(jnp.array([[weight]]), jnp.array([bias]))
    seen = filters.Filter(jnp.array(1.0), jnp.array([mean]), jnp.array([variance]))
    return Policy(Parameters((layer,), jnp.array([log_std])), seen)


def test_statistics_by_hand():
    # filtered: (7 - 3) / 2 = 2, then 10 * 2 + 1 = 21
    policy = linear(10.0, 1.0, -0.5, mean=3.0, variance=4.0)
    np.testing.assert_allclose(LINEAR.statistics(policy, jnp.array([7.0])), [21.0, -0.5])


def test_unfiltered_policies_ignore_the_filter():
    unfiltered = Architecture(1, Gaussian(1), Mlp(()), filtered=False)
    policy = linear(10.0, 1.0, -0.5, mean=3.0, variance=4.0)
    np.testing.assert_allclose(unfiltered.statistics(policy, jnp.array([7.0])), [71.0, -0.5])


def test_log_prob_by_hand():
    # standard normal at distance 2: -0.5 * 4 - 0.5 log(2 pi) = -2.9189
    found = LINEAR.log_prob(linear(1.0, 0.0, 0.0), jnp.array([1.0]), jnp.array([3.0]))
    assert round(float(found), 4) == -2.9189


def test_first_policies_are_nearly_alike():
    """All mean actions near 0 and standard deviations of 1, whatever the key."""
    architecture = Architecture(4, Gaussian(2))
    x = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    for key in (0, 1):
        policy = architecture.init(jax.random.key(key))
        found = jax.vmap(architecture.statistics, (None, 0))(policy, x)
        assert np.abs(found[:, :2]).max() < 0.1
        assert not np.any(found[:, 2:])
