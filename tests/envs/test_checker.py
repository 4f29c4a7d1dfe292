"""Gymnasium's own checker and pictures, for all our single environments: no one module's."""

import os
import warnings
from ctypes.util import find_library

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from mppo.envs.batch import BatchEnv, BatchVectorEnv
from mppo.envs.checked import CheckedVectorEnv
from mppo.envs.robots.simulation import RobotSimulation
from mppo.envs.tasks import task_of
from tests.envs.roll import NUMPY_IDS, SPARSE_IDS

# MUJOCO_GL is read when mujoco is first imported, so it must be set from outside.
LIBRARIES = {"osmesa": "OSMesa", "egl": "EGL"}
GL = os.environ.get("MUJOCO_GL", "")
HAS_GL = GL in LIBRARIES and find_library(LIBRARIES[GL]) is not None
needs_gl = pytest.mark.skipif(
    not HAS_GL,
    reason="MuJoCo cannot draw: install the Debian package libosmesa6 and set MUJOCO_GL=osmesa "
    "(or libegl1 and MUJOCO_GL=egl)",
)


def check(env_id, **kwargs):
    render = kwargs.pop("render", True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(env_id, **kwargs)
        check_env(env.unwrapped, skip_render_check=not render)
        env.close()


@pytest.mark.parametrize("env_id", NUMPY_IDS)
@pytest.mark.parametrize("render_mode", [None, "rgb_array"])
def test_numpy_tasks(env_id, render_mode):
    check(env_id, render_mode=render_mode)


@pytest.mark.parametrize(
    ("env_id", "kwargs"),
    [
        (NUMPY_IDS[0], {"continuous": True, "layout": "one-wall"}),
        (NUMPY_IDS[1], {"track_limit": 1.0}),
        (NUMPY_IDS[2], {"preset": "rllab", "goal": "height"}),
        (NUMPY_IDS[2], {"preset": "rllab_weak"}),
    ],
)
def test_variants(env_id, kwargs):
    check(env_id, **kwargs)


@pytest.mark.parametrize("env_id", SPARSE_IDS)
def test_sparse_locomotion(env_id):
    check(env_id, render=False)
    check(env_id, render=False, observe_position=True, absolute=True)


@needs_gl
@pytest.mark.parametrize("env_id", SPARSE_IDS)
def test_sparse_locomotion_drawn(env_id):
    check(env_id, render_mode="rgb_array")


@needs_gl
def test_vector_draws_each_lane_in_its_own_context():
    env = gymnasium.make_vec("mppo/Hopper-v5", num_envs=2, render_mode="rgb_array")
    env.reset(seed=0)
    env.render()
    images = env.render()
    assert images is not None
    assert len(images) == 2
    for image in images:
        assert image.shape == (480, 480, 3)
        assert image.mean() > 50.0
    env.close()


def test_visual_options_are_a_dict_for_every_gymnasium(monkeypatch):
    """Gymnasium 1.2 looks into them; since 1.3 it takes None as well."""
    chosen = {2: True}
    plain, special = (
        RobotSimulation(task_of("Hopper-v5"), 1, 1000, **given)
        for given in ({}, {"visual_options": chosen})
    )
    renderer = "gymnasium.envs.mujoco.mujoco_rendering.MujocoRenderer"
    monkeypatch.setattr(renderer, lambda *given: given)
    assert plain.renderer(plain.lanes[0])[-1] == {}
    assert special.renderer(special.lanes[0])[-1] == chosen


@pytest.mark.parametrize("kind", [BatchVectorEnv, CheckedVectorEnv])
def test_what_could_not_be_made_can_be_closed(kind):
    """Gymnasium 1.2 does so from `__del__`; an error there would be printed after the real one."""
    env = kind.__new__(kind)
    env.close()
    assert env.closed


def test_pictures():
    env = gymnasium.make("mppo/Maze-v0", render_mode="rgb_array")
    env.reset(seed=0)
    before = env.render()
    env.step(0)
    assert before.shape == (428, 428, 3)
    changed = np.argwhere((env.render() != before).any(axis=2))
    assert changed.min() >= 4
    assert changed[:, 1].max() < 24
    walls = (before[4:-4, 4:-4] == (38, 44, 56)).all(axis=2)[10::20, 10::20]
    assert (walls == env.unwrapped.simulation.dynamics.layout.walls[::-1]).all()
    env.close()
    for env_id in NUMPY_IDS[1:]:
        images = gymnasium.make_vec(env_id, num_envs=2, render_mode="rgb_array")
        images.reset(seed=0)
        first, second = images.render()
        assert first.dtype == np.uint8
        assert (first != second).any()


def test_bad_render_mode():
    with pytest.raises(ValueError, match="render_mode is 'ascii'; allowed: None, rgb_array"):
        BatchEnv("mppo/Maze-v0", render_mode="ascii")
