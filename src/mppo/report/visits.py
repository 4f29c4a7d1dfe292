"""Maps of the Maze: where the paths went."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from mppo.report import text
from mppo.report.compare import Group
from mppo.report.read import RunRecord
from mppo.report.style import Look
from mppo.report.svg import blocks
from mppo.report.text import Visible

SHADES = 8  # of a map of visits
_FAINTEST = 1e-5  # share of the steps that still gets a shade
_BRIGHTEST = 0.1


class Map(NamedTuple):
    """What is drawn of visits: path data for each shade, and what is said below."""

    name: str
    rows: int
    columns: int
    shades: list[tuple[int, str]]
    walls: str
    marks: list[tuple[str, int, int]]  # letters for start and goal
    visited: int  # cells, of those that are free
    free: int
    share: str  # of all steps
    look: Look | None  # of the path


class Maze:
    """The visits of a run, if it has them and they hang together."""

    counts: np.ndarray
    walls: np.ndarray

    def __init__(self, run: RunRecord):
        self.walls, self.counts = np.zeros((0, 0), bool), np.zeros((0, 0, 0))
        self.marks: list[tuple[str, int, int]] = []
        visits = run.visits or {}
        try:
            walls = np.array(visits["walls"], float).astype(bool)
            counts = np.array(visits["counts"], float)
            marks = [
                (k, int(visits[w][0]), int(visits[w][1]))
                for k, w in (("S", "start"), ("G", "goal"))
            ]
        except (KeyError, TypeError, ValueError, IndexError, OverflowError):
            return
        sound = walls.ndim == 2 and counts.ndim == 3 and counts.shape[1:] == walls.shape
        if sound and walls.size <= 10_000 and len(counts) <= 64 and np.isfinite(counts).all():
            self.walls, self.counts, self.marks = walls, np.maximum(counts, 0), marks

    def __bool__(self) -> bool:
        return self.walls.size > 0 and bool(self.counts.sum() > 0)

    def __add__(self, other: Maze) -> Maze:
        """All visits of both in one map, if they are of one maze."""
        if not np.array_equal(self.walls, other.walls):
            return self
        both = copy.copy(self)
        both.counts = (self.counts.sum(0) + other.counts.sum(0))[None]
        return both

    def maps(self) -> list[Map]:
        """One map for each path, and one of all together."""
        total = float(self.counts.sum())
        if len(self.counts) == 1:
            return [self.map("all steps", self.counts[0])]
        paths = [
            self.map(f"path {path}", counts, text.share(float(counts.sum()), total), path)
            for path, counts in enumerate(self.counts)
        ]
        return [self.map("all paths", self.counts.sum(0)), *paths]

    def map(self, name: str, counts: np.ndarray, share: str = "", path: int | None = None) -> Map:
        """One map under a name."""
        shades = np.where(counts > 0, shade(counts / max(counts.sum(), 1)), 0)
        cells = [(level, _cells(shades == level)) for level in range(1, SHADES + 1)]
        return Map(
            name,
            *self.walls.shape,
            shades=[one for one in cells if one[1]],
            walls=_cells(self.walls),
            marks=self.marks,
            visited=int(((counts > 0) & ~self.walls).sum()),
            free=int((~self.walls).sum()),
            share=share,
            look=None if path is None else Look.number(path),
        )


def group_maps(groups: Sequence[Group]) -> list[Map]:
    """Where each configuration went: all its seeds and paths in one map."""
    maps = []
    for group in groups:
        mazes = [maze for run in group.runs if (maze := Maze(run))]
        if mazes:
            whole = reduce(Maze.__add__, mazes)
            maps.append(whole.map(group.label, whole.counts.sum(0)))
    return maps


def shade(share: np.ndarray) -> np.ndarray:
    """1 ... SHADES on a logarithmic scale of the share of steps.

    >>> shade(np.array([1e-7, 1e-5, 0.001, 0.5])).tolist()
    [1, 1, 5, 8]
    """
    span = np.log10(_BRIGHTEST / _FAINTEST)
    part = np.log10(np.maximum(share, _FAINTEST) / _FAINTEST) / span
    return np.clip(np.floor(part * SHADES + 1 + 1e-9), 1, SHADES).astype(int)


def _cells(there: np.ndarray) -> Visible:
    """Cells as path data, row 0 at the bottom."""
    top = len(there) - 1
    return Visible("".join(blocks(cells, 1, top - row, 1) for row, cells in enumerate(there)))
