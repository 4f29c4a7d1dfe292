"""Five tiny environments with known answers, for every method.

What cannot be learnt here cannot be learnt anywhere: a constant reward asks only for V, one by
observation for V of it, a delayed one for the discount, one by action for a policy, and the last
for all of it together.
"""

from functools import partial

import jax
import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit

from mppo.algorithm.methods import METHODS
from mppo.envs.source import env_source
from mppo.files.evaluation import Evaluation
from mppo.training.run import Run
from tests.worlds import ENVS, SMALL, STEPS, ByAction, ByBoth, ByObservation, Constant, Delayed


def learnt(name, env, iterations):
    """A run after so many iterations for each path.

    No episode is as long as the limit: with one, the programs are those of other tests.
    """
    method, limited = SMALL[name], partial(TimeLimit, max_episode_steps=16)
    iterations *= method.paths
    quiet, source = Evaluation(every=0), env_source(lambda: limited(env()))
    run = Run(method, source, iterations * ENVS * STEPS, 0, quiet, workers=1)
    for _ in range(iterations):
        run.iterate()
    run.close()
    return run


def values(run, *observations):
    """V of each value network [networks, observations] that has learnt from a path."""
    seen = np.array(observations, np.float32)[:, None]
    one_for_all, picks = run.method.value == "shared", run.state.population.record.picks
    found = [
        run.method.critic.values(jax.tree.map(lambda leaf, n=n: leaf[n], run.state.values), seen)
        for n in range(run.method.value_networks)
        if one_for_all or picks[n] > 0
    ]
    return np.array(found)


def probability_of_one(run, *observations):
    """How likely the agent takes action 1."""
    seen = np.array(observations, np.float32)[:, None]
    agent = run.agent()
    logits = np.array([run.architecture.statistics(agent.policy, one) for one in seen])
    return 1 / (1 + np.exp(logits[:, 0] - logits[:, 1]))


@pytest.mark.parametrize("name", METHODS)
def test_constant_reward(name):
    run = learnt(name, Constant, 6)
    np.testing.assert_allclose(values(run, 0.0), 1.0, atol=0.1)


@pytest.mark.parametrize("name", METHODS)
def test_reward_by_observation(name):
    run = learnt(name, ByObservation, 6)
    found = values(run, -1.0, 1.0)
    np.testing.assert_allclose(found, np.broadcast_to([-1.0, 1.0], found.shape), atol=0.15)


@pytest.mark.parametrize("name", METHODS)
def test_delayed_reward(name):
    """V(0) = gamma: what is one step ahead, discounted."""
    run = learnt(name, Delayed, 8)
    found = values(run, 0.0, 1.0)
    np.testing.assert_allclose(found, np.broadcast_to([0.995, 1.0], found.shape), atol=0.15)


@pytest.mark.parametrize("name", METHODS)
def test_reward_by_action(name):
    run = learnt(name, ByAction, 6)
    assert probability_of_one(run, 0.0)[0] > 0.8
    assert float(run.state.population.performance.max()) > 0.4


@pytest.mark.parametrize("name", METHODS)
def test_reward_by_action_and_observation(name):
    run = learnt(name, ByBoth, 8)
    at_minus_one, at_one = probability_of_one(run, -1.0, 1.0)
    assert at_minus_one < 0.2
    assert at_one > 0.8
