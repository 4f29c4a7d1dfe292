"""Maps of the Maze: where the paths went."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import reduce

import numpy as np

from mppo.report import text
from mppo.report.compare import Group
from mppo.report.marks import Look
from mppo.report.read import RunRecord
from mppo.report.svg import MARKERS, stretches
from mppo.report.text import escaped, tag

SHADES = 8  # of a map of visits
_FAINTEST = 1e-5  # share of the steps that still gets a shade
_BRIGHTEST = 0.1


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

    def maps(self) -> str:
        """One map for each path, and one of all together."""
        total = self.counts.sum()
        single = len(self.counts) == 1
        found = [] if single else [self.drawn("all paths", self.counts.sum(0), total, None)]
        for path, counts in enumerate(self.counts):
            name = "all steps" if single else f"path {path}"
            found.append(self.drawn(name, counts, total, None if single else path))
        caption = tag(
            "figcaption",
            tag("h3", "Where the paths went")
            + tag("p", "How much of its steps each path spent in each cell.", class_="hint"),
        )
        return tag(
            "figure",
            caption + tag("div", "".join(found), class_="maps") + _shade_key(),
            class_="chart maps-figure",
        )

    def drawn(self, name: str, counts: np.ndarray, total: float, path: int | None) -> str:
        """One map under a name that is markup already."""
        rows, columns = self.walls.shape
        steps = counts.sum()
        shades = np.where(counts > 0, shade(counts / max(steps, 1)), 0)
        cells = "".join(
            f'<path class="v{level}" d="{data}"/>'
            for level in range(1, SHADES + 1)
            if (data := _blocks(shades == level))
        )
        letters = "".join(
            f'<text x="{at + 0.5}" y="{rows - row - 0.05:g}" text-anchor="middle">{letter}</text>'
            for letter, at, row in self.marks
        )
        visited = int(((counts > 0) & ~self.walls).sum())
        free = int((~self.walls).sum())
        drawing = tag(
            "svg",
            f'<path class="ground" d="M0 0h{columns}v{rows}h-{columns}z"/>{cells}'
            f'<path class="walls" d="{_blocks(self.walls)}"/>{letters}',
            viewBox=f"0 0 {columns} {rows}",
            role="img",
            aria_label=f"Map of visits: {visited} of {free} cells seen",
            class_="map",
        )
        key = ""
        if path is not None:
            look = Look.number(path)
            key = (
                f'<svg class="swatch mark-only c{look.colour}" viewBox="-6 -6 12 12" '
                f'aria-hidden="true"><path class="mark" d="{MARKERS[look.colour]}"/></svg>'
            )
        share = f"{text.share(steps, total)} of steps, " if path is not None else ""
        caption = f"<b>{key}{name}</b><span>{share}{visited} of {free} cells</span>"
        return tag("div", drawing + tag("p", caption), class_="one-map")


def group_maps(groups: Sequence[Group]) -> str:
    """Where each configuration went: all its seeds and paths in one map."""
    found = []
    for group in groups:
        mazes = [maze for run in group.runs if (maze := Maze(run))]
        if mazes:
            whole = reduce(Maze.__add__, mazes)
            counts = whole.counts.sum(0)
            found.append(whole.drawn(escaped(group.label, 60), counts, counts.sum(), None))
    if not found:
        return ""
    caption = tag(
        "figcaption",
        tag("h3", "Where they went")
        + tag("p", "Share of the steps of all seeds and paths in each cell.", class_="hint"),
    )
    maps = tag("div", "".join(found), class_="maps")
    return tag("figure", caption + maps + _shade_key(), class_="chart maps-figure")


def shade(share: np.ndarray) -> np.ndarray:
    """1 ... SHADES on a logarithmic scale of the share of steps.

    >>> shade(np.array([1e-7, 1e-5, 0.001, 0.5])).tolist()
    [1, 1, 5, 8]
    """
    span = np.log10(_BRIGHTEST / _FAINTEST)
    part = np.log10(np.maximum(share, _FAINTEST) / _FAINTEST) / span
    return np.clip(np.floor(part * SHADES + 1 + 1e-9), 1, SHADES).astype(int)


def _blocks(there: np.ndarray) -> str:
    """Cells as path data, row 0 at the bottom, neighbours of a row joined."""
    rows = len(there)
    return "".join(
        f"M{a} {rows - 1 - row}h{b - a}v1h-{b - a}z"
        for row, cells in enumerate(there)
        for a, b in stretches(cells)
    )


def _shade_key() -> str:
    blocks = "".join(
        f'<path class="v{level}" d="M{(level - 1) * 20} 0h20v10h-20z"/>'
        for level in range(1, SHADES + 1)
    )
    return (
        '<p class="shade-key"><span>0.001 % of steps</span>'
        f'<svg viewBox="0 0 {SHADES * 20} 10" aria-hidden="true">{blocks}</svg>'
        "<span>10 % and more</span></p>"
    )
