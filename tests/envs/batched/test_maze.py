from functools import partial

import gymnasium
import numpy as np
import pytest

from mppo.envs import native_vector
from mppo.envs.batch import BatchEnv
from mppo.envs.batched.maze import MOVES, Layout, MazeVector, cells, layout_of, shortest_path

Maze = partial(BatchEnv, "mppo/Maze-v0")
UP, DOWN, LEFT, RIGHT = range(4)


def test_two_walls_is_the_default():
    walls = Maze().simulation.dynamics.layout.walls
    assert (walls == layout_of("two-walls").walls).all()


def breadth_first(env):
    """Through the environment itself: set the state, step, look; no table, no layout."""
    start = env.reset(seed=0)[0].tobytes()
    front, seen, length = [env.unwrapped.simulation.dynamics.arrays()["place"].copy()], {start}, 0
    while front:
        length += 1
        ahead = []
        for place in front:
            for move in range(4):
                env.unwrapped.simulation.dynamics.arrays()["place"][:] = place
                observation, reward, terminated, _, _ = env.unwrapped.step(move)
                assert (reward == 1.0) == terminated
                if terminated:
                    return length
                if observation.tobytes() not in seen:
                    seen.add(observation.tobytes())
                    ahead.append(env.unwrapped.simulation.dynamics.arrays()["place"].copy())
        front = ahead
    return None


@pytest.mark.parametrize(
    ("layout", "gap", "length"),
    [("two-walls", 2, 54), ("one-wall", 2, 58), ("one-wall", 4, 54), ("one-wall", 1, 60)],
)
def test_shortest_path(layout, gap, length):
    assert breadth_first(Maze(layout=layout, gap=gap, horizon=10**6)) == length
    assert shortest_path(layout_of(layout, gap)) == length


def test_moves_and_goal():
    env = Maze(layout="one-wall")
    observation, info = env.reset(seed=0)
    assert observation.tolist() == [-1.0, -1.0]
    assert observation.dtype == np.float32
    assert info == {}
    for move in (LEFT, DOWN):
        assert env.step(move)[0].tolist() == [-1.0, -1.0]
    np.testing.assert_allclose(env.step(RIGHT)[0], [-0.9, -1.0], atol=1e-7)
    np.testing.assert_allclose(env.step(UP)[0], [-0.9, -0.9], atol=1e-7)
    env.step(DOWN)
    for _ in range(30):
        observation = env.step(RIGHT)[0]
    assert cells(observation).tolist() == [9, 0]  # stopped by the wall in column 10
    for move in [UP] * 19 + [RIGHT] * 11 + [DOWN] * 18:
        assert env.step(move)[1:4] == (0.0, False, False)
    assert env.step(DOWN)[1:4] == (1.0, True, False)


def test_cells_inverts_every_observation():
    for continuous in (False, True):
        env = MazeVector(num_envs=1, continuous=continuous)
        env.reset(seed=0)
        for column in range(21):
            for row in range(21):
                place = env.simulation.dynamics.arrays()["place"]
                place[:] = [[column + 0.5, row + 0.5]] if continuous else row * 21 + column
                assert env.cells(env.simulation.dynamics.observe()).tolist() == [[column, row]]
    assert cells(np.ones((3, 4, 2))).shape == (3, 4, 2)


def test_own_drawing():
    env = Maze(
        layout="""
        S#G
        ...
    """
    )
    assert env.simulation.dynamics.layout.start == (0, 1)
    assert env.simulation.dynamics.layout.goal == (2, 1)
    env.reset(seed=0)
    rewards = [env.step(move)[1] for move in (RIGHT, DOWN, RIGHT, RIGHT, UP)]
    assert rewards == [0.0, 0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize("actions", [[4, 0], [0, -1], [2**40, 0], [0.0, 1.0]])
def test_bad_actions(actions):
    env = MazeVector(num_envs=2)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"actions are .*allowed"):
        env.step(np.array(actions))


def slow_continuous(place, action, walls):
    for axis in (0, 1):
        tried = list(place)
        tried[axis] += min(max(action[axis], -1.0), 1.0)
        column, row = int(np.floor(tried[0])), int(np.floor(tried[1]))
        if 0 <= column < 21 and 0 <= row < 21 and not walls[row, column]:
            place = tried
    return place


def test_continuous_against_a_slow_version():
    env = MazeVector(num_envs=1, continuous=True, horizon=10**6)
    env.reset(seed=0)
    generator, place = np.random.default_rng(0), [0.5, 0.5]
    for _ in range(2000):
        action = generator.normal(size=2) * 2
        observation, reward, terminated, _, _ = env.step(action[None])
        place = slow_continuous(place, action, env.layout.walls)
        assert env.simulation.dynamics.arrays()["place"].tolist() == [place]
        np.testing.assert_allclose(observation[0], 2 * np.array(place) / 21 - 1, atol=1e-6)
        assert terminated[0] == (place[0] >= 20 and place[1] < 1) == (reward[0] == 1.0)
        if terminated[0]:
            env.reset()
            place = [0.5, 0.5]
    with pytest.raises(ValueError, match="NaN"):
        env.step(np.array([[np.nan, 0.0]]))


def test_discoverability():
    """Of uniform random walks of 1000 steps about 2.3 % find G of two-walls (2000 episodes)."""
    env = native_vector("mppo/Maze-v0", 1000)
    assert env is not None
    env.reset(seed=0)
    generator = np.random.default_rng(0)
    found = np.zeros(1000, dtype=bool)
    for _ in range(1000):
        _, _, terminated, truncated, _ = env.step(generator.integers(0, 4, 1000))
        found |= terminated
        if terminated.any() and not truncated.any():
            env.reset(options={"reset_mask": terminated})
    assert 0.01 < found.mean() < 0.05


def test_moves_are_documented():
    assert MOVES == ((0, 1), (0, -1), (-1, 0), (1, 0))
    assert gymnasium.make("mppo/Maze-v0").action_space == gymnasium.spaces.Discrete(4)


def test_two_walls():
    walls = layout_of("two-walls").walls
    expected = np.zeros((21, 21), dtype=bool)
    expected[0:17, 7] = expected[4:21, 13] = True
    assert (walls == expected).all()
    assert walls.sum() == 34


def test_one_wall():
    walls = layout_of("one-wall").walls
    assert walls[:, 10].tolist() == [True] * 19 + [False] * 2
    assert walls.sum() == 19
    assert layout_of("one-wall", 5).walls.sum() == 16


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ("three-walls", "layout is 'three-walls'; allowed: two-walls, one-wall, or a drawing"),
        ("S.\n.G.", "lines of .2, 3. characters"),
        ("S.\n.X", "characters .'X'.; allowed: . # S G"),
        ("..\n.G", "0 cells S; allowed: exactly one"),
        ("SG\n.G", "2 cells G; allowed: exactly one"),
        ("S#\n#G", "no way from S .0, 1. to G .1, 0."),
    ],
)
def test_bad_layouts(layout, message):
    with pytest.raises(ValueError, match=message):
        layout_of(layout)


@pytest.mark.parametrize("gap", [0, 22, 1.5, True])
def test_bad_gap(gap):
    with pytest.raises(ValueError, match=r"gap is .*allowed: whole numbers from 1 to 21"):
        layout_of("one-wall", gap)


def test_shortest_path_by_hand():
    assert shortest_path(layout_of("S.G\n...")) == 2
    assert shortest_path(layout_of("S#G\n...")) == 4
    walled_in = Layout(np.array([[False, True, False]]), (0, 0), (2, 0))
    assert shortest_path(walled_in) is None
