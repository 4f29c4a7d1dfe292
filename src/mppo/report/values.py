"""The curves of a chart as a table, for those who cannot or do not want to read the drawing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mppo.report import text
from mppo.report.curve import Summary
from mppo.report.text import escaped, tag


def value_table(curves: Sequence[tuple[str, Summary]], rows: int = 8) -> str:
    """Names and curves at a few steps: mean and half the width of its interval."""
    x = np.unique(np.concatenate([one.x for _, one in curves]))
    chosen = x[np.unique(np.linspace(0, len(x) - 1, min(rows, len(x))).round().astype(int))]
    head = "".join(tag("th", escaped(name, 90), scope="col") for name, _ in curves)
    body = []
    for place in chosen.tolist():
        cells = "".join(tag("td", _cell(one, place)) for _, one in curves)
        body.append(f"<tr>{tag('th', text.steps(place), scope='row')}{cells}</tr>")
    grid = f'<table><thead><tr><th scope="col">steps</th>{head}</tr></thead>'
    return tag(
        "details",
        tag("summary", "Values")
        + tag("div", f"{grid}<tbody>{''.join(body)}</tbody></table>", class_="scroll"),
        class_="values",
    )


def _cell(curve: Summary, place: float) -> str:
    known = np.isfinite(curve.mean)
    if not known.any() or place < curve.x[known][0] or place > curve.x[known][-1]:
        return "–"
    mean = float(np.interp(place, curve.x[known], curve.mean[known]))
    half = float(np.interp(place, curve.x[known], (curve.high - curve.mean)[known]))
    return text.value(mean) + (f" ± {text.value(half, 2)}" if np.isfinite(half) else "")
