from functools import partial
from math import cos, pi, sin

import numpy as np
import pytest

from mppo.envs.batch import BatchEnv, BatchVectorEnv
from mppo.envs.batched.cartpole_swingup import accelerations

SparseCartPoleSwingup = partial(BatchEnv, "mppo/SparseCartPoleSwingup-v0")
SparseCartPoleSwingupVector = partial(BatchVectorEnv, "mppo/SparseCartPoleSwingup-v0")


def slow_step(x, b, v, w, action, limit=10.0):
    """One step from the Lagrangian: solve the 2 x 2 system for the accelerations."""
    m, length, j, g = 0.1, 0.5, 0.1 * (0.01 + 1.0) / 12 + 0.1 * 0.25, 10.0
    force = limit * min(max(action, -1.0), 1.0)
    mass = np.array([[1.1, -m * length * cos(b)], [-m * length * cos(b), j]])
    load = np.array([force - m * length * w * w * sin(b), m * g * length * sin(b)])
    a, c = np.linalg.solve(mass, load)
    v, w = v + 0.05 * a, w + 0.05 * c
    return x + 0.05 * v, b + 0.05 * w, v, w


def test_dynamics_against_a_slow_version():
    env = SparseCartPoleSwingupVector(3, track_limit=1e6, autoreset_mode="Disabled")
    env.reset(seed=0)
    state = env.simulation.dynamics.arrays()["state"]
    generator = np.random.default_rng(0)
    for _ in range(300):
        actions = generator.normal(size=(3, 1)) * 1.5
        expected = [slow_step(*state[:, i], actions[i, 0]) for i in range(3)]
        observations, rewards, _, _, _ = env.step(actions)
        np.testing.assert_allclose(state.T, expected, rtol=1e-10, atol=1e-10)
        x, b, v, w = state
        np.testing.assert_array_equal(observations, np.stack([x, v, b, w], 1).astype(np.float32))
        np.testing.assert_array_equal(rewards, np.cos(b) > 0.8)


def test_only_the_force_does_work():
    """The energy T + V changes at the rate F x_dot: the model has no friction."""
    env = SparseCartPoleSwingupVector(50)
    env.reset(seed=0)
    _, b, v, w = env.simulation.dynamics.arrays()["state"]
    force = np.random.default_rng(0).uniform(-10, 10, 50)
    a, c = np.transpose([accelerations(*one) for one in zip(b, w, force, strict=True)])
    inertia = 0.1 * (1.01 / 12 + 0.25)
    # T = 0.55 v^2 - 0.05 cos(b) v w + J w^2 / 2 and V = 0.5 cos(b)
    kinetic = 1.1 * v * a - 0.05 * np.cos(b) * (a * w + v * c) + inertia * w * c
    rate = kinetic + 0.05 * np.sin(b) * w * v * w - 0.5 * np.sin(b) * w
    np.testing.assert_allclose(rate, force * v, atol=1e-12)


@pytest.mark.parametrize(
    ("angle", "seen"),
    [
        ("raw", [0.5, 3.0, 2.0 * pi + 3.0, 4.0]),
        ("wrapped", [0.5, 3.0, 3.0, 4.0]),
        ("cos-sin", [0.5, 3.0, cos(3.0), sin(3.0), 4.0]),
    ],
)
def test_how_the_angle_is_seen(angle, seen):
    envs = SparseCartPoleSwingupVector(2, angle=angle)
    envs.reset(seed=0)
    envs.simulation.dynamics.arrays()["state"][:] = np.array(
        [[0.5], [2.0 * pi + 3.0], [3.0], [4.0]]
    )
    observed = envs.simulation.dynamics.observe()
    np.testing.assert_allclose(observed, [seen, seen], rtol=1e-6)
    assert observed.dtype == np.float32
    assert envs.single_observation_space.contains(observed[0])


def test_how_the_angle_is_seen_changes_nothing_else():
    rewards = []
    for angle in ("raw", "wrapped", "cos-sin"):
        envs = SparseCartPoleSwingupVector(4, angle=angle, track_limit=50.0)
        envs.reset(seed=1)
        actions = np.random.default_rng(1).uniform(-1, 1, (200, 4, 1))
        rewards.append([envs.step(action)[1] for action in actions])
    assert np.sum(rewards[0]) > 0
    assert np.array_equal(rewards[0], rewards[1])
    assert np.array_equal(rewards[0], rewards[2])


def test_another_way_to_see_the_angle_is_refused():
    with pytest.raises(ValueError, match="angle is 'sine'; allowed: raw, wrapped, cos-sin"):
        SparseCartPoleSwingup(angle="sine")


def test_speed_limits():
    """Box2D moves nothing by more than 2 m or a quarter turn in a step of 0.05 s."""
    env = SparseCartPoleSwingupVector(2, track_limit=1e6, autoreset_mode="Disabled")
    env.reset(seed=0)
    state = env.simulation.dynamics.arrays()["state"]
    state[:] = np.array([[0.0, 0.0], [0.0, 0.0], [200.0, -200.0], [300.0, -300.0]])
    env.step(np.zeros((2, 1)))
    np.testing.assert_allclose(state[0], [2.0, -2.0])
    np.testing.assert_allclose(state[1], [pi / 2, -pi / 2])
    np.testing.assert_allclose(state[2], [40.0, -40.0])
    np.testing.assert_allclose(state[3], [10 * pi, -10 * pi])


def at(env, x, b):
    env.reset(seed=0)
    env.simulation.dynamics.arrays()["state"][:, 0] = x, b, 0.0, 0.0
    return env.step(np.zeros(1))[1:4]


def test_reward_and_end():
    env = SparseCartPoleSwingup()
    edge = np.arccos(0.8)
    assert at(env, 0.0, edge - 0.03) == (1.0, False, False)
    assert at(env, 0.0, edge + 0.01) == (0.0, False, False)
    assert at(env, 0.0, 2 * pi) == (1.0, False, False)
    assert at(env, 2.99, 0.0) == (1.0, False, False)
    assert at(env, 3.01, 0.0) == (0.0, True, False)
    assert at(env, -3.01, 0.0) == (0.0, True, False)
    assert at(SparseCartPoleSwingup(threshold=-1.0, track_limit=9.0), 5.0, pi - 0.1)[0] == 1.0


def test_actions_are_clipped():
    env = SparseCartPoleSwingup()
    outcomes = []
    for action in (1.0, 1e9):
        env.reset(seed=3)
        outcomes.append(env.step(np.array([action]))[0].tolist())
    assert outcomes[0] == outcomes[1]
    with pytest.raises(ValueError, match="NaN"):
        env.step(np.array([np.nan]))


def test_reset_distribution():
    env = SparseCartPoleSwingupVector(4000)
    starts = env.reset(seed=0)[0].astype(np.float64) - [0, 0, pi, 0]
    half = np.array([1.0, 2.0, 1.0, 3.0])
    assert (np.abs(starts) <= half + 1e-6).all()
    np.testing.assert_allclose(starts.mean(0) / half, 0.0, atol=0.05)
    np.testing.assert_allclose(starts.std(0) / half, 3**-0.5, atol=0.02)


def test_discoverability():
    """Of episodes with normal actions about 2.5 % see a reward; they last about 63 steps."""
    env = SparseCartPoleSwingupVector(500, autoreset_mode="Disabled")
    env.reset(seed=0)
    generator = np.random.default_rng(0)
    alive, rewarded, steps = np.ones(500, dtype=bool), np.zeros(500, dtype=bool), 0
    while alive.any():
        _, rewards, terminated, truncated, _ = env.step(generator.normal(size=(500, 1)))
        rewarded |= alive & (rewards > 0)
        steps += int(alive.sum())
        alive &= ~(terminated | truncated)
        if (terminated | truncated).any():
            env.reset(options={"reset_mask": terminated | truncated})
    assert 0.005 < rewarded.mean() < 0.06
    assert 50 < steps / 500 < 76


@pytest.mark.parametrize(
    "kwargs", [{"force_limit": 0}, {"threshold": 1.0}, {"track_limit": -1}, {"threshold": "x"}]
)
def test_errors(kwargs):
    with pytest.raises(ValueError, match=f"{next(iter(kwargs))} is .*; allowed: "):
        SparseCartPoleSwingup(**kwargs)
