"""Rewards in units of the deviation of discounted returns."""

import jax
import numpy as np
import pytest

from mppo.algorithm import rewards
from mppo.algorithm.types import Earlier, Trajectories
from tests.training.test_model import BATCH, model
from tests.worlds import small


def made(paid, terminated, truncated):
    zeros = np.zeros(len(paid), np.float32)
    return Trajectories(None, None, paid, None, terminated, truncated, Earlier(zeros, zeros, zeros))


def plain_returns(paid, ended, gamma):
    found = np.zeros_like(paid)
    for e in range(len(paid)):
        total = 0.0
        for t in range(paid.shape[1]):
            total = found[e, t] = paid[e, t] + gamma * total
            total = 0.0 if ended[e, t] else total
    return found


def test_the_deviation_is_that_of_discounted_returns():
    rng = np.random.default_rng(0)
    paid = rng.normal(size=(3, 40)).astype(np.float32)
    terminated, truncated = rng.random((2, 3, 40)) < 0.1
    seen, gamma = made(paid, terminated, truncated), 0.9
    returns = jax.jit(rewards.update, static_argnums=2)(rewards.init(), seen, gamma)
    expected = plain_returns(paid, terminated | truncated, gamma)
    assert float(rewards.deviation(returns)) == pytest.approx(expected.std(), rel=1e-3)
    scaled = rewards.scaled(returns, seen).rewards
    np.testing.assert_allclose(scaled, paid / expected.std(), rtol=2e-3)
    second = made(5 * paid, terminated, truncated)  # two batches are one stack
    both = rewards.update(returns, second, gamma)
    assert float(rewards.deviation(both)) == pytest.approx(
        np.concatenate([expected, 5 * expected]).std(), rel=1e-3
    )


def test_large_rewards_are_clipped():
    seen = made(np.array([[1e6, -1e6]], np.float32), *np.zeros((2, 1, 2), bool))
    assert rewards.scaled(rewards.init(), seen).rewards.tolist() == [[10.0, -10.0]]


def test_the_unit_of_rewards_changes_neither_policy_nor_j(monkeypatch, tmp_path):
    """With scaled rewards, a task that pays 100 times as much is learnt alike; J counts it."""
    from tests import worlds

    made = []
    for factor in (1.0, 100.0):
        one = worlds.ByAction.reward
        paid = lambda self, action, one=one, factor=factor: factor * one(self, action)
        env = type("Paying", (worlds.ByAction,), {"reward": paid})
        made.append(model(env, small("ppo", reward_scaling="returns")).learn(3 * BATCH))
    arrays = [agent.get_parameters() for agent in made]
    name = "state.population.policy.parameters.network[0].weights"
    np.testing.assert_allclose(*(found[name] for found in arrays), rtol=1e-3, atol=1e-4)
    deviations = [float(rewards.deviation(agent.run.state.returns)) for agent in made]
    assert deviations[1] == pytest.approx(100 * deviations[0], rel=1e-2)
    returns = [agent.metrics[-1]["return_mean"] for agent in made]
    assert returns[1] == pytest.approx(100 * returns[0])
    gains = [agent.metrics[0]["gain"] for agent in made]
    assert gains[1] == pytest.approx(100 * gains[0], rel=0.05)
    again = made[0].load(made[0].save(tmp_path / "scaled"), worlds.ByAction)
    assert float(rewards.deviation(again.run.state.returns)) == deviations[0]
