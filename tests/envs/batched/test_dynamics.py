import numpy as np
import pytest
from gymnasium.spaces import Box

from mppo.envs.batched.dynamics import BatchedSimulation, checked_box_actions


class Walk:
    """Each sub-environment starts at a random place and moves by its action."""

    render_fps = 3
    observation_space = Box(-np.inf, np.inf, (1,))
    action_space = Box(-1, 1, (1,))

    def __init__(self, num_envs):
        self.place = np.zeros((num_envs, 1))

    def start(self, i, generator):
        self.place[i] = generator.random()

    def step(self, actions):
        self.place += actions
        return self.place[:, 0].copy(), self.place[:, 0] > 2

    def observe(self):
        return self.place.copy()

    def arrays(self):
        return {"place": self.place}

    def picture(self, i):
        return np.full((2, 2, 3), i, np.uint8)


def test_episodes_have_a_length_and_a_generator_each():
    walk = BatchedSimulation(Walk(2), 2)
    for i in range(2):
        walk.use_generator(i, np.random.default_rng(i))
        walk.start(i)
    expected = [np.random.default_rng(i).random() for i in range(2)]
    assert walk.observe()[:, 0].tolist() == expected
    rewards, ended = walk.step(np.array([[0.0], [2.0]]))
    assert rewards.tolist() == [expected[0], expected[1] + 2.0]
    assert ended.tolist() == [False, True]
    walk.start(1)
    walk.step(np.zeros((2, 1)))
    assert walk.elapsed.tolist() == [2, 1]
    assert walk.picture(1, "rgb_array").max() == 1
    assert (walk.render_fps, walk.info(0), len(walk.lanes)) == (3, {}, 0)


def test_a_state_is_a_copy_and_holds_the_future():
    walk = BatchedSimulation(Walk(2), 2)
    walk.start(0), walk.start(1)
    walk.step(np.ones((2, 1)))
    state = walk.get_state()
    walk.start(0)
    future = walk.observe().tolist()
    walk.set_state(state)
    assert walk.elapsed.tolist() == [1, 1]
    walk.start(0)
    assert walk.observe().tolist() == future


def test_actions_are_limited_to_what_motors_do():
    given = np.array([[-3.0], [0.25], [7.0]], np.float32)
    assert checked_box_actions(given, (3, 1)).tolist() == [[-1.0], [0.25], [1.0]]
    assert given.tolist() == [[-3.0], [0.25], [7.0]]
    with pytest.raises(ValueError, match=r"actions have shape \(3, 1\); allowed: \(2, 1\)"):
        checked_box_actions(given, (2, 1))
    with pytest.raises(ValueError, match=r"actions hold a NaN: \[\[nan\]\]"):
        checked_box_actions(np.array([[np.nan]]), (1, 1))
