"""The network against a plain loop, and its first weights."""

from dataclasses import dataclass, replace

import jax
import numpy as np
import pytest

import mppo
from mppo.acting.actor import Actor
from mppo.algorithm.heads import Gaussian
from mppo.algorithm.networks import Layer, Mlp
from mppo.algorithm.policies import Architecture
from mppo.errors import BadRequest, SlowPath
from mppo.files.settings import to_json
from tests.worlds import SMALL, ledge

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


@dataclass(frozen=True)
class Foreign:
    """The same network, as if it were somebody else's."""

    inner: Mlp = Mlp((16,))

    def init(self, key, inputs, outputs, output_scale=1.0):
        layers = self.inner.init(key, inputs, outputs, output_scale)
        return {f"layer{n}": layer for n, layer in enumerate(layers)}

    def apply(self, parameters, x):
        return self.inner.apply(tuple(parameters.values()), x)


@pytest.mark.parametrize("filtered", [True, False])
def test_a_network_of_one_s_own_acts_like_the_same_one_of_ours(filtered):
    """By a call of XLA in place of the compiled loop: for one observation and for a stack."""
    head = Gaussian(2)
    ours, theirs = (Architecture(3, head, net, filtered) for net in (Mlp((16,)), Foreign()))
    policy, foreign = ours.init(jax.random.key(1)), theirs.init(jax.random.key(1))
    one, other = Actor(ours, policy), Actor(theirs, foreign)
    seen = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
    noise = one.noise(np.random.default_rng(1), 6)
    np.testing.assert_allclose(other.act(seen, noise), one.act(seen, noise), atol=1e-6)
    np.testing.assert_allclose(other.act(seen[0], None), one.act(seen[0], None), atol=1e-6)


def test_a_network_of_one_s_own_is_recorded_and_said_to_be_slow(tmp_path):
    """examples/own_network.py trains two."""
    method = replace(SMALL["trpo"], network=Foreign())
    with pytest.warns(
        SlowPath, match="Foreign is not an Mlp.*slower than the compiled loop of an Mlp"
    ):
        agent = mppo.MPPO(ledge, method, seed=3, eval_every=0)
    assert to_json(method)["network"]["kind"] == "tests.algorithm.test_networks:Foreign"
    file = agent.save(tmp_path / "model")
    with pytest.raises(BadRequest, match="not imported"):
        mppo.MPPO.load(file, ledge)
    with pytest.warns(SlowPath):
        loaded = mppo.MPPO.load(file, ledge, allow_imports=True)
    assert loaded.run.digest() == agent.run.digest()
    assert loaded.predict(np.zeros(1)) == agent.predict(np.zeros(1))


@pytest.mark.parametrize("hidden", [64, "64", (8, 0.5), (None,), ("x",)])
def test_layers_that_are_no_whole_numbers_are_refused(hidden):
    with pytest.raises(ValueError, match="give a whole number for each layer"):
        Mlp(hidden=hidden)
