import numpy as np
import pytest

from mppo.envs.batch import BatchVectorEnv
from mppo.envs.contract import NO_LIMIT
from mppo.envs.robots.simulation import RobotSimulation
from mppo.envs.tasks import task_of
from tests.envs.roll import digest, play


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
    monkeypatch.setattr(robots.factory, "renderer", Renderer)
    for i in (1, 0, 1):
        assert robots.picture(i, "depth_array") == ("depth_array", robots.lanes[i])
    assert said == ["made", "current", "made", "current", "current"]
    robots.close()
    assert said[5:] == ["closed", "closed"]
