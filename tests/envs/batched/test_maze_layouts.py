import numpy as np
import pytest

from mppo.envs.batched.maze_layouts import Layout, layout_of, shortest_path


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
