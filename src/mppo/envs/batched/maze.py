"""Maze: find the way around the walls to G; reward 1 there, none before (paper, Figure 2a)."""

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete

from mppo.envs.batch import BatchVectorEnv
from mppo.envs.batched import drawing
from mppo.envs.batched.dynamics import checked_box_actions
from mppo.envs.contract import State

SIZE = 21  # cells along each side of the named layouts
LAYOUTS = ("two-walls", "one-wall")
MOVES = ((0, 1), (0, -1), (-1, 0), (1, 0))  # up, down, left, right as (column, row)


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


def cells(
    observations: np.ndarray, shape: tuple[int, int] = (21, 21), continuous: bool = False
) -> np.ndarray:
    """The (column, row) of each observation as integers; shape is (columns, rows).

    >>> cells(np.array([[-1.0, -1.0], [1.0, 0.0]])).tolist()
    [[0, 0], [20, 10]]
    """
    unit = (np.asarray(observations, dtype=np.float64) + 1.0) / 2.0
    size = np.array(shape, dtype=np.float64)
    raw = np.floor(unit * size) if continuous else np.rint(unit * (size - 1.0))
    return np.clip(raw, 0, size - 1.0).astype(np.int64)


def picture(layout: Layout, position: tuple[float, float], cell: int = 20) -> np.ndarray:
    """The maze as an RGB image; position is the agent's, in cells from the lower left corner."""
    rows, columns = layout.walls.shape
    inner = drawing.canvas(columns * cell, rows * cell)
    inner[:, ::cell] = inner[::cell, :] = drawing.PALE
    for (column, row), colour in ((layout.start, drawing.SAND), (layout.goal, drawing.GREEN)):
        top = (rows - 1 - row) * cell
        inner[top : top + cell, column * cell : (column + 1) * cell] = colour
    blocks = np.ones((cell, cell), dtype=np.bool_)
    inner[np.kron(layout.walls[::-1], blocks)] = drawing.INK
    x, y = position[0] * cell, (rows - position[1]) * cell
    drawing.disc(inner, (x, y), 0.36 * cell, drawing.RED)
    frame = np.empty((rows * cell + 8, columns * cell + 8, 3), dtype=np.uint8)
    frame[:] = drawing.INK
    frame[4:-4, 4:-4] = inner
    return frame


class _Maze:
    """A maze of 21 x 21 cells, or the user's own; observed: (column, row) scaled to [-1, 1]."""

    render_fps: int = 30
    continuous: bool = False
    place: np.ndarray  # of all agents
    _start: Any
    move: Callable[[np.ndarray], np.ndarray]  # all agents; returns who is at the goal
    position: Callable[[int], tuple[float, float]]  # of agent i, in cells

    def __init__(self, layout: Layout) -> None:
        self.layout: Layout = layout
        self.observation_space: gymnasium.Space = Box(-1.0, 1.0, (2,), np.float32)

    def start(self, i: int, generator: np.random.Generator) -> None:
        """Back to S; nothing is drawn."""
        self.place[i] = self._start

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Move all agents."""
        terminated = self.move(actions)
        return terminated.astype(np.float64), terminated

    def arrays(self) -> State:
        """Where the agents are."""
        return {"place": self.place}

    def picture(self, i: int) -> np.ndarray:
        """The maze with agent i."""
        return picture(self.layout, self.position(i))

    def cells(self, observations: np.ndarray) -> np.ndarray:
        """The (column, row) of each observation as integers."""
        rows, columns = self.layout.walls.shape
        return cells(observations, (columns, rows), self.continuous)


class _Discrete(_Maze):
    """Four moves from cell to cell; a move into a wall or out of the maze stays in place.

    Cells are numbered; two tables hold what a step needs: the next cell of each cell and move,
    and the observation of each cell.
    """

    def __init__(self, num_envs: int, layout: Layout) -> None:
        super().__init__(layout)
        rows, columns = layout.walls.shape
        self.action_space: gymnasium.Space = Discrete(len(MOVES))
        self._shape, self._columns = (num_envs,), columns
        row, column = np.divmod(np.arange(rows * columns), columns)
        self._next = np.empty((rows * columns, len(MOVES)), dtype=np.int64)
        for move, (right, up) in enumerate(MOVES):
            x, y = column + right, row + up
            inside = (x >= 0) & (x < columns) & (y >= 0) & (y < rows)
            free = inside & ~layout.walls[np.where(inside, y, 0), np.where(inside, x, 0)]
            self._next[:, move] = np.where(free, y * columns + x, row * columns + column)
        scale = np.array([max(columns - 1, 1), max(rows - 1, 1)]) / 2.0
        self._seen = (np.stack([column, row], axis=1) / scale - 1.0).astype(np.float32)
        self._start = layout.start[1] * columns + layout.start[0]
        self._goal = layout.goal[1] * columns + layout.goal[0]
        self._flat = self._next.reshape(-1)
        self.place = np.full(num_envs, self._start, dtype=np.int64)
        self._index = np.empty(num_envs, dtype=np.int64)

    def move(self, actions: np.ndarray) -> np.ndarray:
        actions = np.asarray(actions)
        if actions.shape != self._shape or actions.dtype.kind not in "iu":
            raise ValueError(
                f"actions are {actions.dtype} of shape {actions.shape}; "
                f"allowed: integers of shape {self._shape}"
            )
        # All bits of all actions at once: only 0 to 3 leave no bit above the second.
        if int(np.bitwise_or.reduce(actions)) >> 2:
            raise ValueError(f"actions are {actions.tolist()}; allowed: 0 to {len(MOVES) - 1}")
        np.multiply(self.place, len(MOVES), out=self._index)
        self._index += actions
        # "clip" spares take() a copy; the check above keeps every index inside.
        self._flat.take(self._index, out=self.place, mode="clip")
        return self.place == self._goal

    def observe(self) -> np.ndarray:
        return self._seen.take(self.place, axis=0, mode="clip")

    def position(self, i: int) -> tuple[float, float]:
        row, column = divmod(int(self.place[i]), self._columns)
        return column + 0.5, row + 0.5


class _Continuous(_Maze):
    """Moves of at most one cell along each axis; x and y are tried one after the other."""

    continuous = True

    def __init__(self, num_envs: int, layout: Layout) -> None:
        super().__init__(layout)
        rows, columns = layout.walls.shape
        self.action_space: gymnasium.Space = Box(-1.0, 1.0, (2,), np.float32)
        self._shape, self._size = (num_envs, 2), np.array([columns, rows], dtype=np.float64)
        # A border of wall makes leaving the maze the same case as running into a wall.
        self._walls = np.pad(layout.walls, 1, constant_values=True)
        self._start = np.array(layout.start) + 0.5
        self._goal = np.array(layout.goal)
        self.place = np.tile(self._start, (num_envs, 1))

    def move(self, actions: np.ndarray) -> np.ndarray:
        steps = checked_box_actions(actions, self._shape)
        for axis in (0, 1):
            tried = self.place.copy()
            tried[:, axis] += steps[:, axis]
            column, row = (np.floor(tried).astype(np.int64) + 1).T
            np.copyto(self.place, tried, where=~self._walls[row, column][:, None])
        return (np.floor(self.place) == self._goal).all(axis=1)

    def observe(self) -> np.ndarray:
        return (2.0 * self.place / self._size - 1.0).astype(np.float32)

    def position(self, i: int) -> tuple[float, float]:
        x, y = self.place[i].tolist()
        return x, y


def maze_dynamics(
    num_envs: int, layout: str = "two-walls", gap: int = 2, continuous: bool = False
) -> _Maze:
    """Mazes side by side.

    `layout` is "two-walls", "one-wall" (with a `gap` of that many cells above the wall) or a
    drawing. Actions: up, down, left, right; with `continuous=True` a step of at most one cell
    along x and y.
    """
    return (_Continuous if continuous else _Discrete)(num_envs, layout_of(layout, gap))


class MazeVector(BatchVectorEnv):
    """Several mazes, with what the figures need: `layout`, and `cells` of observations."""

    layout: Layout
    cells: Callable[[np.ndarray], np.ndarray]

    def __init__(self, task: str = "mppo/Maze-v0", num_envs: int = 1, **kwargs: Any) -> None:
        super().__init__(task, num_envs, **kwargs)
        simulation: Any = self.simulation
        self.layout, self.cells = simulation.dynamics.layout, simulation.dynamics.cells
