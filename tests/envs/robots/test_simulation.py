import gymnasium
import numpy as np
import pytest

from mppo.envs.batch import BatchVectorEnv
from mppo.envs.contract import NO_LIMIT
from mppo.envs.robots.simulation import RobotSimulation, gymnasium_env
from mppo.envs.tasks import NATIVE_TASKS, task_of
from tests.envs.roll import digest, play

ROBOTS = [task.id for task in NATIVE_TASKS if task.robot]


def made(env_id, num_envs=1, **kwargs):
    return RobotSimulation(task_of(env_id), num_envs, 7, **kwargs)


@pytest.mark.parametrize("env_id", ROBOTS)
def test_the_robot_is_that_of_gymnasium(env_id):
    robots = made(env_id, 2)
    body = env_id.removeprefix("mppo/Sparse").rpartition("-")[0] + "-v5"
    assert robots.robot.gymnasium_id == body
    assert type(robots.base) is type(gymnasium.make(body).unwrapped)
    one, two = robots.lanes
    assert one.model is two.model is robots.base.model
    assert one.data is not two.data
    assert one.horizon == 7


def test_sparse_tasks_have_finite_bounds():
    """Gymnasium's checker wants them; MuJoCo calls anything beyond 1e10 bad."""
    assert np.isinf(made("Hopper-v5").observation_space.high).all()
    assert (made("mppo/SparseHopper-v0").observation_space.high == 1e10).all()


def test_arguments_of_sparse_tasks_are_refused_elsewhere():
    for wrong in ({"threshold": 1.0}, {"absolute": True}, {"observe_position": True}):
        with pytest.raises(ValueError, match="concern the sparse tasks alone"):
            made("Hopper-v5", **wrong)


def test_the_feet_of_the_sparse_walker_are_those_of_the_paper_s_time():
    frictions = [
        made(env_id).base.model.geom_friction.tolist()
        for env_id in ("Walker2d-v5", "mppo/SparseWalker2d-v0")
    ]
    assert frictions[0] != frictions[1]
    old = made("Walker2d-v5", xml_file="walker2d.xml")
    assert old.base.model.geom_friction.tolist() == frictions[1]


def test_gymnasium_env_is_bare():
    env = gymnasium_env("Hopper-v5", frame_skip=2)
    assert env is env.unwrapped
    assert env.frame_skip == 2


@pytest.mark.parametrize("name", ["mppo/SparseHopper-v0", "Ant-v5"])
def test_threads_do_not_change_a_bit(name):
    digests = set()
    for threads in (1, 2, 3):
        env = BatchVectorEnv(name, 5, threads=threads)
        env.reset(seed=2)
        digests.add(digest(play(env, 120)))
        env.close()
    assert len(digests) == 1


def test_bad_threads():
    with pytest.raises(ValueError, match="threads is 0; allowed: a whole number, 1 or more"):
        BatchVectorEnv("Hopper-v5", 1, threads=0)


def test_episodes_are_counted_lane_by_lane():
    robots = RobotSimulation(task_of("Hopper-v5"), 2, NO_LIMIT)
    robots.start(0), robots.start(1)
    robots.step(np.zeros((2, 3)))
    robots.start(1)
    robots.step(np.zeros((2, 3)))
    assert robots.elapsed.tolist() == [2, 1]
    assert robots.info(0) == {"x_position": robots.lanes[0].data.qpos[0]}


def test_starts_are_drawn_from_the_given_generator():
    robots = RobotSimulation(task_of("Hopper-v5"), 2, NO_LIMIT)
    for i in range(2):
        robots.use_generator(i, np.random.default_rng(4))
        robots.start(i)
    first, second = robots.observe()
    assert first.tobytes() == second.tobytes()
    with pytest.raises(ValueError, match=r"actions have shape \(2, 1\); allowed: \(2, 3\)"):
        robots.step(np.zeros((2, 1)))


def test_each_lane_is_drawn_in_its_own_context(monkeypatch):
    """Gymnasium draws into whatever context is current; here without a graphics library."""
    said = []

    class Renderer:
        def __init__(self, lane):
            self.lane, self.viewer = lane, self
            said.append("made")

        def make_context_current(self):
            said.append("current")

        def render(self, mode):
            return mode, self.lane

        def close(self):
            said.append("closed")

    robots = RobotSimulation(task_of("Hopper-v5"), 2, NO_LIMIT)
    monkeypatch.setattr(robots, "renderer", Renderer)
    for i in (1, 0, 1):
        assert robots.picture(i, "depth_array") == ("depth_array", robots.lanes[i])
    assert said == ["made", "current", "made", "current", "current"]
    robots.close()
    assert said[5:] == ["closed", "closed"]


def test_sparse_keeps_the_physics_of_gymnasium():
    for name, base, kwargs in (
        ("SparseHalfCheetah", "HalfCheetah-v5", {}),
        ("SparseHopper", "Hopper-v5", {}),
        ("SparseWalker2d", "Walker2d-v5", {"xml_file": "walker2d.xml"}),
    ):
        theirs, ours = gymnasium.make(base, **kwargs), gymnasium.make(f"mppo/{name}-v0")
        assert (theirs.reset(seed=1)[0] == ours.reset(seed=1)[0]).all()
        generator = np.random.default_rng(0)
        for _ in range(60):
            action = generator.normal(size=ours.action_space.shape).astype(np.float32)
            mine, other = ours.step(action), theirs.step(action)
            assert mine[0].tobytes() == other[0].tobytes()
            assert mine[2:4] == other[2:4]
            assert mine[1] in (0.0, 1.0)
            assert mine[4]["x_position"] == other[4]["x_position"]
            if mine[2]:
                ours.reset(), theirs.reset()
        assert ours.unwrapped.dt == theirs.unwrapped.dt
        assert ours.metadata["render_fps"] == theirs.metadata["render_fps"]


def test_observe_position():
    env = gymnasium.make("mppo/SparseHopper-v0", observe_position=True)
    observation, info = env.reset(seed=0)
    assert observation.shape == (12,)
    assert observation[0] == info["x_position"]
