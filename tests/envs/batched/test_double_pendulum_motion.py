from math import cos, sin

import numpy as np
import pytest

from mppo.envs.batched.double_pendulum_motion import PRESETS, equations, motion


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
