"""Where runs end, and which of them are averaged there: only runs that got equally far.

A configuration whose runs have unlike budgets is shown as one for each budget. Of runs that did
not come to their end, only those of a configuration without any that did are averaged. What is
averaged is taken at the last step that all of them reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mppo.report.compare import Group
from mppo.report.curve import Line
from mppo.report.read import Row, RunRecord, column
from mppo.statistics.scores import final_score


class Ending(NamedTuple):
    """What the runs of a configuration came to, at a step that all that are averaged reached."""

    averaged: tuple[RunRecord, ...]  # whose mean is taken
    beside: tuple[RunRecord, ...]  # shown, and not averaged
    at: float  # environment steps
    further: int  # averaged runs that went on from there
    returns: np.ndarray  # of the averaged runs, there


def averaged_runs(group: Group) -> tuple[RunRecord, ...]:
    """The runs whose mean is taken: those that came to their end; all while none has."""
    return tuple(run for run in group.runs if run.ended) or group.runs


def ending(group: Group) -> Ending:
    """Which runs are averaged where, and their returns there."""
    evaluated = any(np.isfinite(column(run.evaluations, "mean_return")).any() for run in group.runs)
    curves = {run.name: returns(run, evaluated) for run in group.runs}
    known = lambda runs: tuple(run for run in runs if len(curves[run.name].x))
    chosen = known(averaged_runs(group)) or known(group.runs)
    beside = tuple(run for run in group.runs if run not in chosen)
    last = [float(curves[run.name].x[-1]) for run in chosen]
    at = min(last, default=float("nan"))
    found = np.array([final_return(run, evaluated, at) for run in chosen])
    return Ending(chosen, beside, at, sum(end > at for end in last), found)


def curve(rows: Sequence[Row], values: np.ndarray) -> Line:
    """Values against environment steps, in their order."""
    x = column(rows, "steps")
    keep = np.isfinite(x)
    order = np.argsort(x[keep], kind="stable")
    return Line(x[keep][order], values[keep][order])


def returns(run: RunRecord, evaluated: bool) -> Line:
    """The returns that are known, of the evaluations or of the batches."""
    rows, key = (run.evaluations, "mean_return") if evaluated else (run.metrics, "return_mean")
    line = curve(rows, column(rows, key))
    known = np.isfinite(line.y)
    return Line(line.x[known], line.y[known])


def final_return(run: RunRecord, evaluated: bool | None = None, at: float = np.inf) -> float:
    """The mean of the last tenth of the evaluations up to some step.

    Of the batches, where nothing was evaluated.
    """
    if evaluated is None:
        evaluated = bool(len(returns(run, True).x))
    line = returns(run, evaluated)
    known = line.y[line.x <= at]
    return float(final_score(known)) if len(known) else float("nan")


def best_return(run: RunRecord) -> float:
    """The highest evaluation, or batch where there are none."""
    known = returns(run, True).y
    known = known if len(known) else returns(run, False).y
    return float(known.max()) if len(known) else float("nan")


def last_deterministic(run: RunRecord) -> float:
    """The last evaluation with the most likely actions."""
    return float(column(run.evaluations[-1:] or [{}], "mean_return_deterministic")[0])


def steps_done(run: RunRecord) -> float:
    """Environment steps so far."""
    found = column(run.metrics, "steps")
    return float(np.nanmax(found)) if np.isfinite(found).any() else 0.0


def same_point(groups: Sequence[Group]) -> bool:
    """Whether all runs of all configurations are compared where they ended, at the same step."""
    found = [ending(group) for group in groups]
    ends = {one.at for one in found if len(one.returns)}
    return len(ends) <= 1 and not any(one.further or one.beside for one in found)


def notes(groups: Sequence[Group]) -> list[str]:
    """What is to be said of runs that got unequally far."""
    said = []
    for group in groups:
        found = ending(group)
        name, count = f"{group.label} on {group.task}", len(found.averaged)
        whole = any(run.ended for run in found.averaged)
        cut = sum(whole and not run.ended for run in found.beside)
        if cut:
            said.append(
                f"{name}: mean and interval are those of the {count} that came to the end; "
                f"{cut} that did not {'is' if cut == 1 else 'are'} shown, and not averaged"
            )
        if count and len(found.beside) > cut:
            said.append(f"{name}: {len(found.beside) - cut} without returns to average")
        if found.further:
            said.append(
                f"{name}: averaged at {found.at:,.0f} steps, the last that all {count} runs "
                f"reached; {found.further} went further"
            )
    return said + _budgets(groups)


def _budgets(groups: Sequence[Group]) -> list[str]:
    apart: dict[tuple[str, str], list[str]] = {}
    for group in groups:
        if group.budget is not None:
            found = apart.setdefault((group.task, group.configuration), [])
            found.append(f"{group.budget:,}")
    return [
        f"{configuration} on {task}: runs of {', '.join(found[:-1])} and {found[-1]} steps are "
        "apart, and not averaged with each other"
        for (task, configuration), found in apart.items()
        if len(found) > 1
    ]


def counts(group: Group, found: Ending) -> str:
    """How many runs are averaged, and of how many where some are not."""
    averaged, there = len(found.averaged), len(group.runs)
    return f"{averaged} of {there}" if 0 < averaged < there else str(there)


def missing(group: Group) -> str:
    """How many runs did not come to their end, where there are any."""
    open_ended = sum(not run.ended for run in group.runs)
    return f"{open_ended} not at the end" if open_ended else ""
