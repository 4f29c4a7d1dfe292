"""Random network distillation: the bonus by hand, what fades and what stays, lives without ends."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mppo.algorithm.advantages import without_ends
from mppo.algorithm.critic import Critic
from mppo.algorithm.estimates import with_bonus
from mppo.algorithm.exploration.rnd import Rnd
from mppo.algorithm.heads import Categorical
from mppo.algorithm.methods import Method
from mppo.algorithm.networks import Mlp
from mppo.algorithm.optimisers.trpo import Trpo
from mppo.algorithm.paths import Incentives
from mppo.algorithm.policies import Architecture
from mppo.files.reader import rows
from mppo.training.start import train
from tests.oracles import assert_same_bits
from tests.worlds import random_trajectories

RND = Rnd(size=8, minibatch=32, learning_rate=1e-2, epochs=4)
SHAPE = Architecture(2, Categorical((2,)), Mlp((4,)), action_scale=(1.0,))
reward = jax.jit(partial(RND.reward, SHAPE))
learn = jax.jit(
    lambda state, seen, key: RND.update(SHAPE, state, None, jnp.asarray(0.0), seen, key)
)


@pytest.fixture(scope="module")
def state():
    return jax.jit(partial(RND.init, SHAPE))(jax.random.key(0))


@pytest.fixture(scope="module")
def seen():
    return random_trajectories(0, 2, 64, 2, SHAPE.head)


def by_hand(layers, x):
    (first, last) = layers
    hidden = np.maximum(x @ np.array(first.weights) + np.array(first.biases), 0)
    return hidden @ np.array(last.weights) + np.array(last.biases)


def test_the_bonus_is_the_mean_squared_error_at_the_next_state(state, seen):
    found = reward(state, seen)
    for e, t in ((0, 0), (1, 63), (0, 17)):
        x = np.clip(seen.next_observations[e, t], -5, 5)  # a filter that saw nothing only clips
        error = np.mean((by_hand(state.predictor, x) - by_hand(state.target, x)) ** 2)
        assert error > 1e-3
        assert float(found[e, t]) == pytest.approx(float(seen.rewards[e, t] + error), rel=1e-4)


def test_it_fades_where_it_was_and_stays_elsewhere(state, seen):
    near, far = seen, seen._replace(next_observations=seen.next_observations * 0 + 4)
    bonus = lambda at, on: float(np.mean(reward(at, on) - on.rewards))
    known, losses = state, []
    for n in range(30):
        known, log = learn(known, near, jax.random.key(n))
        losses.append(float(log["rnd_loss"]))
    assert losses[-1] < 0.1 * losses[0]
    at_first = state._replace(filter=known.filter)  # both through the same filter
    assert bonus(known, near) < 0.1 * bonus(at_first, near)
    assert bonus(known, far) > 5 * bonus(known, near)
    assert_same_bits(known.target, state.target)


def advantages(rnd, seen, weight=1.0):
    """What a path with this bonus follows where the task pays nothing."""
    critic = Critic(epochs=1, minibatch=32, network=Mlp((4,)))
    method = Method(Trpo(), network=Mlp((4,)), critic=critic, batch_size=128, exploration=rnd)
    extra = jnp.asarray(np.random.default_rng(1).random(seen.rewards.shape), jnp.float32)
    silent = seen._replace(rewards=np.zeros_like(seen.rewards))
    paid = Incentives(silent.rewards, extra, jnp.asarray(weight), None, "none", 0.0)
    known = critic.init(jax.random.key(3), 2), ()
    return with_bonus(method, known, silent, paid, jnp.zeros(extra.shape), jax.random.key(4))


def test_an_end_of_an_episode_is_none_for_the_bonus_unless_it_is_episodic(seen):
    assert seen.terminated.any()
    assert seen.truncated.any()
    on, (value, _) = advantages(Rnd(), seen)
    one_life, (same, _) = advantages(Rnd(episodic=True), without_ends(seen))
    np.testing.assert_allclose(on, one_life, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        *(
            np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(v)])
            for v in (value.network, same.network)
        ),
        rtol=1e-4,
        atol=1e-6,
    )
    ending, _ = advantages(Rnd(episodic=True), seen)
    assert np.abs(ending - on).max() > 0.1


def test_without_weight_nothing_is_followed_and_nothing_is_learnt(seen):
    followed, (value, _) = advantages(Rnd(), seen, weight=0.0)
    assert not followed.any()
    assert_same_bits(value, Critic(network=Mlp((4,))).init(jax.random.key(3), 2))


def test_a_run_with_it_logs_its_loss(tmp_path):
    small = {"batch_size": 200, "network.hidden": (4,), "critic.network.hidden": (4,)}
    train(
        "trpo",
        "mppo/Maze-v0",
        steps=600,
        out=tmp_path / "run",
        eval_every=0,
        overrides=small | {"exploration": "rnd", "exploration.size": 8},
    )
    losses = [row["rnd_loss"] for row in rows(tmp_path / "run", "metrics.jsonl")]
    assert len(losses) == 3
    assert all(loss > 0 for loss in losses)


@pytest.mark.parametrize("wrong", [{"weight": -1}, {"size": 0}, {"epochs": 0}, {"minibatch": 0}])
def test_what_cannot_be_is_refused(wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=name):
        Rnd(**wrong)
