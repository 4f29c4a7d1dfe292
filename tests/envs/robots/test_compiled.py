"""The compiled inner loop against `Lane.step`, bit for bit."""

from itertools import pairwise

import numpy as np
import pytest

from mppo.acting import kernel
from mppo.envs.contract import Limits, Rows
from mppo.envs.robots.factory import MUJOCO_TASKS, Workshop, mujoco_task

VARIANTS = [
    *((task, {}) for task in MUJOCO_TASKS),
    ("Ant-v5", {"include_cfrc_ext_in_observation": False}),
    ("Ant-v5", {"exclude_current_positions_from_observation": False, "contact_cost_weight": 0.1}),
    ("Hopper-v5", {"terminate_when_unhealthy": False, "ctrl_cost_weight": 0.3}),
    ("Hopper-v5", {"healthy_state_range": (-100.0, 0.5), "healthy_angle_range": (-9.0, 9.0)}),
    ("Hopper-v5", {"healthy_state_range": (-0.5, 100.0), "healthy_angle_range": (-9.0, 9.0)}),
    ("Walker2d-v5", {"healthy_z_range": (1.1, 1.4), "healthy_angle_range": (-0.1, 0.3)}),
    ("Walker2d-v5", {"exclude_current_positions_from_observation": False}),
    ("SparseHopper-v0", {"threshold": 0.01, "absolute": True, "observe_position": True}),
    ("SparseHalfCheetah-v0", {"threshold": 0.001}),
]


def network(inputs, outputs, seed=0, filtered=True):
    rng = np.random.default_rng(seed)
    sizes = [inputs, 7, outputs]
    layers = [
        (rng.normal(size=(a, b)).astype("f"), rng.normal(size=b).astype("f"))
        for a, b in pairwise(sizes)
    ]
    mean, inverse = rng.normal(size=inputs).astype("f"), rng.uniform(0.5, 2, inputs).astype("f")
    return kernel.Forward(filtered, mean, inverse, 5.0, *kernel.pack(layers), 0)


def rows(lane, steps, seed=0):
    rng = np.random.default_rng(seed)
    size = lane.model.nu
    return Rows(
        rng.normal(size=(steps, size)).astype("f"),
        np.zeros((steps, lane.observation.size), "f"),
        np.zeros((steps, size), "f"),
        np.zeros(steps),
    )


@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize(("task", "arguments"), VARIANTS, ids=lambda v: str(v))
def test_a_stretch_is_its_steps(task, arguments, clip):
    shop = Workshop(mujoco_task(task), **arguments)
    fast, slow = shop.lane(60), shop.lane(60)
    net = network(fast.observation.size, fast.model.nu)
    limits = Limits(clip, shop.action_space.low, shop.action_space.high)
    for seed in (1, 2):
        for lane in (fast, slow):
            lane.generator = np.random.default_rng(seed)
            lane.reset()
        seen, t, ended, paid = rows(fast, 200, seed), 0, 0, []
        while t < 200:
            halt = fast.stretch(net, limits, seen, t, min(200, t + 23))
            for row in range(t, t + halt.steps):
                np.testing.assert_array_equal(seen.observations[row], slow.observation.astype("f"))
                mean = kernel.outputs(net, seen.observations[row : row + 1])[0]
                np.testing.assert_array_equal(seen.actions[row], mean + seen.noise[row])
                action = seen.actions[row]
                action = np.clip(action, limits.low, limits.high) if clip else action
                reward, terminated, truncated = slow.step(action)
                paid.append(reward)
                assert seen.rewards[row] == reward
                assert not (terminated or truncated) or row == t + halt.steps - 1
            np.testing.assert_array_equal(fast.observation, slow.observation)
            assert fast.get_state()["physics"].tobytes() == slow.get_state()["physics"].tobytes()
            assert fast.ended() == slow.ended()
            assert fast._x == slow._x
            t += halt.steps
            if any(fast.ended()):
                ended += 1
                fast.reset(), slow.reset()
        assert ended >= 2
        assert len(set(paid)) > 1 or "Sparse" in task


def test_a_bad_number_halts_the_stretch_in_its_step():
    lane = Workshop(mujoco_task("Hopper-v5")).lane(100)
    lane.reset()
    seen = rows(lane, 50)
    seen.noise[3, 1] = np.nan
    net = network(lane.observation.size, 3, filtered=False)
    halt = lane.stretch(net, Limits(False, *(np.zeros(3, "f"),) * 2), seen, 0, 50)
    assert (halt.steps, halt.warned) == (4, True)
    assert "BADCTRL" in lane.bad_numbers()


@pytest.mark.parametrize("activation", range(4))
@pytest.mark.parametrize("filtered", [False, True])
def test_the_compiled_network_is_the_formula(activation, filtered):
    net = network(5, 3, seed=activation, filtered=filtered)._replace(activation=activation)
    x = np.random.default_rng(3).normal(0, 4, (50, 5)).astype("f")
    act = [
        np.tanh,
        lambda v: np.maximum(v, 0),
        lambda v: np.where(v > 0, v, np.expm1(np.minimum(v, 0))),
        lambda v: v / (1 + np.exp(-v)),
    ][activation]
    h = x.astype(float)
    if filtered:
        h = np.clip((h - net.mean) * net.inverse, -5, 5)
    biases, weights = net.numbers[:7], net.numbers[7:42].reshape(5, 7)
    h = act(h @ weights.astype(float) + biases)
    wanted = h @ net.numbers[45:].reshape(7, 3).astype(float) + net.numbers[42:45]
    found = kernel.outputs(net, x)
    np.testing.assert_allclose(found, wanted, rtol=3e-6, atol=3e-6)
    for n in range(50):  # however many come together
        np.testing.assert_array_equal(kernel.outputs(net, x[n : n + 1])[0], found[n])


def test_the_compiled_tanh_is_within_two_steps_of_single_precision():
    x = np.linspace(-12, 12, 100_001).astype("f")
    found = x.copy()
    kernel._activate(0, found)
    wanted = np.tanh(x.astype(float))
    assert np.abs(found - wanted).max() < 1.6e-7
    assert np.abs(found).max() <= 1
