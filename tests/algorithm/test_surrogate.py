"""Eq. (1), KL and entropy over a batch, and the readings of line 10."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mppo.algorithm import surrogate
from mppo.algorithm.heads import Gaussian
from mppo.algorithm.networks import Mlp
from mppo.algorithm.policies import Architecture
from mppo.algorithm.types import Batch

ARCHITECTURE = Architecture(3, Gaussian(2), Mlp((4,)))


@pytest.fixture(scope="module")
def policies():
    init = jax.jit(ARCHITECTURE.init)
    first, other = init(jax.random.key(0)), init(jax.random.key(1))
    network = jax.tree.map(lambda a, b: a + 0.3 * b, first.parameters, other.parameters)
    moved = first._replace(parameters=network._replace(free=jnp.array([0.2, -0.1])))
    return first, moved


@pytest.fixture(scope="module")
def batch(policies):
    rng = np.random.default_rng(0)
    observations = rng.normal(size=(40, 3)).astype(np.float32)
    stats = surrogate.statistics(ARCHITECTURE, policies[0], observations)
    actions = np.asarray(stats[:, :2]) + rng.normal(size=(40, 2)).astype(np.float32)
    raw = (3 + 2 * rng.normal(size=40)).astype(np.float32)
    log_probs = surrogate.log_probs(ARCHITECTURE, stats, actions)
    standard = (raw - raw.mean()) / raw.std()
    return Batch(observations, actions, stats, log_probs, standard, raw)


def test_ratio_of_an_unchanged_policy_is_exactly_one(policies, batch):
    found = surrogate.ratios(ARCHITECTURE, policies[0], batch)
    np.testing.assert_array_equal(found, np.ones(40))
    assert float(surrogate.mean_kl(ARCHITECTURE, policies[0], batch)) == 0.0


def test_ratios_one_by_one(policies, batch):
    first, moved = policies
    log_prob = jax.jit(ARCHITECTURE.log_prob)
    wanted = [
        np.exp(float(log_prob(moved, o, a)) - float(log_prob(first, o, a)))
        for o, a in zip(batch.observations, batch.actions, strict=True)
    ]
    found = surrogate.ratios(ARCHITECTURE, moved, batch)
    np.testing.assert_allclose(found, wanted, rtol=1e-4)


def test_mean_kl_is_of_the_old_from_the_new(policies, batch):
    first, moved = policies
    stats, kl = jax.jit(ARCHITECTURE.statistics), jax.jit(ARCHITECTURE.head.kl)
    one_by_one = [
        (kl(stats(first, o), stats(moved, o)), kl(stats(moved, o), stats(first, o)))
        for o in batch.observations[:8]
    ]
    old_new, new_old = np.mean(one_by_one, axis=0)
    part = jax.tree.map(lambda leaf: leaf[:8], batch)
    found = float(surrogate.mean_kl(ARCHITECTURE, moved, part))
    assert found == pytest.approx(old_new, rel=1e-4)
    assert abs(found - new_old) > 1e-3  # the other direction is another number


def test_mean_entropy_of_a_gaussian_needs_no_states(policies, batch):
    # 0.2 - 0.1 + 2 * 0.5 * (log(2 pi) + 1) = 0.1 + 2.8379
    found = surrogate.mean_entropy(ARCHITECTURE, policies[1], batch.observations)
    assert float(found) == pytest.approx(2.9379, abs=1e-4)


def test_readings_of_the_gain(policies, batch):
    moved = policies[1]
    ratio = np.asarray(surrogate.ratios(ARCHITECTURE, moved, batch), np.float64)
    raw, standard = batch.raw_advantages, batch.advantages
    wanted = {
        "none": 0.0,
        "literal": np.mean(ratio * raw),
        "centred": np.mean((ratio - 1) * raw),
        "return-units": 25 * np.mean((ratio - 1) * raw),
        "standardised": np.mean(ratio * standard),
    }
    for reading, number in wanted.items():
        found = surrogate.performance_gain(reading, ARCHITECTURE, moved, batch, jnp.asarray(25.0))
        assert float(found) == pytest.approx(number, rel=1e-4, abs=1e-6), reading


def test_gain_of_a_refused_step_is_the_mean_advantage(policies, batch):
    """Literally, Eq. (1) of an unchanged policy is mean(A), not 0 (facts 5.4)."""
    gain = lambda reading: float(
        surrogate.performance_gain(reading, ARCHITECTURE, policies[0], batch, jnp.asarray(9.0))
    )
    assert gain("literal") == pytest.approx(batch.raw_advantages.mean(), rel=1e-6)
    assert gain("centred") == gain("return-units") == 0.0
