"""Drawings of mazes: the two named layouts, and the user's own in plain text."""

from collections import deque
from typing import NamedTuple

import numpy as np

SIZE = 21  # cells along each side of the named layouts
LAYOUTS = ("two-walls", "one-wall")


class Layout(NamedTuple):
    """A maze; cells are (column, row), rows counted from the bottom."""

    walls: np.ndarray  # bool, indexed [row, column]
    start: tuple[int, int]
    goal: tuple[int, int]


def layout_of(layout: str, gap: int = 2) -> Layout:
    """A named layout, or a drawing with newlines (`.` free, `#` wall, `S` start, `G` goal).

    >>> layout_of("S#G\\n...").goal
    (2, 1)
    """
    if "\n" in layout:
        return _parse(layout)
    walls = np.zeros((SIZE, SIZE), dtype=np.bool_)
    if layout == "two-walls":
        walls[:17, 7] = True
        walls[4:, 13] = True
    elif layout == "one-wall":
        if isinstance(gap, bool) or not isinstance(gap, (int, np.integer)) or not 0 < gap <= SIZE:
            raise ValueError(f"gap is {gap!r}; allowed: whole numbers from 1 to {SIZE}")
        walls[: SIZE - gap, 10] = True
    else:
        raise ValueError(
            f"layout is {layout!r}; allowed: {', '.join(LAYOUTS)}, or a drawing with newlines"
        )
    return Layout(walls, (0, 0), (SIZE - 1, 0))


def _parse(drawing: str) -> Layout:
    lines = [line.strip() for line in drawing.strip().splitlines()]
    widths = sorted({len(line) for line in lines})
    if len(widths) != 1:
        raise ValueError(f"layout has lines of {widths} characters; make all lines equally long")
    unknown = sorted(set("".join(lines)) - set(".#SG"))
    if unknown:
        raise ValueError(f"layout holds the characters {unknown}; allowed: . # S G")
    cells = np.array([list(line) for line in reversed(lines)])
    start, goal = _only(cells, "S"), _only(cells, "G")
    layout = Layout(cells == "#", start, goal)
    if shortest_path(layout) is None:
        raise ValueError(f"layout has no way from S {start} to G {goal}; open a wall")
    return layout


def _only(cells: np.ndarray, letter: str) -> tuple[int, int]:
    found = np.argwhere(cells == letter)
    if len(found) != 1:
        raise ValueError(f"layout has {len(found)} cells {letter}; allowed: exactly one")
    row, column = found[0].tolist()
    return column, row


def shortest_path(layout: Layout) -> int | None:
    """The number of moves from start to goal, None if there is no way.

    >>> shortest_path(layout_of("two-walls"))
    54
    """
    rows, columns = layout.walls.shape
    distances = {layout.start: 0}
    queue = deque([layout.start])
    while queue:
        column, row = queue.popleft()
        if (column, row) == layout.goal:
            return distances[column, row]
        for x, y in ((column, row + 1), (column, row - 1), (column - 1, row), (column + 1, row)):
            inside = 0 <= x < columns and 0 <= y < rows
            if inside and not layout.walls[y, x] and (x, y) not in distances:
                distances[x, y] = distances[column, row] + 1
                queue.append((x, y))
    return None
