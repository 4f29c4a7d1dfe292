"""What figures have in common: curves of seeds with intervals, mazes, files with the same bytes."""

from __future__ import annotations

import io
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mppo.files.atomic import write_atomically
from mppo.statistics.intervals import t_half_width

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Axes = Any  # matplotlib is not always installed, and its grids of axes have no types

SETTINGS: Any = {
    "svg.hashsalt": "mppo",  # names of elements must not be random
    "svg.fonttype": "path",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11,
    "axes.grid": False,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "legend.fontsize": 9,
}
STEPS_LABEL = "environment steps (millions)"


class MazeVisits(NamedTuple):
    """The walls and how often each cell was seen, by seed."""

    walls: np.ndarray
    start: tuple[int, int]
    """Column and row."""
    goal: tuple[int, int]
    counts: dict[int, np.ndarray]
    """Of each seed [rows, columns], the sum over paths."""

    @property
    def total(self) -> np.ndarray:
        """The visits of all seeds."""
        return np.sum(list(self.counts.values()), axis=0)


def settings() -> AbstractContextManager[None]:
    """Draw with our settings, whatever the user's matplotlibrc says."""
    from matplotlib import style

    return style.context(SETTINGS, after_reset=True)


def empty(width: float, height: float) -> Figure:
    """A figure of this size, in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, path: Path) -> Path:
    """Write a figure as SVG or PNG; the same figure gives the same bytes."""
    form = path.suffix.removeprefix(".")
    kept = {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
    content = io.BytesIO()
    figure.savefig(content, format=form, dpi=130, metadata=kept)
    write_atomically(path, content.getvalue())
    return path


def caption(figure: Figure, text: str) -> None:
    """What the whole figure shows, in small letters below it."""
    figure.supxlabel(text, fontsize=9, color="0.3")


def draw_seeds(
    axes: Axes,
    steps: np.ndarray,
    values: np.ndarray,
    colour: str,
    label: str,
    levels: tuple[float, ...] = (),
    style: Any = "-",  # a name or a pattern of dashes
) -> None:
    """Thin lines for the seeds, a thick one for their mean, shaded t intervals of these levels."""
    steps, mean, n = steps / 1e6, values.mean(0), len(values)
    for level in levels if n > 1 else ():
        half = t_half_width(values.std(0, ddof=1), n, level)
        axes.fill_between(steps, mean - half, mean + half, color=colour, alpha=0.13, linewidth=0)
    for seed in values:
        axes.plot(steps, seed, color=colour, alpha=0.25, linewidth=0.7)
    axes.plot(steps, mean, color=colour, linewidth=2.0, linestyle=style, label=label)


def draw_maze(axes: Axes, maze: MazeVisits) -> None:
    """The walls with start and goal."""
    axes.imshow(maze.walls, cmap="gray_r", origin="lower", vmin=0, vmax=1)
    _finish(axes, maze, "black", 10)
    axes.set_title("Maze")


def draw_visits(axes: Axes, maze: MazeVisits, visits: np.ndarray, size: int = 10) -> Any:
    """The share of steps spent in each cell, on a logarithmic scale; letters of this size."""
    share = visits / max(visits.sum(), 1)
    brightness = np.ma.masked_where(maze.walls, np.log10(np.maximum(share, 1e-6)))
    axes.set_facecolor("0.75")
    image = axes.imshow(brightness, cmap="inferno", origin="lower", vmin=-6, vmax=-1.5)
    _finish(axes, maze, "white", size)
    return image


def right_half(visits: np.ndarray) -> float:
    """The share of steps spent right of the middle column."""
    columns = np.arange(visits.shape[1])
    return float(visits[:, columns > columns.mean()].sum() / max(visits.sum(), 1))


def _finish(axes: Axes, maze: MazeVisits, colour: str, size: int) -> None:
    """Letters for start and goal, a frame, and no ticks."""
    from matplotlib.patheffects import withStroke

    edge = "black" if colour == "white" else "white"  # readable on bright and on dark cells
    for (column, row), letter in ((maze.start, "S"), (maze.goal, "G")):
        axes.text(
            column, row, letter, ha="center", va="center", color=colour, fontweight="bold",
            fontsize=size, path_effects=[withStroke(linewidth=size / 5, foreground=edge)],
        )  # fmt: skip
    axes.spines[:].set_visible(True)
    axes.set_xticks([])
    axes.set_yticks([])
