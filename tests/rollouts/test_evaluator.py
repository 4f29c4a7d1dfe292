"""Evaluation: whole episodes, on streams of their own."""

import gymnasium
import jax
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from mppo import envs
from mppo.acting.actor import Actor
from mppo.acting.spaces import Spaces
from mppo.algorithm.filters import Filter
from mppo.algorithm.heads import Gaussian
from mppo.algorithm.networks import Mlp
from mppo.algorithm.policies import Architecture, Policy
from mppo.errors import EnvironmentFault
from mppo.machine.seeding import Role, generator, integer
from mppo.rollouts import evaluator
from mppo.rollouts.evaluator import Evaluator


class Uneven(gymnasium.Env):
    """Episodes of 1 to 40 steps, paid by the action and where it began."""

    observation_space = spaces.Box(-np.inf, np.inf, (1,), np.float32)
    action_space = spaces.Box(-1, 1, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.begin, self.time = float(self.np_random.normal()), 0
        self.length = int(self.np_random.integers(1, 41))
        return np.array([self.begin], np.float32), {}

    def step(self, action):
        self.time += 1
        reward = self.begin + float(action[0])
        over = self.time >= self.length
        return np.array([self.begin + self.time], np.float32), reward, over, False, {}


def actor_for(size, head):
    architecture = Architecture(size, head, Mlp((4,)))
    shapes = jax.eval_shape(architecture.init, jax.random.key(0)).parameters
    rng = np.random.default_rng(0)
    draw = lambda leaf: 0.3 * rng.normal(size=leaf.shape).astype(np.float32)
    seen = Filter(np.float32(1), np.zeros(size, np.float32), np.ones(size, np.float32))
    return Actor(architecture, Policy(jax.tree.map(draw, shapes), seen))


ACTOR = actor_for(1, Gaussian(1))
SPACES = Spaces(Uneven.observation_space, Uneven.action_space)


def by_hand(seed, number, episodes, deterministic=False):
    returns = []
    for e in range(episodes):
        env, total = Uneven(), 0.0
        seen, _ = env.reset(seed=integer(seed, Role.EVALUATION_ENVIRONMENT, number, e))
        noise = ACTOR.noise(generator(seed, Role.EVALUATION_ACTIONS, number, e, 0), 1000)
        for t in range(1000):
            action = ACTOR.act(seen, None if deterministic else noise[t])
            seen, reward, over, _, _ = env.step(np.clip(action, -1, 1))
            total += reward
            if over:
                break
        returns.append(total)
    return returns


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_returns_are_those_of_single_episodes(mode, deterministic):
    """Short episodes wait for the long ones and are counted once."""
    player = Evaluator(SyncVectorEnv([Uneven] * 6, autoreset_mode=mode), SPACES, 3, clip=True)
    found = player.play(ACTOR, 7, 6, deterministic).returns
    np.testing.assert_allclose(found, by_hand(3, 7, 6, deterministic), rtol=1e-4, atol=1e-4)
    player.close()


def test_more_episodes_than_environments_and_fewer():
    vector = SyncVectorEnv([Uneven] * 4, autoreset_mode=AutoresetMode.DISABLED)
    player = Evaluator(vector, SPACES, 3, clip=True)
    for episodes in (1, 4, 10):
        found = player.play(ACTOR, 2, episodes).returns
        np.testing.assert_allclose(found, by_hand(3, 2, episodes), rtol=1e-4, atol=1e-4)
    assert player.play(ACTOR, 2, 0).returns.shape == (0,)


def test_an_evaluation_is_a_function_of_its_number():
    vector = SyncVectorEnv([Uneven] * 3, autoreset_mode=AutoresetMode.DISABLED)
    player = Evaluator(vector, SPACES, 3)
    first, second, again = (player.play(ACTOR, number, 3).returns for number in (1, 2, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, second)


def test_lanes_in_any_number_of_threads():
    actor = actor_for(11, Gaussian(3))
    found = []
    for workers in (1, 3):
        vector = envs.native_vector("Hopper-v5", 3)
        there = Spaces(vector.single_observation_space, vector.single_action_space)
        player = Evaluator(vector, there, 1, clip=True, workers=workers)
        played = [player.play(actor, 4, 3, certain).returns for certain in (False, True)]
        found.append(np.concatenate(played))
        player.close()
    np.testing.assert_array_equal(found[0], found[1])
    assert len(set(found[0])) == 6
    assert (found[0] > 0).all()  # a hopper is paid for being upright


class Broken(Uneven):
    """Episodes of 9 steps; a reward, an observation or the first one is no number."""

    def __init__(self, what):
        self.what = what

    def reset(self, *, seed=None, options=None):
        seen, info = super().reset(seed=seed)
        self.length = 9
        return (seen * np.nan if self.what == "first observation" else seen), info

    def step(self, action):
        seen, reward, *rest = super().step(action)
        if self.time == 4:
            seen = seen * np.inf if self.what == "observation" else seen
            reward = np.nan if self.what == "reward" else reward
        return seen, reward, *rest


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("reward", "reward = nan; environment 1, step 3 of"),
        ("observation", r"observation = \[.*inf\]; environment 1, step 3 of"),
        ("first observation", r"first observation = \[nan\]; environment 1, step 0 of"),
    ],
)
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_numbers_that_are_none_stop_an_evaluation_of_a_vector_environment(mode, what, says):
    kinds = [lambda: Broken(""), lambda: Broken(what)]
    player = Evaluator(SyncVectorEnv(kinds, autoreset_mode=mode), SPACES, 3, clip=True)
    with pytest.raises(EnvironmentFault, match=f"{says} the evaluation after iteration 7"):
        player.play(ACTOR, 7, 2)


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
def test_what_comes_after_an_episode_s_end_is_nobody_s(mode):
    """The first environment breaks in its second episode, while the other one still plays."""

    class Later(Broken):
        played = 0

        def reset(self, *, seed=None, options=None):
            seen, info = super().reset(seed=seed)
            self.length, self.played = 2 if not self.played else 9, self.played + 1
            self.what = "reward" if self.played > 1 else ""
            return seen, info

    kinds = [lambda: Later(""), lambda: Broken("")]
    player = Evaluator(SyncVectorEnv(kinds, autoreset_mode=mode), SPACES, 3, clip=True)
    assert np.isfinite(player.play(ACTOR, 7, 2).returns).all()


def test_episodes_without_an_end_are_cut_and_counted(monkeypatch):
    monkeypatch.setattr(evaluator, "LONGEST", 20)
    vector = SyncVectorEnv([Uneven] * 6, autoreset_mode=AutoresetMode.DISABLED)
    played = Evaluator(vector, SPACES, 3, clip=True).play(ACTOR, 7, 6)
    assert played.lengths.tolist() == [11, 20, 12, 10, 11, 20]
    assert played.cut.tolist() == [False, True, False, False, False, True]


def test_lanes_without_an_end_are_cut_and_counted(monkeypatch):
    actor = actor_for(11, Gaussian(3))
    vector = envs.native_vector("Hopper-v5", 2)
    there = Spaces(vector.single_observation_space, vector.single_action_space)
    player = Evaluator(vector, there, 1, clip=True)
    whole = player.play(actor, 4, 2)
    assert not whole.cut.any()
    monkeypatch.setattr(evaluator, "LONGEST", int(whole.lengths.min()) + 1)
    monkeypatch.setattr(evaluator, "BLOCK", int(whole.lengths.min()) + 1)
    again = player.play(actor, 4, 2)
    assert again.cut.tolist() == (whole.lengths > whole.lengths.min() + 1).tolist()
    player.close()
