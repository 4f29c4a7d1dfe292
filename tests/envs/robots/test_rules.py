from fractions import Fraction

import numpy as np
import pytest

from mppo.envs.robots.rules import (
    Body,
    clip,
    control_cost,
    distance,
    norm_fuses,
    sum_of_squares,
    write_state,
)


def body(ctrl=(0.0,), single=True):
    one = np.arange(1.0, 4.0)
    return Body(one, 10 * one, np.array(ctrl, np.float64), one, np.zeros(0), single)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 3, 7, 8, 9, 17, 84, 128, 129, 500])
def test_sums_run_in_numpy_s_order(size, dtype):
    for seed in range(30):
        values = np.random.default_rng(seed).normal(size=size).astype(dtype)
        assert sum_of_squares(values) == np.sum(np.square(values))


@pytest.mark.parametrize("size", [2, 3, 6, 8])
def test_control_cost_rounds_as_numpy_does(size):
    """Of a float32 action it is a float32, as in Gymnasium; of a float64 action it is none."""
    generator = np.random.default_rng(0)
    for scale in (1.0, 1e-3, 1e-22, 1e18):
        for _ in range(300):
            action = (generator.normal(size=size) * scale).astype(np.float32)
            assert control_cost(body(action), 0.3) == float(0.3 * np.sum(np.square(action)))
            double = generator.normal(size=size) * scale
            assert control_cost(body(double, single=False), 0.3) == 0.3 * np.sum(np.square(double))


def test_distances_round_as_those_of_numpy_do():
    """Whichever way this machine's NumPy adds squares up, and both ways are told apart."""
    generator, ways = np.random.default_rng(0), set()
    for _ in range(1000):
        places = generator.normal(size=6)
        apart = places[3:] - places[:3]
        expected = float(np.linalg.norm(apart))
        assert distance(places, 1.0, 0.0, float(norm_fuses())) == expected
        x, y, z = (Fraction(float(one)) for one in apart)
        at_once = float(z * z + Fraction(float(y * y + Fraction(float(x * x)))))
        assert distance(places, 1.0, 0.0, 1.0) == np.sqrt(at_once)
        ways.add(distance(places, 1.0, 0.0, 0.0) == np.sqrt(at_once))
    assert ways == {True, False}


def test_clip_keeps_a_nan():
    assert [clip(value, -1.0, 2.0) for value in (-3.0, 0.5, 9.0)] == [-1.0, 0.5, 2.0]
    assert np.isnan(clip(np.nan, -1.0, 2.0))


def test_write_state():
    """By hand: positions 1 2 3 without the first, velocities 10 20 30 up to 25."""
    observation = np.zeros(7)
    assert write_state(body(), 1.0, 25.0, observation) == 5
    assert observation.tolist() == [2.0, 3.0, 10.0, 20.0, 25.0, 0.0, 0.0]
