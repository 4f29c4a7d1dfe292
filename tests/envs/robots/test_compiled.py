"""The compiled inner loop against `Lane.step`, bit for bit."""

from itertools import pairwise

import numpy as np
import pytest

from mppo.acting import kernel
from mppo.envs.contract import Limits, Rows
from mppo.envs.robots.lane import MujocoLane
from mppo.envs.robots.simulation import RobotSimulation
from mppo.envs.tasks import NATIVE_TASKS, task_of

VARIANTS = [
    *((task.id, {}) for task in NATIVE_TASKS if task.robot),
    ("Ant-v5", {"include_cfrc_ext_in_observation": False}),
    ("Ant-v5", {"exclude_current_positions_from_observation": False, "contact_cost_weight": 0.1}),
    ("Hopper-v5", {"terminate_when_unhealthy": False, "ctrl_cost_weight": 0.3}),
    ("Hopper-v5", {"healthy_state_range": (-100.0, 0.5), "healthy_angle_range": (-9.0, 9.0)}),
    ("Hopper-v5", {"healthy_state_range": (-0.5, 100.0), "healthy_angle_range": (-9.0, 9.0)}),
    ("Walker2d-v5", {"healthy_z_range": (1.1, 1.4), "healthy_angle_range": (-0.1, 0.3)}),
    ("Walker2d-v5", {"exclude_current_positions_from_observation": False}),
    ("mppo/SparseHopper-v0", {"threshold": 0.01, "absolute": True, "observe_position": True}),
    ("mppo/SparseHalfCheetah-v0", {"threshold": 0.001}),
]


UNLIMITED = Limits(False, *(np.zeros(3, "f"),) * 2)


def network(inputs, outputs, seed=0, filtered=True):
    rng = np.random.default_rng(seed)
    sizes = [inputs, 7, outputs]
    layers = [
        (rng.normal(size=(a, b)).astype("f"), rng.normal(size=b).astype("f"))
        for a, b in pairwise(sizes)
    ]
    mean, inverse = rng.normal(size=inputs).astype("f"), rng.uniform(0.5, 2, inputs).astype("f")
    return kernel.Forward(filtered, mean, inverse, 5.0, *kernel.pack(layers), 0)


class Policy:
    """An actor; compiled code can run its network, or Python has to ask it for every action."""

    def __init__(self, net, compiled=True):
        self.net, self.adds_noise = net, net if compiled else None

    def act(self, observation, noise):
        return kernel.outputs(self.net, observation[None])[0] + noise


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
def test_many_steps_are_single_steps(task, arguments, clip):
    robots = RobotSimulation(task_of(task), 2, 60, **arguments)
    fast, slow = robots.lanes
    net = network(fast.observation.size, fast.model.nu)
    limits = Limits(clip, robots.action_space.low, robots.action_space.high)
    for seed in (1, 2):
        for lane in (fast, slow):
            lane.generator = np.random.default_rng(seed)
            lane.reset()
        seen, t, ended, paid = rows(fast, 200, seed), 0, 0, []
        while t < 200:
            steps = fast.run_steps(Policy(net), limits, seen, t, min(200, t + 23))
            for row in range(t, t + steps):
                np.testing.assert_array_equal(seen.observations[row], slow.observation.astype("f"))
                mean = kernel.outputs(net, seen.observations[row : row + 1])[0]
                np.testing.assert_array_equal(seen.actions[row], mean + seen.noise[row])
                action = seen.actions[row]
                action = np.clip(action, limits.low, limits.high) if clip else action
                reward, terminated, truncated = slow.step(action)
                paid.append(reward)
                assert seen.rewards[row] == reward
                assert not (terminated or truncated) or row == t + steps - 1
            np.testing.assert_array_equal(fast.observation, slow.observation)
            assert fast.get_state()["physics"].tobytes() == slow.get_state()["physics"].tobytes()
            assert fast.ended() == slow.ended()
            assert fast.get_state()["x"] == slow.get_state()["x"]
            t += steps
            if any(fast.ended()):
                ended += 1
                fast.reset(), slow.reset()
        assert ended >= 2
        assert len(set(paid)) > 1 or "Sparse" in task


@pytest.mark.parametrize("bound", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("lacking", ["a network to run", "MuJoCo's library"])
def test_python_steps_where_compiled_code_cannot(lacking, bound, monkeypatch):
    """The same bits, one step at a time."""
    robots = RobotSimulation(task_of("Hopper-v5"), 1, 60)
    fast = robots.lanes[0]
    if lacking == "MuJoCo's library":
        monkeypatch.setattr("mppo.envs.robots.compiled.addresses", lambda: None)
    slow = MujocoLane(robots.robot, robots.base, 60)
    net = network(fast.observation.size, 3)
    clip, squash = bound
    limits = Limits(clip, robots.action_space.low, robots.action_space.high, squash)
    for lane in (fast, slow):
        lane.generator = np.random.default_rng(1)
        lane.reset()
    one, other = rows(fast, 60), rows(slow, 60)
    steps = fast.run_steps(Policy(net), limits, one, 0, 60)
    assert 5 < steps < 60
    asked = Policy(net, compiled=lacking == "MuJoCo's library")
    for t in range(steps):
        assert slow.ended() == (False, False)
        assert slow.run_steps(asked, limits, other, t, 60) == 1
    assert slow.ended() == fast.ended() == (True, False)
    assert np.abs(one.actions).max() > 1  # rows hold what the policy said, bounded or not
    for name in Rows._fields:
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes()
    for name, array in fast.get_state().items():
        assert array.tobytes() == slow.get_state()[name].tobytes()


def test_a_bad_number_stops_the_steps_at_its_own():
    lane = RobotSimulation(task_of("Hopper-v5"), 1, 100).lanes[0]
    lane.reset()
    seen = rows(lane, 50)
    seen.noise[3, 1] = np.nan
    net = network(lane.observation.size, 3, filtered=False)
    assert lane.run_steps(Policy(net), UNLIMITED, seen, 0, 50) == 4
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
