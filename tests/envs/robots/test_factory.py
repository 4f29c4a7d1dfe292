import gymnasium
import numpy as np
import pytest

from mppo.envs.robots.factory import LaneFactory, gymnasium_env
from mppo.envs.tasks import NATIVE_TASKS, task_of

ROBOTS = [task.id for task in NATIVE_TASKS if task.robot]


@pytest.mark.parametrize("env_id", ROBOTS)
def test_the_robot_is_that_of_gymnasium(env_id):
    factory = LaneFactory(task_of(env_id))
    body = env_id.removeprefix("mppo/Sparse").rpartition("-")[0] + "-v5"
    assert factory.robot.gymnasium_id == body
    assert type(factory.base) is type(gymnasium.make(body).unwrapped)
    one, two = factory.lane(5), factory.lane(7)
    assert one.model is two.model is factory.model
    assert one.data is not two.data
    assert (one.horizon, two.horizon) == (5, 7)


def test_sparse_tasks_have_finite_bounds():
    """Gymnasium's checker wants them; MuJoCo calls anything beyond 1e10 bad."""
    assert np.isinf(LaneFactory(task_of("Hopper-v5")).observation_space.high).all()
    assert (LaneFactory(task_of("mppo/SparseHopper-v0")).observation_space.high == 1e10).all()


def test_arguments_of_sparse_tasks_are_refused_elsewhere():
    for wrong in ({"threshold": 1.0}, {"absolute": True}, {"observe_position": True}):
        with pytest.raises(ValueError, match="concern the sparse tasks alone"):
            LaneFactory(task_of("Hopper-v5"), **wrong)


def test_the_feet_of_the_sparse_walker_are_those_of_the_paper_s_time():
    frictions = [
        LaneFactory(task_of(env_id)).model.geom_friction.tolist()
        for env_id in ("Walker2d-v5", "mppo/SparseWalker2d-v0")
    ]
    assert frictions[0] != frictions[1]
    old = LaneFactory(task_of("Walker2d-v5"), xml_file="walker2d.xml")
    assert old.model.geom_friction.tolist() == frictions[1]


def test_gymnasium_env_is_bare():
    env = gymnasium_env("Hopper-v5", frame_skip=2)
    assert env is env.unwrapped
    assert env.frame_skip == 2
