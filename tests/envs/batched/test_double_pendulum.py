from functools import partial
from math import cos, pi, sin

import gymnasium
import numpy as np
import pytest

from mppo.envs.batch import BatchEnv, BatchVectorEnv
from mppo.envs.batched.double_pendulum import PRESETS, equations, motion

SparseDoublePendulum = partial(BatchEnv, "mppo/SparseDoublePendulum-v0")
SparseDoublePendulumVector = partial(BatchVectorEnv, "mppo/SparseDoublePendulum-v0")


def test_acrobot_equals_gymnasium():
    """Gymnasium's Acrobot writes the equations in relative angles; torques -1, 0, 1."""
    theirs = gymnasium.make("Acrobot-v1").unwrapped
    theirs.reset(seed=0)
    ours = SparseDoublePendulum(goal_distance=1e-9, horizon=10**6)
    ours.reset(seed=0)
    t1, t2, w1, w2 = theirs.state
    ours.simulation.dynamics.arrays()["state"][0] = t1, t1 + t2, w1, w1 + w2
    generator = np.random.default_rng(0)
    for _ in range(60):
        torque = int(generator.integers(0, 3))
        expected = theirs.step(torque)[0]
        seen, _, _, _, _ = ours.step(np.array([torque - 1.0]))
        np.testing.assert_allclose(seen, expected, atol=2e-5)


def test_speed_limits():
    for name, relative in (("acrobot", True), ("rllab", False)):
        env = SparseDoublePendulum(preset=name)
        env.reset(seed=0)
        state = env.simulation.dynamics.arrays()["state"]
        state[0] = 0.0, 0.0, 200.0, -200.0
        env.step(np.zeros(1))
        first, second = PRESETS[name].speed_limits
        w1, w2 = state[0, 2:]
        assert abs(w1) <= first + 1e-9
        assert abs(w2 - w1 if relative else w2) <= second + 1e-9
        assert env.observation_space.contains(env.simulation.dynamics.observe()[0])


def at(env, t1, t2):
    env.reset(seed=0)
    env.simulation.dynamics.arrays()["state"][0] = t1, t2, 0.0, 0.0
    return env.step(np.zeros(1))[1:4]


def test_goal_rules():
    """rllab's step of 0.02 s from rest hardly moves the links."""
    env = SparseDoublePendulum(preset="rllab")
    assert at(env, pi, pi) == (1.0, True, False)
    assert at(env, 0.0, 0.0) == (0.0, False, False)
    # Both links at angle a from upright: the tip is 4 sin(a / 2) from its place.
    edge = 2 * np.arcsin(0.25)
    assert at(env, pi - edge + 0.02, pi - edge + 0.02) == (1.0, True, False)
    assert at(env, pi - edge - 0.02, pi - edge - 0.02) == (0.0, False, False)
    high = SparseDoublePendulum(preset="rllab", goal="height")
    # Height 2 cos a > 1 means a < pi / 3.
    assert at(high, pi - pi / 3 + 0.02, pi - pi / 3 + 0.02) == (1.0, True, False)
    assert at(high, pi - pi / 3 - 0.02, pi - pi / 3 - 0.02) == (0.0, False, False)
    assert at(SparseDoublePendulum(preset="rllab", goal_distance=4.1), 0.0, 0.0)[1]


def test_reset_distributions():
    starts = SparseDoublePendulumVector(4000)
    starts.reset(seed=0)
    t1, t2, w1, w2 = starts.simulation.dynamics.arrays()["state"].T
    drawn = np.stack([t1, t2 - t1, w1, w2 - w1])
    assert np.abs(drawn).max() <= 0.1 + 1e-12
    np.testing.assert_allclose(drawn.std(1), 0.1 / 3**0.5, rtol=0.04)
    starts = SparseDoublePendulumVector(4000, preset="rllab")
    starts.reset(seed=0)
    drawn = starts.simulation.dynamics.arrays()["state"].T
    np.testing.assert_allclose(drawn.std(1), [0.1, 0.1, 0.01, 0.01], rtol=0.05)


def success(episodes, steps, **kwargs):
    env = SparseDoublePendulumVector(episodes, autoreset_mode="NextStep", **kwargs)
    env.reset(seed=0)
    generator = np.random.default_rng(0)
    found = np.zeros(episodes, dtype=bool)
    for _ in range(steps):
        found |= env.step(generator.normal(size=(episodes, 1)))[2]
    return found.mean()


def test_discoverability():
    """First success of normal actions in rllab's model: by step 97 for half of the episodes."""
    assert 0.2 < success(60, 97, preset="rllab") < 0.8
    assert success(10, 300, preset="rllab_weak", torque_limit=1.0) == 0.0


@pytest.mark.parametrize(
    "kwargs",
    [
        {"preset": "gym"},
        {"torque_limit": 0.0},
        {"goal": "top"},
        {"goal_distance": -1.0},
        {"goal_height": 2.0},
    ],
)
def test_errors(kwargs):
    with pytest.raises(ValueError, match=f"{next(iter(kwargs))} is .*; allowed: "):
        SparseDoublePendulum(**kwargs)


def test_torque_limit_is_the_preset_or_the_argument():
    assert SparseDoublePendulum().simulation.dynamics.torque_limit == 1.0
    assert SparseDoublePendulum(preset="rllab_weak").simulation.dynamics.torque_limit == 5.0
    assert (
        SparseDoublePendulum(preset="rllab", torque_limit=8).simulation.dynamics.torque_limit == 8.0
    )


def energy(preset, t1, t2, w1, w2):
    (a, b), (p, q) = preset.inertias, preset.weights
    kinetic = 0.5 * a * w1 * w1 + preset.coupling * cos(t1 - t2) * w1 * w2 + 0.5 * b * w2 * w2
    return kinetic - p * cos(t1) - q * cos(t2)


@pytest.mark.parametrize("name", ["acrobot", "rllab"])
def test_energy_is_conserved_with_small_steps(name):
    preset = PRESETS[name]._replace(runge_kutta=True, step=0.0005, substeps=6000)
    start = 2.0, -1.0, 0.5, 1.5
    end = motion(preset, *start, 0.0)
    assert abs(end[0] - start[0]) > 0.3
    assert energy(preset, *end) == pytest.approx(energy(preset, *start), abs=1e-8)


def test_torque_does_work_on_the_relative_angle():
    preset = PRESETS["rllab"]
    state, torque, step = (0.3, -0.2, 0.1, 0.4), 3.0, 1e-6
    a1, a2 = equations(preset, *state, torque)
    w1, w2 = state[2:]
    slope = np.array([w1, w2, a1, a2])
    after, before = state + step * slope, state - step * slope
    gain = (energy(preset, *after) - energy(preset, *before)) / (2 * step)
    assert gain == pytest.approx(torque * (w2 - w1), rel=1e-7)


def test_rllab_numbers():
    preset = PRESETS["rllab"]
    assert preset.inertias == pytest.approx((0.6670833, 0.1670833), abs=1e-6)
    a1, a2 = equations(preset, 0.4, 1.1, 2.0, -3.0, 7.0)
    d = 0.4 - 1.1
    mass = [[0.66708333333, 0.25 * cos(d)], [0.25 * cos(d), 0.16708333333]]
    load = [-7 - 0.25 * sin(d) * 9 - 7.5 * sin(0.4), 7 + 0.25 * sin(d) * 4 - 2.5 * sin(1.1)]
    np.testing.assert_allclose([a1, a2], np.linalg.solve(mass, load), rtol=1e-9)
