"""Where runs end, which of them are averaged there, and the tables of a page: what came out.

Only runs that got equally far are averaged. A configuration whose runs have unlike budgets is
shown as one for each budget. Of runs that did not come to their end, only those of a configuration
without any that did are averaged. What is averaged is taken at the last step that all of them
reached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from mppo.files.changes import differing
from mppo.report import text
from mppo.report.compare import Group, run_settings
from mppo.report.read import Row, RunRecord, column, numbers
from mppo.report.svg import Line, interval
from mppo.statistics.scores import final_score

PHASES = ("simulation", "learning", "evaluation")


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
    evaluated = any(map(was_evaluated, group.runs))
    curves = {run.name: returns(run, evaluated) for run in group.runs}
    known = lambda runs: tuple(run for run in runs if len(curves[run.name].x))
    chosen = known(averaged_runs(group)) or known(group.runs)
    beside = tuple(run for run in group.runs if run not in chosen)
    last = [float(curves[run.name].x[-1]) for run in chosen]
    at = min(last, default=float("nan"))
    found = np.array([final_return(run, evaluated, at) for run in chosen])
    return Ending(chosen, beside, at, sum(end > at for end in last), found)


def was_evaluated(run: RunRecord) -> bool:
    """Whether the return of any evaluation is known."""
    return bool(np.isfinite(column(run.evaluations, "mean_return")).any())


def curve(rows: Sequence[Row], values: np.ndarray) -> Line:
    """Values against environment steps, in their order."""
    x = column(rows, "steps")
    keep = np.isfinite(x)
    order = np.argsort(x[keep], kind="stable")
    return Line(x[keep][order], values[keep][order])


def returns(run: RunRecord, evaluated: bool | None = None) -> Line:
    """The returns that are known, of the evaluations or of the batches (where there are none)."""
    if evaluated is None:
        evaluated = len(returns(run, True).x) > 0
    rows, key = (run.evaluations, "mean_return") if evaluated else (run.metrics, "return_mean")
    line = curve(rows, column(rows, key))
    known = np.isfinite(line.y)
    return Line(line.x[known], line.y[known])


def final_return(run: RunRecord, evaluated: bool | None = None, at: float = np.inf) -> float:
    """The mean of the last tenth of the evaluations up to some step.

    Of the batches, where nothing was evaluated.
    """
    line = returns(run, evaluated)
    known = line.y[line.x <= at]
    return float(final_score(known)) if len(known) else float("nan")


def best_return(run: RunRecord) -> float:
    """The highest evaluation, or batch where there are none."""
    known = returns(run).y
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
    apart: dict[str, list[str]] = {}
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
        if group.budget is not None:
            name = f"{group.configuration} on {group.task}"
            apart.setdefault(name, []).append(f"{group.budget:,}")
    return said + [
        f"{name}: runs of {', '.join(found[:-1])} and {found[-1]} steps are apart, and not "
        "averaged with each other"
        for name, found in apart.items()
        if len(found) > 1
    ]


def outcomes(groups: Sequence[Group]) -> Iterator[dict[str, Any]]:
    """What each configuration came to: return at the end with its interval, and every seed."""
    unlike = not same_point(groups)
    for group in groups:
        end = ending(group)
        mean, averaged, there = interval(end.returns), len(end.averaged), len(group.runs)
        open_ended = sum(not run.ended for run in group.runs)
        known = np.isfinite(mean.half_width)
        yield {
            "group": group,
            "runs": f"{averaged} of {there}" if 0 < averaged < there else str(there),
            "missing": f"{open_ended} not at the end" if open_ended else "",
            "mean": mean.estimate,
            "half_width": f"± {text.number(mean.half_width, 2)}" if known else "",
            "seeds": " ".join(text.number(final) for final in np.sort(end.returns)),
            "at": f"at {end.at:,.0f} steps" if unlike and len(end.returns) else "",
            "best": max(best_return(run) for run in group.runs),
        }


def seconds(run: RunRecord, iterations: int | None = None) -> np.ndarray:
    """Seconds of each phase, of all iterations or of the first ones."""
    return np.array([np.nansum(column(run.timing[:iterations], phase)) for phase in PHASES])


def times(groups: Sequence[Group]) -> Iterator[dict[str, Any]]:
    """Seconds of each configuration that was timed: the mean of its runs."""
    for group in groups:
        runs = [run for run in averaged_runs(group) if run.timing]
        if runs:
            phases = np.mean([seconds(run) for run in runs], axis=0)
            total, done = float(phases.sum()), np.mean([steps_done(run) for run in runs])
            yield {
                "group": group,
                "phases": phases.tolist(),
                "total": total,
                "rate": float(done / max(total, 1e-9)),
                "first": float(np.mean([seconds(run, iterations=1).sum() for run in runs])),
            }


def evaluations(run: RunRecord, most: int = 12) -> Iterator[dict[str, Any]]:
    """The evaluations of one run, thinned evenly, the last one always there."""
    last = len(run.evaluations) - 1
    chosen = np.unique(np.linspace(0, last, min(most, last + 1)).round().astype(int))
    for row in (run.evaluations[place] for place in chosen):
        each = numbers(row.get("returns"))
        known = each[np.isfinite(each)]
        ends = (known.min(), known.max()) if len(known) else ()
        steps, mean, deterministic = numbers(
            [row.get(name) for name in ("steps", "mean_return", "mean_return_deterministic")]
        ).tolist()
        yield {
            "steps": steps,
            "path": row.get("path", "–"),
            "mean": mean,
            "spread": " … ".join(map(text.number, ends)) or "–",
            "deterministic": deterministic,
        }


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
