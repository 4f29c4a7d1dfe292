"""The page about a search: its history, what its fields did, the best trials."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mppo.report.markup import asset, render
from mppo.report.svg import Scale, coordinate, fit_log_scale, fit_scale
from mppo.report.text import Visible

if TYPE_CHECKING:
    from mppo.experiments.trials import Trial, Trials

WIDE, NARROW, HEIGHT = 900, 280, 180  # of drawings, without their margins
BEST = 15
"""Trials in the table of the best."""


def page(found: Trials, importances: dict[str, float]) -> str:
    """The whole HTML file; fields that are searched by their size are drawn so."""
    search, trials = found.search, found.all()
    # choices have no scale
    logs = {name for name, one in search.space.items() if getattr(one, "log", False)}
    scored = [one for one in trials if one.value is not None and np.isfinite(one.value)]
    complete = [one for one in scored if one.state == "complete"]
    ranked = sorted(complete, key=lambda one: (-(one.value or 0.0), one.number))[:BEST]
    y = fit_scale(np.array([one.value for one in scored], float), HEIGHT)
    fields = list(dict.fromkeys(name for one in trials for name in one.values))
    shown = {
        "title": f"Search: {search.method} on {search.env}",
        "said": _said(trials, search.trials),
        "history": _history(scored, y),
        "slices": [_slice(scored, y, name, name in logs) for name in fields],
        "importances": [  # field, share, length of its bar
            (name, f"{share:.2f}", coordinate(400 * share)) for name, share in importances.items()
        ],
        "columns": ["trial", "mean final score", *fields],
        "best": [[str(one.number), f"{one.value:.2f}", *_cells(one, fields)] for one in ranked],
        "failed": [[str(one.number), one.why, *_cells(one, fields)] for one in trials if one.why],
    }
    return render("search.html", style=asset("document.css") + asset("search.css"), page=shown)


def _said(trials: Sequence[Trial], wanted: int) -> str:
    states = [one.state for one in trials]
    named = ("complete", "pruned", "failed", "running", "waiting")
    there = [f"{states.count(name)} {name}" for name in named if name in states]
    lost = states.count("lost")
    again = f"; {lost} lost with their process and repeated" if lost else ""
    return f"{wanted} trials: {', '.join(there) or 'none yet'}{again}."


def _cells(one: Trial, fields: Sequence[str]) -> list[str]:
    return [_shown(one.values[name]) if name in one.values else "" for name in fields]


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value)


def _history(scored: Sequence[Trial], y: Scale) -> dict[str, Any]:
    """Every trial in its order, and the best of the complete ones so far."""
    x = Scale(-0.5, max([1, *(one.number for one in scored)]) + 0.5, WIDE)
    best, line = -np.inf, ""
    for one in scored:
        if one.state == "complete" and one.value is not None and one.value > best:
            across, up = coordinate(x(one.number).item()), coordinate(y(one.value).item())
            line += f"H{across}V{up}" if line else f"M{across} {up}"
            best = one.value
    line += f"H{WIDE}" if line else ""
    ticks = [(x(at).item(), f"{at:g}") for at in x.ticks(8) if at == int(at)]
    places = [x(one.number).item() for one in scored]
    return _drawing("Scores, and the best so far", WIDE, y, scored, places, ticks, line)


def _slice(scored: Sequence[Trial], y: Scale, name: str, log: bool) -> dict[str, Any]:
    """The scores over the values of one field."""
    those = [one for one in scored if name in one.values]
    values = [one.values[name] for one in those]
    if values and all(type(value) in (int, float) for value in values):
        at = np.array(values, float)
        x = (fit_log_scale(at, NARROW) if log else None) or fit_scale(at, NARROW)
        x = x._replace(flipped=False)
        places = x(at).tolist()
        ticks = [(x(tick).item(), f"{tick:g}") for tick in x.ticks(3)]
    else:
        kinds = list(dict.fromkeys(map(_shown, values)))
        middle = {kind: NARROW * (n + 0.5) / len(kinds) for n, kind in enumerate(kinds)}
        places = [middle[_shown(value)] for value in values]
        ticks = [(at, kind) for kind, at in middle.items()]
    return _drawing(name, NARROW, y, those, places, ticks)


def _drawing(
    title: str,
    width: int,
    y: Scale,
    those: Sequence[Trial],
    places: Sequence[float],
    ticks: list[tuple[float, str]],
    line: str = "",
) -> dict[str, Any]:
    """Trials at their places, and a line where one helps; the template draws them."""
    points = [  # x, y, state, what it says when pointed at
        (
            *(coordinate(at), coordinate(y(one.value or 0.0).item()), one.state),
            f"trial {one.number}, {one.state}: {one.value:.2f}",
        )
        for one, at in zip(those, places, strict=True)
    ]
    up = [(y(level).item(), f"{level:g}") for level in y.ticks(4)]
    shown = {"title": title, "width": width, "height": HEIGHT, "across": ticks, "up": up}
    return {**shown, "points": points, "line": Visible(line)}
