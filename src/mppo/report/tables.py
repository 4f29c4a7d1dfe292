"""Numbers of a page's tables: results, time, evaluations, configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mppo.files.changes import differing
from mppo.report import ends, text
from mppo.report.compare import Group, run_settings
from mppo.report.curve import interval
from mppo.report.read import RunRecord, column

PHASES = ("simulation", "learning", "evaluation")


class Outcome(NamedTuple):
    """What a configuration came to: return at the end with its interval, and every seed."""

    group: Group
    runs: str  # how many are averaged
    missing: str
    mean: float
    half_width: str
    seeds: str
    at: str  # where the returns were taken, if not all in one place
    best: float


def outcomes(groups: Sequence[Group]) -> list[Outcome]:
    """One row for each configuration."""
    rows, unlike = [], not ends.same_point(groups)
    for group in groups:
        end = ends.ending(group)
        mean = interval(end.returns)
        rows.append(
            Outcome(
                group,
                ends.counts(group, end),
                ends.missing(group),
                mean.estimate,
                f"± {text.number(mean.half_width, 2)}" if np.isfinite(mean.half_width) else "",
                " ".join(text.number(final) for final in np.sort(end.returns)),
                f"at {end.at:,.0f} steps" if unlike and len(end.returns) else "",
                max(ends.best_return(run) for run in group.runs),
            )
        )
    return rows


def seconds(run: RunRecord) -> np.ndarray:
    """Seconds of each phase."""
    return np.array([np.nansum(column(run.timing, phase)) for phase in PHASES])


class Times(NamedTuple):
    """Seconds of a configuration: the mean of its runs."""

    group: Group
    phases: list[float]
    total: float
    rate: float  # environment steps a second
    first: float  # iteration


def times(groups: Sequence[Group]) -> list[Times]:
    """One row for each configuration that was timed."""
    rows = []
    for group in groups:
        runs = [run for run in ends.averaged_runs(group) if run.timing]
        if runs:
            parts = np.mean([seconds(run) for run in runs], axis=0)
            rate = np.mean([ends.steps_done(run) for run in runs]) / max(float(parts.sum()), 1e-9)
            first = np.mean(
                [np.nansum([column(run.timing[:1], phase) for phase in PHASES]) for run in runs]
            )
            rows.append(Times(group, parts.tolist(), float(parts.sum()), float(rate), float(first)))
    return rows


class Evaluated(NamedTuple):
    """One evaluation."""

    steps: float
    path: object
    mean: float
    spread: str
    deterministic: float


def evaluations(run: RunRecord, most: int = 12) -> list[Evaluated]:
    """The evaluations of one run, thinned evenly, the last one always there."""
    last = len(run.evaluations) - 1
    chosen = np.unique(np.linspace(0, last, min(most, last + 1)).round().astype(int))
    rows = []
    for row in (run.evaluations[place] for place in chosen):
        given = row.get("returns")
        each = column([{"r": item} for item in given] if isinstance(given, list) else [], "r")
        known = each[np.isfinite(each)]
        spread = f"{text.number(known.min())} … {text.number(known.max())}" if len(known) else "–"
        names = ("steps", "mean_return", "mean_return_deterministic")
        steps, mean, deterministic = (float(column([row], name)[0]) for name in names)
        rows.append(Evaluated(steps, row.get("path", "–"), mean, spread, deterministic))
    return rows


def differing_settings(groups: Sequence[Group]) -> tuple[list[str], list[tuple[Group, list[str]]]]:
    """What tells the configurations apart: the settings, and their values for each of them."""
    settings = [(group, run_settings(run)) for group in groups for run in group.runs]
    names = differing([values for _, values in settings])
    rows: dict[tuple, tuple[Group, list[str]]] = {}
    for group, values in settings:
        cells = [values.get(name, "–") for name in names]
        rows.setdefault((group.label, *cells), (group, cells))
    return names, list(rows.values())


def shared_settings(groups: Sequence[Group]) -> dict[str, str]:
    """The settings that all runs share."""
    first, *others = [run_settings(run) for group in groups for run in group.runs]
    return {
        name: value
        for name, value in first.items()
        if all(other.get(name) == value for other in others)
    }


def versions(runs: Sequence[RunRecord]) -> dict[str, str]:
    """The packages behind the runs; several where they are not the same."""
    found: dict[str, Counter[str]] = {}
    for run in runs:
        given = run.described.get("versions")
        for name, version in given.items() if isinstance(given, dict) else ():
            found.setdefault(text.visible(name, 60), Counter())[text.visible(version, 60)] += 1
    return {
        name: ", ".join(
            version + (f" ({text.plural(count, 'run')})" if len(versions) > 1 else "")
            for version, count in versions.items()
        )
        for name, versions in found.items()
    }
