"""Which path was picked when, what each style found, and maps of where the paths of a Maze went."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from mppo.errors import BadRequest
from mppo.files.settings import from_json
from mppo.report import text
from mppo.report.charts import Form
from mppo.report.compare import Group
from mppo.report.read import RunRecord, column, columns
from mppo.report.style import Look
from mppo.report.svg import Scale, blocks
from mppo.report.text import Visible

_COLUMNS = 240  # of the strip, where there are more iterations
_LEVELS = 4  # of opacity: the share of a column's iterations in which the path was picked
SHADES = 8  # of a map of visits
_FAINTEST = 1e-5  # share of the steps that still gets a shade
_BRIGHTEST = 0.1


def picking_strip(run: RunRecord) -> dict[str, Any] | None:
    """The course of picking, one lane for each path; nothing where there is one path or no pick."""
    picked, steps = column(run.metrics, "picked"), column(run.metrics, "steps")
    known = np.isfinite(picked) & np.isfinite(steps) & (picked >= 0) & (picked < run.paths)
    picked, steps = picked[known].astype(int), steps[known]
    if run.paths < 2 or not len(picked):
        return None
    row = 18 if run.paths <= 12 else 12
    form = Form(640, run.paths * row + 56, 46, 84, 10, 46, "strip")
    counts = np.bincount(picked, minlength=run.paths).tolist()
    lanes = []
    for path, shares in enumerate(_shares(picked, run.paths)):
        levels = np.ceil(shares * _LEVELS - 1e-9)
        width, top = form.inner[0] / len(shares), path * row + 2
        shades = [(n, blocks(levels == n, width, top, row - 4)) for n in range(1, _LEVELS + 1)]
        share = text.share(counts[path], len(picked))
        lanes.append((Look.number(path), counts[path], share, [one for one in shades if one[1]]))
    often = ", ".join(f"path {path} {count} times" for path, count in enumerate(counts))
    changes = int((np.diff(picked) != 0).sum())
    hint = (
        "One row for each path, filled where it was rolled out. "
        f"{text.plural(len(picked), 'pick')}, {text.plural(changes, 'change')} of path. "
        "On the right: picks and their share."
    )
    return {
        "form": form,
        "row": row,  # units between two lanes
        "x": Scale(0, float(steps.max()) or 1, form.inner[0]),
        "lanes": lanes,  # look, picks, their share, and path data for each level of opacity
        "hint": hint,
        "description": f"Which path was picked when: {often}.",
    }


def explorers(run: RunRecord) -> Iterator[dict[str, Any]]:
    """What each path's style is and found; nothing for methods without styles."""
    last = run.metrics[-1] if run.metrics else {}
    styles, names = last.get("style"), run.method.get("styles")
    if not isinstance(styles, list) or not isinstance(names, list):
        return
    picked, returns = column(run.metrics, "picked"), column(run.metrics, "return_mean")
    levels = columns([last], "performance", run.paths)[0].tolist()
    for path, number in enumerate(styles[: run.paths]):
        known = isinstance(number, int) and 0 <= number < len(names)
        mine = returns[(picked == path) & np.isfinite(returns)]
        yield {
            "path": path,
            "style": style_name(names[number]) if known else "?",
            "picks": int((picked == path).sum()),
            "performance": levels[path],  # J as it stands
            "best": float(mine.max()) if len(mine) else math.nan,  # mean return of a batch
        }


def style_name(written: Any) -> str:
    """A style of run.json in the words of the command line."""
    try:
        return str(from_json(written))
    except BadRequest:
        return text.visible(written, 60)


def _shares(picked: np.ndarray, paths: int) -> np.ndarray:
    """[paths, columns]: how much of each stretch of iterations belongs to each path."""
    edges = np.linspace(0, len(picked), min(len(picked), _COLUMNS) + 1).round().astype(int)
    counts = [np.bincount(picked[a:b], minlength=paths) for a, b in pairwise(edges)]
    return np.array(counts).T / np.maximum(np.diff(edges), 1)


class Maze(NamedTuple):
    """The visits of a run."""

    walls: np.ndarray  # [rows, columns]
    counts: np.ndarray  # [paths, rows, columns]
    marks: list[tuple[str, int, int]]  # letters for start and goal

    def maps(self) -> list[dict[str, Any]]:
        """One map for each path, and one of all together."""
        total = float(self.counts.sum())
        if len(self.counts) == 1:
            return [self.map("all steps", self.counts[0])]
        paths = [
            self.map(f"path {path}", counts, text.share(float(counts.sum()), total), path)
            for path, counts in enumerate(self.counts)
        ]
        return [self.map("all paths", self.counts.sum(0)), *paths]

    def map(
        self, name: str, counts: np.ndarray, share: str = "", path: int | None = None
    ) -> dict[str, Any]:
        """One map under a name."""
        shades = np.where(counts > 0, shade(counts / max(counts.sum(), 1)), 0)
        cells = [(level, _cells(shades == level)) for level in range(1, SHADES + 1)]
        return {
            "name": name,
            "rows": len(self.walls),
            "columns": self.walls.shape[1],
            "shades": [one for one in cells if one[1]],  # path data for each
            "walls": _cells(self.walls),
            "marks": self.marks,
            "visited": int(((counts > 0) & ~self.walls).sum()),  # cells, of those that are free
            "free": int((~self.walls).sum()),
            "share": share,  # of all steps
            "look": None if path is None else Look.number(path),
        }


def maze_of(run: RunRecord) -> Maze | None:
    """The visits of a run, if it has them and they hang together."""
    visits = run.visits or {}
    try:
        walls = np.array(visits["walls"], float).astype(bool)
        counts = np.array(visits["counts"], float)
        ends = [("S", visits["start"]), ("G", visits["goal"])]
        marks = [(letter, int(cell[0]), int(cell[1])) for letter, cell in ends]
    except (KeyError, TypeError, ValueError, IndexError, OverflowError):
        return None
    sound = walls.ndim == 2 and counts.ndim == 3 and counts.shape[1:] == walls.shape
    sound = sound and walls.size <= 10_000 and len(counts) <= 64 and np.isfinite(counts).all()
    counts = np.maximum(counts, 0)
    return Maze(walls, counts, marks) if sound and counts.sum() > 0 else None


def group_maps(groups: Sequence[Group]) -> Iterator[dict[str, Any]]:
    """Where each configuration went: all its seeds and paths in one map, if they have one maze."""
    for group in groups:
        mazes = [maze for run in group.runs if (maze := maze_of(run))]
        same = [one for one in mazes if np.array_equal(one.walls, mazes[0].walls)]
        if same:
            counts = np.sum([one.counts.sum(0) for one in same], axis=0)
            yield same[0].map(group.label, counts)


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
