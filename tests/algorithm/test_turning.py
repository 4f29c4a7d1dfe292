"""Sines and cosines beside what is filtered: the sight of paths for which angles go round."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mppo.acting.actor import Actor
from mppo.acting.choosing import CHOSEN, Chooser
from mppo.algorithm import filters, iteration
from mppo.algorithm.critic import Critic
from mppo.algorithm.filters import Filter
from mppo.algorithm.heads import Gaussian
from mppo.algorithm.methods import Method
from mppo.algorithm.networks import Layer, Mlp, widened
from mppo.algorithm.paths import fresh_value, look, random_policy
from mppo.algorithm.policies import Architecture
from mppo.algorithm.population import member
from mppo.algorithm.styles import Style
from mppo.algorithm.surrogate import statistics

STYLES = (Style(), Style(filter="turning"), Style(filter="none"), Style(filter="folded"))
NETWORK = Mlp((6, 5))
METHOD = Method(paths=4, styles=STYLES, network=NETWORK, critic=Critic(network=Mlp((4,))))
SHAPE = Architecture(2, Gaussian(1), NETWORK, some_raw=True, some_turn=True)


def test_by_hand():
    seen = Filter(jnp.asarray(4.0), jnp.array([1.0]), jnp.array([16.0]), jnp.asarray(1.0))
    angle = jnp.array([3.0])  # one standard deviation of 2 from the mean
    wanted = [1.0, np.sin(3.0), np.cos(3.0)]
    np.testing.assert_allclose(filters.apply(seen, angle), wanted, rtol=1e-6)
    around = filters.apply(seen, angle + 2 * jnp.pi)  # a turn further: clipped, and the same place
    np.testing.assert_allclose(around, [4.14159, *wanted[1:]], rtol=1e-5)
    blind = seen._replace(turns=jnp.asarray(0.0))
    assert filters.apply(blind, angle).tolist() == [1.0, 0.0, 0.0]
    raw = blind._replace(count=jnp.asarray(filters.RAW))
    assert filters.apply(raw, angle, some_raw=True).tolist() == [3.0, 0.0, 0.0]
    assert filters.apply(seen._replace(turns=()), angle).tolist() == [1.0]


def test_a_network_is_widened_only_for_who_sees_more():
    layers = Mlp((64,)).init(jax.random.key(0), 3, 1)
    wide = partial(widened, layers, jax.random.key(1))
    blind, seeing = wide(jnp.asarray(0.0)), wide(jnp.asarray(1.0))
    assert blind[0].weights.shape == seeing[0].weights.shape == (9, 64)
    np.testing.assert_array_equal(blind[0].weights[:3], layers[0].weights)
    assert not blind[0].weights[3:].any()
    np.testing.assert_allclose(np.linalg.norm(seeing[0].weights, axis=0), 1.0, rtol=1e-5)
    sizes = np.square(seeing[0].weights).reshape(3, 3, 64).mean(axis=(1, 2))
    np.testing.assert_allclose(sizes, 1 / 9, rtol=0.1)  # no kind of input weighs more
    for made in (blind, seeing):
        assert made[1:] == layers[1:]


def drawn(number, seed=0):
    return jax.jit(partial(random_policy, METHOD, SHAPE))(number, jax.random.key(seed))


@pytest.mark.parametrize("number", range(4))
def test_paths_beside_a_turning_one_begin_as_ever(number):
    plain = replace(METHOD, styles=tuple(replace(s, filter="running") for s in STYLES))
    narrow = replace(SHAPE, some_turn=False)
    wanted = jax.jit(partial(random_policy, plain, narrow))(number, jax.random.key(0)).parameters
    found = drawn(number)
    assert float(found.filter.turns) == (number == 1)
    first, *others = found.parameters.network
    for one, other in zip(others, wanted.network[1:], strict=True):
        np.testing.assert_array_equal(one.weights, other.weights)
    factor = 3**0.5 if number == 1 else 1.0
    np.testing.assert_allclose(factor * first.weights[:2], wanted.network[0].weights, rtol=1e-6)
    assert bool(first.weights[2:].any()) == (number == 1)


@pytest.mark.parametrize("number", range(4))
def test_compiled_code_acts_as_the_policy_says(number):
    policy = drawn(number, seed=3)
    draw = lambda leaf: np.random.default_rng(leaf.size).normal(size=leaf.shape).astype("f")
    layers = jax.tree.map(draw, policy.parameters.network)
    if number != 1:  # what is not seen has no weight that matters: keep it at what it is
        layers = (
            layers[0]._replace(weights=layers[0].weights * [[1], [1], *[[0]] * 4]),
            *layers[1:],
        )
    layers = jax.tree.map(lambda leaf: leaf.astype("f"), layers)
    policy = policy._replace(parameters=policy.parameters._replace(network=layers))
    seen = np.random.default_rng(1).uniform(-9, 9, (30, 2)).astype("f")
    policy = jax.jit(partial(look, METHOD))(policy, number, seen, True)
    wanted = statistics(SHAPE, policy, seen)[:, :1]
    assert np.std(wanted) > 0.1
    actor = Actor(SHAPE, policy)
    np.testing.assert_allclose(actor.outputs(seen), wanted, rtol=1e-4, atol=2e-5)
    assert actor.network.sizes[0] == (6 if number == 1 else 2)  # nothing is paid for zeros
    now, one = np.zeros(2, "f"), np.zeros((1, 1), "f")
    chooser = Chooser(None, now, np.full(2, -99, "f"), np.full(2, 99, "f"))
    chooser.use(actor)
    rows = np.zeros((1, 2), "f")
    chooser.aim(np.zeros((1, 1), "f"), rows, one, np.zeros(1))
    chooser.room(0, 1, False)
    for observation in seen[:3]:
        now[:] = observation
        assert chooser.choose(chooser.address, 0, 0) == CHOSEN
        assert one.tobytes() == actor.outputs(observation).tobytes()


def test_a_folded_filter_leaves_the_weights_of_sines_alone():
    seen = Filter(jnp.asarray(4.0), jnp.zeros(1), jnp.array([4.0]), jnp.asarray(1.0))
    moved = seen._replace(mean=jnp.array([0.5]), deviations=jnp.array([16.0]))
    layer = Layer(jnp.array([[2.0], [3.0], [5.0]]), jnp.array([1.0]))
    found = filters.folded(layer, seen, moved)
    assert found.weights.tolist() == [[4.0], [3.0], [5.0]]
    assert found.biases.tolist() == [2.0]
    for x in (0.3, -1.0):
        before, after = (
            filters.apply(f, jnp.array([x])) @ one.weights + one.biases
            for f, one in ((seen, layer), (moved, found))
        )
        np.testing.assert_allclose(before, after, rtol=1e-6)


def test_v_sees_what_its_path_sees_and_one_for_all_sees_everything():
    key = jax.random.key(0)
    marks = lambda method: [
        float(fresh_value(method, SHAPE, jnp.asarray(n), key).filter.turns) for n in range(4)
    ]
    assert marks(replace(METHOD, value="independent")) == [0.0, 1.0, 0.0, 0.0]
    assert marks(METHOD) == [1.0] * 4
    state = jax.jit(partial(iteration.init, replace(METHOD, value="independent"), SHAPE))(key)
    assert state.values.filter.turns.tolist() == [0.0, 1.0, 0.0, 0.0]
    assert state.population.policy.filter.turns.tolist() == [0.0, 1.0, 0.0, 0.0]
    critic, angles = METHOD.critic, jnp.array([[1.0, 2.0], [1.0 + 2 * np.pi, 2.0]])
    own = member(state.values, 1)
    flat = own._replace(
        network=(
            own.network[0]._replace(weights=own.network[0].weights.at[:2].set(0.0)),
            *own.network[1:],
        )
    )
    one, other = critic.values(flat, angles)
    np.testing.assert_allclose(one, other, rtol=1e-5)  # by sines alone a turn is nothing
    plain = replace(METHOD, styles=(Style(), Style(filter="folded")))
    assert (
        fresh_value(plain, replace(SHAPE, some_turn=False), jnp.asarray(0), key).filter.turns == ()
    )


def test_a_critic_without_a_filter_may_turn_too():
    raw = replace(METHOD.critic, filtered=False)
    value = raw.init(jax.random.key(0), 1, jnp.asarray(1.0))
    x = jnp.array([[0.5], [30.0]])
    inputs = jnp.concatenate([x, jnp.sin(x), jnp.cos(x)], axis=1)
    wanted = jax.vmap(partial(raw.network.apply, value.network))(inputs)[:, 0]
    np.testing.assert_allclose(raw.values(value, x), wanted, rtol=1e-6)


def test_networks_that_cannot_be_widened_are_refused():
    class Linear:
        init = apply = lambda *given: ()

    with pytest.raises(ValueError, match=r"'turning' needs an Mlp; critic\.network is"):
        replace(METHOD, critic=replace(METHOD.critic, network=Linear()))
    with pytest.raises(ValueError, match="'turning' needs an Mlp; the network is"):
        replace(METHOD, styles=(Style(filter="turning"),), network=Linear())
