"""What only a multi-path method has: which path was picked when."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mppo.report import text
from mppo.report.charts import Form
from mppo.report.read import RunRecord, column
from mppo.report.style import Look
from mppo.report.svg import Scale, blocks

_COLUMNS = 240  # of the strip, where there are more iterations
_LEVELS = 4  # of opacity: the share of a column's iterations in which the path was picked


class Lane(NamedTuple):
    """The picks of one path: how often, and path data for each level of opacity."""

    look: Look
    count: int
    share: str
    shades: list[tuple[int, str]]


class Strip(NamedTuple):
    """One row for each path, marked where it was picked; on the right how often it was."""

    form: Form
    row: int  # units between two lanes
    x: Scale
    lanes: list[Lane]
    hint: str
    description: str


def picking_strip(run: RunRecord) -> Strip | None:
    """The course of picking; nothing where there is one path or no pick."""
    picked, steps = column(run.metrics, "picked"), column(run.metrics, "steps")
    known = np.isfinite(picked) & np.isfinite(steps) & (picked >= 0) & (picked < run.paths)
    picked, steps = picked[known].astype(int), steps[known]
    if run.paths < 2 or not len(picked):
        return None
    row = 18 if run.paths <= 12 else 12
    form = Form(640, run.paths * row + 56, 46, 84, 10, 46, "strip")
    x = Scale(0, float(steps.max()) or 1, form.inner[0])
    counts = np.bincount(picked, minlength=run.paths).tolist()
    lanes = []
    for path, shares in enumerate(_shares(picked, run.paths)):
        levels, width = np.ceil(shares * _LEVELS - 1e-9), form.inner[0] / len(shares)
        cells = (
            (n, blocks(levels == n, width, path * row + 2, row - 4)) for n in range(1, _LEVELS + 1)
        )
        share = text.share(counts[path], len(picked))
        lanes.append(Lane(Look.number(path), counts[path], share, [one for one in cells if one[1]]))
    often = ", ".join(f"path {path} {count} times" for path, count in enumerate(counts))
    changes = int((np.diff(picked) != 0).sum())
    hint = (
        "One row for each path, filled where it was rolled out. "
        f"{text.plural(len(picked), 'pick')}, {text.plural(changes, 'change')} of path. "
        "On the right: picks and their share."
    )
    return Strip(form, row, x, lanes, hint, f"Which path was picked when: {often}.")


def _shares(picked: np.ndarray, paths: int) -> np.ndarray:
    """[paths, columns]: how much of each stretch of iterations belongs to each path."""
    columns = min(len(picked), _COLUMNS)
    edges = np.linspace(0, len(picked), columns + 1).round().astype(int)
    counts = [np.bincount(picked[a:b], minlength=paths) for a, b in pairwise(edges)]
    return np.array(counts).T / np.maximum(np.diff(edges), 1)
