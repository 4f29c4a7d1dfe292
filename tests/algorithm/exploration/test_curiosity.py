"""The intrinsic curiosity module: rewards by hand, losses that fall."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mppo.algorithm.exploration.curiosity import Curiosity, Transitions, encode_action, inverse_loss
from mppo.algorithm.heads import Categorical, Gaussian, Product
from mppo.algorithm.networks import Mlp
from mppo.algorithm.policies import Architecture
from tests.oracles import all_finite
from tests.worlds import random_trajectories

CURIOUS = Curiosity(scale=0.5, size=8, minibatch=32, learning_rate=1e-2)
ARCHITECTURE = Architecture(2, Categorical((2,)), Mlp((4,)), action_scale=(1.0,))


@pytest.fixture(scope="module")
def state():
    return jax.jit(partial(CURIOUS.init, ARCHITECTURE))(jax.random.key(0))


@pytest.fixture(scope="module")
def seen():
    """The next observation is the present one shifted by the action: predictable."""
    seen = random_trajectories(0, 2, 64, 2, ARCHITECTURE.head)
    shift = 2 * seen.actions - 1
    return seen._replace(next_observations=np.float32(0.5) * seen.observations + shift)


@pytest.fixture(scope="module")
def learn():
    return jax.jit(
        lambda state, seen, key: CURIOUS.update(
            ARCHITECTURE, state, None, jnp.asarray(0.0), seen, key
        )
    )


reward = jax.jit(partial(CURIOUS.reward, ARCHITECTURE))


def test_reward_is_the_task_plus_half_the_squared_error_of_prediction(state, seen):
    tanh = lambda layers, x: (
        np.tanh(x @ np.array(layers[0].weights) + np.array(layers[0].biases))
        @ np.array(layers[1].weights)
        + np.array(layers[1].biases)
    )
    relu = lambda layers, x: (
        np.maximum(x @ np.array(layers[0].weights) + np.array(layers[0].biases), 0)
        @ np.array(layers[1].weights)
        + np.array(layers[1].biases)
    )
    found = reward(state, seen)
    for e, t in ((0, 0), (1, 63), (0, 17)):
        now = tanh(state.icm.features, np.clip(seen.observations[e, t], -5, 5))
        then = tanh(state.icm.features, np.clip(seen.next_observations[e, t], -5, 5))
        one_hot = np.eye(2)[int(seen.actions[e, t, 0])]
        guess = relu(state.icm.forward, np.concatenate([now, one_hot]))
        wanted = seen.rewards[e, t] + 0.5 * 0.5 * np.sum((guess - then) ** 2)
        assert float(found[e, t]) == pytest.approx(wanted, rel=1e-4, abs=1e-5)


def test_curiosity_is_never_negative_and_changes_no_field(state, seen):
    bonus = np.asarray(reward(state, seen)) - seen.rewards
    assert bonus.min() > -1e-6
    assert bonus.shape == (2, 64)


def test_what_is_seen_often_becomes_dull(state, seen, learn):
    curious, losses = state, []
    first = float(np.mean(np.asarray(reward(curious, seen)) - seen.rewards))
    for n in range(40):
        curious, log = learn(curious, seen, jax.random.key(n))
        losses.append({name: float(number) for name, number in log.items()})
    assert losses[-1]["curiosity_inverse_loss"] < 0.5 * losses[0]["curiosity_inverse_loss"]
    assert losses[-1]["curiosity_inverse_loss"] < np.log(2) / 2  # the action is recognised
    last = float(np.mean(np.asarray(reward(curious, seen)) - seen.rewards))
    assert last < 0.5 * first
    assert all_finite(curious)
    assert float(curious.filter.count) == pytest.approx(40 * 128, rel=1e-4)


def test_losses_are_weighed(state, seen):
    """A forward weight of 0 leaves the forward model as it is; all else learns."""
    rule = Curiosity(scale=0.5, size=8, minibatch=128, forward_weight=0.0)
    run = jax.jit(lambda s, key: rule.update(ARCHITECTURE, s, None, jnp.asarray(0.0), seen, key)[0])
    after = run(state, jax.random.key(0)).icm
    change = lambda part: float(
        np.abs(getattr(after, part)[0].weights - getattr(state.icm, part)[0].weights).max()
    )
    assert change("forward") == 0.0
    assert change("inverse") > 1e-4
    assert change("features") > 1e-4


def test_encoded_actions():
    """Continuous actions in units of their bounds and clipped, choices one-hot."""
    head = Product((Gaussian(2), Categorical((2, 3)), Gaussian(1)))
    architecture = Architecture(1, head, action_scale=(2.0, 1.0, 1.0, 1.0, 4.0))
    action = jnp.array([1.0, -7.0, 1.0, 2.0, 2.0])
    np.testing.assert_allclose(encode_action(architecture, action), [0.5, -1.0, 0, 1, 0, 0, 1, 0.5])


def test_inverse_loss_by_hand():
    # squared error of the first action: 0.5 * (0.5 - 0.1)^2; cross entropy of the choice: log 2
    head = Product((Gaussian(1), Categorical((2,))))
    guess, action = jnp.array([0.1, 0.0, 0.0]), jnp.array([1.0, 1.0])
    encoded = jnp.array([0.5, 0.0, 1.0])
    found = float(inverse_loss(head, guess, action, encoded))
    assert found == pytest.approx(0.5 * 0.16 + np.log(2), rel=1e-5)


def test_losses_take_one_transition(state):
    one = Transitions(jnp.zeros(2), jnp.zeros(1), jnp.ones(2))
    forward, inverse = CURIOUS.losses(ARCHITECTURE, state.icm, one)
    assert forward.shape == inverse.shape == ()
    assert float(inverse) > 0
