"""Robots of the user's: single environments and compiled ones are the same."""

import gymnasium
import numpy as np
import pytest

import mppo
from mppo.envs.batch import BatchVectorEnv, lanes_of
from mppo.envs.source import env_source
from mppo.errors import BadRequest, SlowPath
from tests.envs.robots.like_gymnasium import assert_like_gymnasium

XML = """
<mujoco><worldbody><body>
<joint name="hinge" type="hinge" axis="0 1 0" pos="0 0 0.5"/>
<geom type="capsule" fromto="0 0 0 0 0 0.5" size="0.05"/>
</body></worldbody>
<actuator><motor joint="hinge" gear="3" ctrlrange="-1 1" ctrllimited="true"/></actuator></mujoco>
"""


def observe(body, numbers, observation):
    observation[0] = np.sin(body.qpos[0])
    observation[1] = body.qvel[0]


def healthy(body, numbers):
    return abs(body.qpos[0]) < numbers[0]


def reward(body, numbers, before, is_healthy):
    return (body.qpos[0] - before) * numbers[1] + (1.0 if is_healthy else 0.0)


mppo.register_robot(
    "TestHinge-v0",
    XML,
    observe,
    reward,
    healthy,
    observation_size=2,
    numbers=(0.4, 7.0),
    horizon=90,
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compiled_steps_are_those_of_python(dtype):
    assert_like_gymnasium("TestHinge-v0", {}, dtype)


def test_it_is_known_by_its_name():
    found = env_source("TestHinge-v0")
    assert (found.native, found.horizon, found.of_the_paper) == (True, 90, False)
    assert lanes_of(found.make(2))[1].observation.shape == (2,)
    env = gymnasium.make("TestHinge-v0")
    env.reset(seed=0)
    steps, ended = 0, False
    while not ended:
        _, paid, ended, _, _ = env.step(np.ones(1, np.float32))
        steps += 1
    assert 3 < steps < 90
    assert paid < 1.0  # fallen: what is left is the way of one step


def test_a_name_is_taken_once():
    with pytest.raises(BadRequest, match=r'"Hopper-v5" already'):
        mppo.register_robot("Hopper-v5", XML, observe, reward, observation_size=2)


def test_where_bits_differ_python_steps_with_a_warning(monkeypatch):
    """As on a machine whose sines are rounded otherwise."""
    monkeypatch.setattr("mppo.envs.robots.simulation._same_steps", lambda *given: False)
    with pytest.warns(SlowPath, match="TestHinge-v0: compiled steps gave other bits; its own Py"):
        found = env_source("TestHinge-v0")
    assert not found.native
    assert not isinstance(found.make(1), BatchVectorEnv)
    with pytest.warns(SlowPath, match="Reacher-v5"):
        assert env_source("Reacher-v5").make(2).num_envs == 2
    with pytest.raises(BadRequest, match="other bits"):
        env_source("mppo/SparseHopper-v0")  # there is no other way to step it
