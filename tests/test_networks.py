"""The network against a plain loop, and its first weights."""

import jax
import numpy as np
import pytest

from mppo.networks import Layer, Mlp

PLAIN = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "silu": lambda x: x / (1 + np.exp(-x)),
}

LAYERS = Mlp((5, 4)).init(jax.random.key(0), 3, 2)


@pytest.mark.parametrize("activation", PLAIN)
def test_apply_is_the_plain_loop(activation):
    network = Mlp((5, 4), activation)
    layers = LAYERS
    x = np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32)
    wanted = x
    for layer in layers[:-1]:
        wanted = PLAIN[activation](wanted @ np.array(layer.weights) + np.array(layer.biases))
    wanted = wanted @ np.array(layers[-1].weights) + np.array(layers[-1].biases)
    np.testing.assert_allclose(
        jax.jit(jax.vmap(network.apply, (None, 0)))(layers, x), wanted, atol=1e-6
    )


def test_biases_are_added():
    layers = (Layer(np.zeros((1, 2), np.float32), np.array([1.0, 2.0], np.float32)),)
    np.testing.assert_array_equal(Mlp(()).apply(layers, np.zeros(1, np.float32)), [1.0, 2.0])


def test_normc_columns_have_the_length_asked_for():
    """The appendix's network: 64-64, with the last layer's columns of length `output_scale`."""
    layers = Mlp().init(jax.random.key(1), 11, 3, 0.01)
    assert [layer.weights.shape for layer in layers] == [(11, 64), (64, 64), (64, 3)]
    for layer, length in zip(layers, (1.0, 1.0, 0.01), strict=True):
        np.testing.assert_allclose(np.linalg.norm(layer.weights, axis=0), length, rtol=1e-5)
        assert not np.any(layer.biases)


def test_orthogonal_columns_are_orthogonal():
    layers = Mlp((6,), weights="orthogonal").init(jax.random.key(2), 8, 2, 0.01)
    for layer, size in zip(layers, (2.0, 1e-4), strict=True):
        product = np.array(layer.weights).T @ np.array(layer.weights)
        np.testing.assert_allclose(product, size * np.eye(len(product)), atol=1e-5 * size)


def test_keys_give_different_networks():
    one, other = (Mlp((4,)).init(jax.random.key(k), 3, 2) for k in (0, 1))
    assert not np.allclose(one[0].weights, other[0].weights)
    assert not np.allclose(one[0].weights[:2, :2], one[1].weights[:2, :2])
