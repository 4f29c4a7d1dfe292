"""Line 7: the value regression."""

from functools import lru_cache, partial

import jax
import numpy as np
import pytest

from mppo.algorithm import filters
from mppo.algorithm.critic import Critic
from mppo.algorithm.networks import Mlp
from tests.oracles import assert_same_bits

LINEAR = Critic(epochs=20, minibatch=32, learning_rate=0.02, network=Mlp(()), filtered=False)
SMALL = Critic(epochs=20, minibatch=32, learning_rate=1e-2, network=Mlp((16,)))


@lru_cache
def parts(critic):
    return (
        jax.jit(partial(critic.init, observation_size=2)),
        jax.jit(critic.values),
        jax.jit(critic.fit),
    )


def data(seed=0, n=128):
    return np.random.default_rng(seed).normal(size=(n, 2)).astype(np.float32)


def test_learns_a_linear_function():
    init, values, fit = parts(LINEAR)
    x = data()
    targets = 3 * x[:, 0] - 2 * x[:, 1] + 1
    value = init(jax.random.key(0))
    for n in range(6):
        value, loss = fit(value, x, targets, jax.random.key(n))
    assert float(loss) < 1e-4
    (layer,) = value.network
    np.testing.assert_allclose(layer.weights[:, 0], [3, -2], atol=0.02)
    np.testing.assert_allclose(layer.biases, [1], atol=0.02)
    fresh = data(1)
    np.testing.assert_allclose(
        values(value, fresh), 3 * fresh[:, 0] - 2 * fresh[:, 1] + 1, atol=0.1
    )


def test_loss_falls_on_a_curve():
    init, values, fit = parts(SMALL)
    x = data(2)
    targets = np.sin(2 * x[:, 0]) * x[:, 1]
    value, losses = init(jax.random.key(1)), []
    before = float(np.mean((values(value, x) - targets) ** 2))
    for n in range(4):
        value, loss = fit(value, x, targets, jax.random.key(n))
        losses.append(float(loss))
    after = float(np.mean((values(value, x) - targets) ** 2))
    assert losses == sorted(losses, reverse=True)
    assert after < 0.2 * before
    assert after == pytest.approx(losses[-1], rel=0.3)


def test_reported_loss_is_that_of_the_last_pass():
    """A learning rate of zero leaves the loss of every pass the plain mean squared error."""
    still = Critic(epochs=3, minibatch=32, learning_rate=0.0, network=Mlp(()))
    init, values, fit = parts(still)
    x, value = data(3), init(jax.random.key(2))
    targets = x[:, 0]
    fitted, loss = fit(value, x, targets, jax.random.key(0))
    assert float(loss) == pytest.approx(float(np.mean((values(value, x) - targets) ** 2)), rel=1e-5)
    assert_same_bits(fitted.network, value.network)


def test_values_of_any_leading_shape():
    init, values, _ = parts(SMALL)
    value = init(jax.random.key(3))
    x = data(4, 6)
    flat = values(value, x)
    assert flat.shape == (6,)
    np.testing.assert_allclose(values(value, x.reshape(2, 3, 2)), flat.reshape(2, 3), rtol=1e-5)
    np.testing.assert_allclose(values(value, x[0]), flat[0], rtol=1e-5)


def test_filter_stands_between_observation_and_network():
    init, values, _ = parts(SMALL)
    value = init(jax.random.key(4))
    x = data(5)
    moved = value._replace(filter=filters.update(value.filter, 10 + 3 * x))
    mean, std = np.asarray(moved.filter.mean), np.asarray(filters.scale(moved.filter))
    standard = (10 + 3 * x - mean) / std
    np.testing.assert_allclose(
        values(moved, 10 + 3 * x), values(value, standard.clip(-5, 5)), rtol=1e-3, atol=1e-4
    )


def test_moments_go_on():
    init, _, fit = parts(LINEAR)
    x = data()
    value, _ = fit(init(jax.random.key(0)), x, x[:, 0], jax.random.key(0))
    value, _ = fit(value, x, x[:, 0], jax.random.key(1))
    counts = [int(leaf) for leaf in jax.tree.leaves(value.optimiser) if leaf.ndim == 0]
    assert counts == [2 * 20 * 128 // 32]


def test_a_clipped_fit_stays_near_the_values_before():
    """Full batches of one target above all values: beyond the clip the gradient is zero."""
    for clip, moved in ((0.5, 0.5), (0.0, 3.0)):
        critic = Critic(
            epochs=400, minibatch=64, learning_rate=2e-2, network=Mlp(()), filtered=False, clip=clip
        )
        init, values, fit = parts(critic)
        value, x = init(jax.random.key(0)), np.zeros((64, 2), np.float32)
        before = values(value, x)
        fitted, _ = fit(value, x, before + 3, jax.random.key(1))
        change = np.asarray(values(fitted, x) - before)
        np.testing.assert_allclose(change, moved, atol=0.3)
        assert (change >= clip).all()


def test_the_clipped_loss_is_the_larger_one():
    """Before the first step, V is that of before: both losses are 2^2."""
    critic = Critic(epochs=1, minibatch=8, learning_rate=1e-9, network=Mlp(()), clip=0.2)
    init, values, fit = parts(critic)
    value, x = init(jax.random.key(0)), data(5, 8)
    targets = np.asarray(values(value, x)) + 2
    _, loss = fit(value, x, targets, jax.random.key(1))
    assert float(loss) == pytest.approx(4.0, rel=1e-4)
