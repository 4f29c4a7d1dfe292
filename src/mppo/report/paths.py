"""A drawing of what only a multi-path method has: which path was picked when."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from mppo.report import text
from mppo.report.charts import Form
from mppo.report.marks import Look
from mppo.report.read import RunRecord, column
from mppo.report.svg import MARKERS, Scale, n, stretches
from mppo.report.text import tag

_COLUMNS = 240  # of the strip, where there are more iterations
_LEVELS = 4  # of opacity: the share of a column's iterations in which the path was picked


def picking(run: RunRecord) -> str:
    """One row for each path, marked where it was picked; on the right how often it was."""
    picked, steps = column(run.metrics, "picked"), column(run.metrics, "steps")
    known = np.isfinite(picked) & np.isfinite(steps) & (picked >= 0) & (picked < run.paths)
    picked, steps = picked[known].astype(int), steps[known]
    if run.paths < 2 or not len(picked):
        return ""
    row = 18 if run.paths <= 12 else 12
    form = Form(640, run.paths * row + 56, 46, 84, 10, 46, "strip")
    width, height = form.inner
    x = Scale(0, float(steps.max()) or 1, width)
    shares = _shares(picked, run.paths)
    counts = np.bincount(picked, minlength=run.paths)
    lanes = []
    for path in range(run.paths):
        look = Look.number(path)
        top = path * row
        cells = "".join(
            f'<path class="pick p{level}" d="{data}"/>'
            for level in range(1, _LEVELS + 1)
            if (data := _cells(shares[path], level, width / shares.shape[1], top + 2, row - 4))
        )
        middle = form.top + top + row / 2 + 4
        lanes.append(
            f'<g class="c{look.colour}"><svg x="{form.left}" y="{form.top}" width="{width}" '
            f'height="{height}"><path class="lane" d="M0 {top + 2}h{width}v{row - 4}h-{width}z"/>'
            f"{cells}</svg>"
            f'<path class="key" transform="translate({form.left - 34} {n(middle - 4)})" '
            f'd="{MARKERS[look.colour]}"/></g>'
            f'<text x="{form.left - 8}" y="{n(middle)}" text-anchor="end">{path}</text>'
            f'<text class="count" x="{form.width - form.right + 10}" y="{n(middle)}">'
            f"{counts[path]} · {text.share(counts[path], len(picked))}</text>"
        )
    ticks = "".join(
        f'<text x="{n(form.left + float(x(at)))}" y="{form.top + height + 18}" '
        f'text-anchor="middle">{text.steps(at)}</text>'
        for at in x.ticks(5)
    )
    often = ", ".join(f"path {path} {counts[path]} times" for path in range(run.paths))
    drawing = tag(
        "svg",
        f'<g class="axes">{"".join(lanes)}{ticks}</g><text class="axis-name" '
        f'x="{n(form.left + width / 2)}" y="{form.height - 5}" text-anchor="middle">'
        "environment steps</text>",
        viewBox=f"0 0 {form.width} {form.height}",
        role="img",
        aria_label=f"Which path was picked when: {often}.",
        class_="drawing",
    )
    changes = int((np.diff(picked) != 0).sum())
    hint = (
        "One row for each path, filled where it was rolled out. "
        f"{text.plural(len(picked), 'pick')}, {text.plural(changes, 'change')} of path. "
        "On the right: picks and their share."
    )
    caption = tag("figcaption", tag("h3", "The course of picking") + tag("p", hint, class_="hint"))
    return tag("figure", caption + drawing, class_="chart strip")


def _shares(picked: np.ndarray, paths: int) -> np.ndarray:
    """[paths, columns]: how much of each stretch of iterations belongs to each path."""
    columns = min(len(picked), _COLUMNS)
    edges = np.linspace(0, len(picked), columns + 1).round().astype(int)
    counts = [np.bincount(picked[a:b], minlength=paths) for a, b in pairwise(edges)]
    return np.array(counts).T / np.maximum(np.diff(edges), 1)


def _cells(share: np.ndarray, level: int, width: float, top: float, height: float) -> str:
    """The columns of one level of opacity, neighbours joined."""
    levels = np.ceil(share * _LEVELS - 1e-9).astype(int)
    return "".join(
        f"M{n(a * width)} {top}h{n((b - a) * width)}v{height}h-{n((b - a) * width)}z"
        for a, b in stretches(levels == level)
    )
