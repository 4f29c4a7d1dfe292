"""The charts of a report: returns, how the updates went, and J and H of the paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from mppo.report.charts import LARGE, WIDE, Chart, Form, Series
from mppo.report.compare import Group
from mppo.report.read import RunRecord, column, columns, numbers
from mppo.report.results import averaged_runs, curve, same_point, was_evaluated
from mppo.report.style import Look, Looks
from mppo.report.svg import FEWEST, Line
from mppo.report.text import visible

_MOST_OTHERS = 12
UNLIKE = "(of those that came to their end, if any did, and as far as all of them reach)"
_BOOKKEEPING = {
    *("iteration", "steps", "picked", "slot", "episodes", "return_error", "performance", "picks"),
    *("entropy", "theorem_bound", "theorem_slack", "value_refused", "step_refused"),
    *("line_search_success", "cg_residual", "cg_iterations", "advantage_mean", "advantage_std"),
    *("surrogate_gain", "gradient_norm", "gain"),
}


def improved_entropy(run: RunRecord) -> np.ndarray:
    """The entropy of the path that the iteration improved."""
    rows = run.metrics
    entropy, slot = columns(rows, "entropy", run.paths), column(rows, "slot")
    slot = np.where(np.isfinite(slot), slot, column(rows, "picked"))
    inside = np.isfinite(slot) & (slot >= 0) & (slot < run.paths)
    chosen = entropy[np.arange(len(rows)), np.where(inside, slot, 0).astype(int)]
    return np.where(inside, chosen, np.nan)


def explained_variance(run: RunRecord) -> np.ndarray:
    """The explained variance, from -1: a bad fit must not flatten the rest of the curve."""
    return np.maximum(column(run.metrics, "explained_variance"), -1)


class Measure(NamedTuple):
    """A number of each iteration that is worth a chart."""

    key: str
    title: str
    hint: str
    from_zero: bool = False
    may_be_log: bool = False
    compute: Callable[[RunRecord], np.ndarray] | None = None  # where it is no column of a log


_BATCH = "Mean over the episodes that ended in the batch."
_ENTROPY = "Of the policy that the iteration improved, in nats."
_CLIPPED = "Share of the samples beyond the clip range."
_VARIANCE = "Of the value targets before the fit; 1 is perfect, below −1 is shown as −1."
_SEARCH = "1: the first step was taken."
_LOSS = "Mean squared error after the fit."
MEASURES = (
    Measure("return_mean", "Return of the training batches", _BATCH),
    Measure("entropy", "Entropy", _ENTROPY, compute=improved_entropy),
    Measure("kl", "KL divergence", "From the old to the new policy, in nats.", from_zero=True),
    Measure("line_search_steps", "Steps tried by the line search", _SEARCH, from_zero=True),
    Measure("clip_fraction", "Clipped ratios", _CLIPPED, from_zero=True),
    Measure("value_loss", "Loss of the value network", _LOSS, may_be_log=True),
    Measure("explained_variance", "Explained variance", _VARIANCE, compute=explained_variance),
    Measure("length_mean", "Episode length", "In steps."),
)


def learning_curve(
    groups: Sequence[Group], looks: Looks, title: str, limit: int, form=LARGE
) -> Chart:
    """Evaluations of all seeds; returns of the batches where nothing was evaluated."""
    evaluated = any(was_evaluated(run) for group in groups for run in group.runs)
    width = 1 if evaluated else _width(groups)
    rows = lambda run: run.evaluations if evaluated else run.metrics
    key = "mean_return" if evaluated else "return_mean"
    read = lambda run: curve(rows(run), column(rows(run), key))
    series = [_series(group, looks, read, width) for group in groups]
    most = max(len(group.runs) for group in groups)
    what = "Mean return of the evaluation episodes" if evaluated else "Return of the batches"
    how = "; thin: each seed, thick: their mean" if most > 1 else ""
    how += "" if same_point(groups) or most < 2 else " " + UNLIKE
    how += ", band: its 95 % t interval" if most >= FEWEST else ""
    how += f"; moving mean over {width} iterations" if width > 1 else ""
    return Chart(title, series, f"{what}{how}.", form, limit=limit)


def training(groups: Sequence[Group], looks: Looks, limit: int) -> list[Chart]:
    """How the updates went, iteration by iteration; only charts with something to draw."""
    width = _width(groups)
    note = f" Moving mean over {width} iterations." if width > 1 else ""
    charts = []
    for measure in (*MEASURES, *_others(groups)):
        values = measure.compute or (lambda run, key=measure.key: column(run.metrics, key))
        read = lambda run, values=values: curve(run.metrics, values(run))
        series = [_series(group, looks, read, width) for group in groups]
        levels = _trust_region(groups) if measure.key == "kl" else ()
        form = (Form(), levels, measure.from_zero, measure.may_be_log, limit)
        charts.append(Chart(measure.title, series, measure.hint + note, *form))
    return [chart for chart in charts if chart.drawn]


def _series(group: Group, looks: Looks, read: Callable[[RunRecord], Line], width: int) -> Series:
    """The curves of a group: those that are averaged, and those of runs not at their end."""
    inside = averaged_runs(group)
    lines = [(run in inside, read(run)) for run in group.runs]
    taken = [line for averaged, line in lines if averaged and len(line.x)]
    others = [line for averaged, line in lines if not averaged and len(line.x)]
    if not taken:  # those that came to their end say nothing of this
        taken, others = others, []
    return Series(group.label, looks[group.label], taken, width, others)


def path_charts(run: RunRecord, limit: int) -> list[Chart]:
    """J and H of every path after each iteration."""
    if run.paths < 2:
        return []
    charts = []
    for key, title, hint in (
        ("performance", "J of each path", "What the picking rule knows of its return."),
        ("entropy", "H of each path", "The entropy of its policy, in nats."),
    ):
        values = columns(run.metrics, key, run.paths)
        lines = [curve(run.metrics, values[:, path]) for path in range(run.paths)]
        series = [
            Series(f"path {path}", Look.number(path), [line], number=path)
            for path, line in enumerate(lines)
        ]
        charts.append(Chart(title, series, hint, WIDE, limit=limit))
    return [chart for chart in charts if chart.drawn]


def _width(groups: Sequence[Group]) -> int:
    """Iterations of a moving mean: a fiftieth of the run, and odd."""
    return max(len(run.metrics) for group in groups for run in group.runs) // 100 * 2 + 1


def _trust_region(groups: Sequence[Group]) -> tuple[tuple[float, str], ...]:
    """The largest KL of a step, if all of them agree on it."""
    optimisers = [group.runs[0].method.get("optimiser") for group in groups]
    given = [one.get("max_kl") for one in optimisers if isinstance(one, dict)]
    levels = set(numbers([level for level in given if isinstance(level, int | float)]).tolist())
    return tuple((level, f"max_kl {level:g}") for level in levels) if len(levels) == 1 else ()


def _others(groups: Sequence[Group]) -> list[Measure]:
    """Numbers that only some component logs: a bonus, or an optimiser of one's own."""
    known = _BOOKKEEPING | {measure.key for measure in MEASURES}
    names = dict.fromkeys(
        key
        for group in groups
        for run in group.runs
        for row in run.metrics[-1:]
        for key, value in row.items()
        if key not in known and isinstance(value, int | float) and not isinstance(value, bool)
    )
    title = lambda key: visible(key.replace("_", " "), 60)
    return [Measure(key, title(key), "") for key in sorted(names)[:_MOST_OTHERS]]
