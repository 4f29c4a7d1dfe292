"""Line 5: batches of vector environments are those of a hand-written loop over single ones."""

import gymnasium
import jax
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from hypothesis import given, settings
from hypothesis import strategies as st

from mppo import envs
from mppo.acting.actor import Actor
from mppo.acting.spaces import Spaces
from mppo.algorithm.filters import Filter
from mppo.algorithm.heads import Gaussian
from mppo.algorithm.networks import Mlp
from mppo.algorithm.policies import Architecture, Policy
from mppo.algorithm.types import Trajectories
from mppo.envs.batch import BatchVectorEnv
from mppo.envs.source import env_source
from mppo.errors import BadRequest, EnvironmentFault
from mppo.machine.seeding import Role, generator, integer
from mppo.rollouts.collector import Collector
from mppo.rollouts.evaluator import Evaluator
from tests.worlds import Anything, Scripted

SEED, STEPS, GAMMA = 5, 11, 0.9
ALL = list(AutoresetMode)


def actor_for(size, head):
    architecture = Architecture(size, head, Mlp((4,)))
    shapes = jax.eval_shape(architecture.init, jax.random.key(0)).parameters
    rng = np.random.default_rng(0)
    draw = lambda leaf: 0.3 * rng.normal(size=leaf.shape).astype(np.float32)
    seen = Filter(np.float32(1), np.zeros(size, np.float32), np.full(size, 4.0, np.float32))
    return Actor(architecture, Policy(jax.tree.map(draw, shapes), seen))


ACTOR = actor_for(3, Gaussian(1))
SCRIPTED = Spaces(Scripted.observation_space, Scripted.action_space, "Scripted")


class Corridor(gymnasium.Env):
    """Counts its steps up to LENGTH, and its resets."""

    LENGTH, resets = 4, 0
    observation_space = spaces.Box(0, LENGTH, (1,), np.float32)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        Corridor.resets += 1
        self.time = 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.time += 1
        seen = np.full(1, self.time, np.float32)
        return seen, 1.0, self.time == self.LENGTH, False, {}


class Loop:
    """One environment after the other, one step after the other."""

    def __init__(self, scripts):
        self.envs = [Scripted(script) for script in scripts]
        self.path = None

    def __call__(self, path, iteration, continues):
        restart = not continues or path != self.path
        self.path = path
        rows, earlier = [], []
        for e, env in enumerate(self.envs):
            if restart:
                env.now, _ = env.reset(seed=integer(SEED, Role.ENVIRONMENT, iteration, e))
                env.so_far = []
            earlier.append(list(env.so_far))
            rows.append(self._roll(env, generator(SEED, Role.ACTIONS, iteration, e)))
        fields = [np.array(field) for field in zip(*rows, strict=True)]
        total = [sum(rewards) for rewards in earlier]
        discounted = [sum(GAMMA**n * r for n, r in enumerate(rewards)) for rewards in earlier]
        return Trajectories(*fields, (total, discounted, [len(rewards) for rewards in earlier]))

    def _roll(self, env, stream):
        rows, noise = [], ACTOR.noise(stream, STEPS)
        for t in range(STEPS):
            seen, action = env.now, ACTOR.act(env.now, noise[t])
            following, reward, terminated, truncated, _ = env.step(action)
            rows.append((seen, action, reward, following, terminated, truncated))
            env.now = following
            env.so_far.append(reward)
            if terminated or truncated:
                env.now, _ = env.reset()
                env.so_far = []
        return [np.array(field) for field in zip(*rows, strict=True)]


def collector(scripts, mode, episodes):
    vector = SyncVectorEnv([lambda s=s: Scripted(s) for s in scripts], autoreset_mode=mode)
    return Collector(vector, SCRIPTED, STEPS, SEED, episodes, gamma=GAMMA)


def assert_same(found, wanted):
    """Numbers to rounding (the shape of a matrix product matters), flags exactly."""
    for name in ("observations", "actions", "rewards", "next_observations"):
        one, other = getattr(found, name), getattr(wanted, name)
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5, err_msg=name)
        assert one.dtype == np.float32
    np.testing.assert_array_equal(found.terminated, wanted.terminated)
    np.testing.assert_array_equal(found.truncated, wanted.truncated)
    for one, other in zip(found.earlier, wanted.earlier, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


episode = st.tuples(
    st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=1, max_size=STEPS + 3),
    st.sampled_from([(True, False), (False, True), (True, True)]),
).map(lambda pair: (pair[0], *pair[1]))
scripts = st.lists(st.lists(episode, min_size=1, max_size=4), min_size=2, max_size=3)


@settings(max_examples=100)
@given(scripts)
def test_fresh_batches_in_all_three_modes(scripts):
    loop = Loop(scripts)
    wanted = [loop(path, n, continues=False) for n, path in enumerate([0, 0, 1])]
    for mode in ALL:
        collect = collector(scripts, mode, "fresh")
        for n, path in enumerate([0, 0, 1]):
            assert_same(collect(ACTOR, path, n), wanted[n])


@settings(max_examples=100)
@given(scripts)
def test_continued_batches(scripts):
    """Episodes go on while the path stays the same, and start anew when it changes."""
    paths = [0, 0, 0, 1, 1, 0]
    loop = Loop(scripts)
    wanted = [loop(path, n, continues=True) for n, path in enumerate(paths)]
    for mode in (AutoresetMode.SAME_STEP, AutoresetMode.DISABLED):
        collect = collector(scripts, mode, "continue")
        for n, path in enumerate(paths):
            assert_same(collect(ACTOR, path, n), wanted[n])


@pytest.mark.parametrize("mode", ALL)
@pytest.mark.parametrize("position", range(1, STEPS + 1))
@pytest.mark.parametrize("kind", [(True, False), (False, True)])
def test_an_end_at_every_position(mode, position, kind):
    """By hand: rewards are 1, 2, 3 ... up to the end, whose successor is never the next start."""
    script = [([float(n) for n in range(1, position + 1)], *kind)]
    collect = collector([script, script], mode, "fresh")
    seen = collect(ACTOR, 0, 0)
    for e in range(2):
        for t in range(STEPS):
            time = t % position
            reward = time + 1 + 0.125 * seen.actions[e, t, 0]
            assert seen.rewards[e, t] == pytest.approx(reward, rel=1e-5)
            assert seen.observations[e, t, 1] == time
            assert seen.next_observations[e, t, 1] == time + 1
            assert seen.next_observations[e, t, 2] == pytest.approx(seen.actions[e, t, 0])
            ends = time == position - 1
            assert (seen.terminated[e, t], seen.truncated[e, t]) == (
                ends and kind[0],
                ends and kind[1],
            )


def test_next_step_cannot_continue():
    with pytest.raises(BadRequest, match="NEXT_STEP"):
        collector([[([1.0], True, False)]] * 2, AutoresetMode.NEXT_STEP, "continue")


def test_a_call_is_a_function_of_its_arguments():
    """With fresh episodes the past does not show, nor does the path."""
    script = [([1.0, 2.0, 3.0], True, False), ([5.0], False, True)]
    collect = collector([script] * 2, AutoresetMode.DISABLED, "fresh")
    first = [collect(ACTOR, 0, n) for n in (0, 1, 2)]
    again = collector([script] * 2, AutoresetMode.DISABLED, "fresh")(ACTOR, 3, 1)
    for one, other in zip(first[1][:-1], again[:-1], strict=True):
        np.testing.assert_array_equal(one, other)
    assert not np.array_equal(first[0].actions, first[1].actions)


def test_more_environments_leave_the_first_ones_alone():
    script = [([1.0, 2.0, 3.0], True, False), ([5.0], False, True)]
    two = collector([script] * 2, AutoresetMode.DISABLED, "fresh")(ACTOR, 0, 0)
    five = collector([script] * 5, AutoresetMode.DISABLED, "fresh")(ACTOR, 0, 0)
    for name in ("observations", "actions", "rewards"):
        np.testing.assert_allclose(
            getattr(two, name), getattr(five, name)[:2], rtol=1e-5, atol=1e-5
        )


@pytest.mark.parametrize("mode", ALL)
def test_composite_observations_in_all_modes(mode):
    """The last observation of an episode is found wherever the mode puts it."""
    space = spaces.Dict({"a": spaces.Box(-1, 1, (2,), np.float32), "b": spaces.Discrete(3)})
    action = spaces.Box(-1, 1, (1,), np.float32)
    makers = [lambda: Anything(space, action, length=3)] * 2
    vector = SyncVectorEnv(makers, autoreset_mode=mode)
    collect = Collector(vector, Spaces(space, action), 7, SEED, clip=True)
    seen = collect(actor_for(5, Gaussian(1)), 0, 0)
    ended = seen.terminated | seen.truncated
    assert ended.sum(axis=1).tolist() == [2, 2]
    one_hot = seen.next_observations[..., 2:]
    np.testing.assert_array_equal(one_hot.sum(-1), 1.0)


@pytest.fixture(scope="module")
def hopper():
    """Three batches of Hopper-v5 by one, two and three threads."""
    actor = actor_for(11, Gaussian(3))
    found = []
    for workers in (1, 2, 3):
        vector = envs.native_vector("Hopper-v5", 3)
        there = Spaces(vector.single_observation_space, vector.single_action_space, "Hopper-v5")
        collect = Collector(vector, there, 120, SEED, clip=True, workers=workers)
        found.append([collect(actor, 0, n) for n in range(2)])
        collect.close()
    return found


def test_threads_do_not_show(hopper):
    for other in hopper[1:]:
        for one, two in zip(hopper[0], other, strict=True):
            for field, (left, right) in enumerate(zip(one[:-1], two[:-1], strict=True)):
                assert left.tobytes() == right.tobytes(), field


def test_lanes_know_their_episodes(hopper):
    """Untrained hoppers fall: several episodes, whose successors are not the next starts."""
    seen = hopper[0][0]
    ends = np.argwhere(seen.terminated[:, :-1])
    assert len(ends) > 3
    for e, t in ends:
        assert np.abs(seen.next_observations[e, t] - seen.observations[e, t + 1]).max() > 0.01
        assert abs(seen.observations[e, t + 1, 0] - 1.25) < 0.01  # upright again
    inside = ~(seen.terminated | seen.truncated)[:, :-1]
    np.testing.assert_array_equal(
        seen.next_observations[:, :-1][inside], seen.observations[:, 1:][inside]
    )


class Scaled(BatchVectorEnv):
    """Robots of ours with a step of their own, which pays more or less."""

    def __init__(self, factor):
        super().__init__("Swimmer-v5", 2, horizon=20, autoreset_mode="Disabled")
        self.factor = factor

    def step(self, actions):
        seen, rewards, *rest = super().step(actions)
        return seen, self.factor * rewards, *rest


def test_a_kind_of_ours_with_a_step_of_its_own_is_stepped_by_it():
    rewards, returns = [], []
    for vector in (Scaled(1.0), Scaled(2.0)):
        there = Spaces(vector.single_observation_space, vector.single_action_space, "Swimmer-v5")
        actor = actor_for(there.observation_size, there.head)
        rewards.append(Collector(vector, there, 30, SEED, clip=True)(actor, 0, 0).rewards)
        returns.append(Evaluator(vector, there, SEED, clip=True).play(actor, 0, 2).returns)
    np.testing.assert_array_equal(rewards[1], 2 * rewards[0])
    np.testing.assert_array_equal(returns[1], 2 * returns[0])


class Breaking(Scripted):
    """Gives a bad number at the sixth step of its episode."""

    def __init__(self, field, value):
        super().__init__([([1.0] * 50, False, True)])
        self.field, self.value = field, value

    def step(self, action):
        seen, reward, *rest = super().step(action)
        if self.time == 6:
            if self.field == "reward":
                reward = self.value
            else:
                seen = np.array([0, self.value, 0], np.float32)
        return seen, reward, *rest


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("mode", ALL)
@pytest.mark.parametrize("field", ["reward", "observation"])
def test_a_bad_environment_is_named(field, value, mode):
    makers = [
        lambda: Scripted([([1.0] * 50, False, True)]),
        lambda: Breaking(field, value),
    ]
    vector = SyncVectorEnv(makers, autoreset_mode=mode)
    collect = Collector(vector, SCRIPTED, STEPS, SEED)
    with pytest.raises(EnvironmentFault) as caught:
        collect(ACTOR, 0, 3)
    message = str(caught.value)
    assert '"Scripted"' in message
    assert f"broke its contract: {field} = [" in message
    assert f"environment 1, step 5 of iteration 3, run seed {SEED}" in message
    assert str(value) in message
    assert "last action [" in message


@pytest.mark.parametrize(("episodes", "wanted"), [("fresh", 3), ("continue", 4)])
def test_a_new_episode_begins_only_where_somebody_lives_it(episodes, wanted):
    """Every episode is as long as a batch: what follows its end is the next batch's affair."""
    source, starts = env_source(Corridor), []
    collect = Collector(source.make(1), source.spaces, Corridor.LENGTH, SEED, episodes)
    assert collect._all_lanes
    Corridor.resets = 0
    for n in range(3):
        starts.append(collect(actor_for(1, source.spaces.head), 0, n).observations[0, 0, 0])
    assert Corridor.resets == wanted
    assert starts == [0, 0, 0]
