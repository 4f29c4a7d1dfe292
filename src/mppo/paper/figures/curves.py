"""Figures 5 to 8: learning curves for varying K and alpha, and of every method on every task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mppo.errors import BadRequest
from mppo.paper.cells import Cell, Runs
from mppo.paper.figures.drawing import STEPS_LABEL, draw_seeds
from mppo.paper.printed import BEST_ALPHA, BEST_PATHS, TABLES, Printed, Value
from mppo.paper.words import steps_words
from mppo.report.style import COLOURS, DISPLAY
from mppo.statistics.intervals import t_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PENDULUM = "SparseDoublePendulum"
VARIED = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")
STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
NOTE = (
    "left: thin lines are seeds, thick the mean (colours: right), shaded its 95 % t interval,\n"
    "cut off beyond the seeds\n"
    "right: last tenth of the evaluations; dots are seeds (their number in brackets),\n"
    "bars the mean with t intervals of 95 % (thin) and 75 % (thick)"
)


class Line(NamedTuple):
    """One curve of a panel, and the paper's final value if it has one."""

    label: str
    colour: str
    style: Any
    cell: Cell
    printed: Value | None = None


def draw_panel(curves: Any, finals: Any, lines: list[Line]) -> None:
    """Curves to the left; to the right the final score of every seed, and the paper's."""
    for line in filter(lambda line: line.cell.scores, lines):
        steps, values = line.cell.stacked()
        draw_seeds(curves, steps, values, line.colour, line.label, (0.95,), line.style)
    for place, line in enumerate(lines):
        scores = line.cell.finals
        for level, width in ((0.95, 1.2), (0.75, 3.2)):
            if len(scores) > 1:
                found = t_interval(scores, level)
                finals.plot([found.low, found.high], [place] * 2, color=line.colour, lw=width)
        if len(scores):
            finals.plot([scores.mean()], [place], marker="|", color=line.colour, ms=11, mew=2)
        finals.plot(
            scores, np.full(len(scores), place + 0.27), linestyle="", marker="o", ms=3.5,
            color=line.colour, alpha=0.65, markeredgewidth=0,
        )  # fmt: skip
        if line.printed is not None:
            finals.plot(
                [line.printed.mean] * 2, [place - 0.42, place + 0.42], color="black",
                linestyle=(0, (2, 1.2)), linewidth=1.3,
            )  # fmt: skip
            curves.plot(
                [0.965, 1.0], [line.printed.mean] * 2, color=line.colour, lw=1.8,
                linestyle=(0, (1.2, 0.8)), transform=curves.get_yaxis_transform(), clip_on=False,
            )  # fmt: skip
    finals.set_yticks(range(len(lines)), [f"{line.label} ({_seeds(line.cell)})" for line in lines])
    finals.set_ylim(len(lines) - 0.4, -0.6)
    finals.tick_params(axis="y", length=0, labelsize=8)
    curves.set_ylim(*span(lines))
    for axes in (curves, finals):
        axes.grid(True)


def span(lines: list[Line]) -> tuple[float, float]:
    """From the lowest to the highest seed or value of the paper, with a margin.

    An interval of few seeds can be many times as wide; it is cut off rather than made the scale.
    """
    values = [curve.returns for line in lines for curve in line.cell.curves]
    values += [np.array([line.printed.mean]) for line in lines if line.printed is not None]
    low, high = min(map(np.min, values)), max(map(np.max, values))
    margin = 0.06 * (high - low) or 1.0
    return float(low - margin), float(high + margin)


def _seeds(cell: Cell) -> str:
    waiting = sum(cell.states.values())
    if not cell.scores:
        return f"0 of {waiting}" if waiting else "no runs"
    return (
        f"{len(cell.scores)} of {len(cell.scores) + waiting}" if waiting else f"{len(cell.scores)}"
    )


def _figure(
    panels: list[tuple[str, list[Line]]], across: int, caption: str, missing: str
) -> Figure:
    """Pairs of axes, `across` of them in a row; of what has no runs only the names."""
    from matplotlib.figure import Figure

    gaps = [title for title, lines in panels if not lines]
    panels = [(title, lines) for title, lines in panels if lines]
    if gaps:
        caption += f"\nno runs yet of {', '.join(gaps)}: {missing}"
    across = min(across, max(1, len(panels) // 2))
    down = -(-len(panels) // across)
    figure = Figure(figsize=(8.4 * across, 3.5 * down + 0.6), layout="constrained")
    grid = figure.subplots(down, 2 * across, squeeze=False, width_ratios=[1.5, 1] * across)
    for i, (title, lines) in enumerate(panels):
        curves, finals = grid[i // across, 2 * (i % across) : 2 * (i % across) + 2]
        draw_panel(curves, finals, lines)
        steps = steps_words(lines[0].cell.budget)
        curves.set(title=title, xlabel=STEPS_LABEL, ylabel="return (mean of 10 episodes)")
        curves.set_xlim(0, lines[0].cell.budget / 1e6)
        finals.set(title=f"final return at {steps} steps", xlabel="return")
    for axes in grid.flat[2 * len(panels) :]:
        axes.axis("off")
    figure.supxlabel(caption, fontsize=9, color="0.3")
    return figure


def performance(root: Path, table: str, identifier: str) -> Figure:
    """Figures 7 and 8: every method of a table on every task."""
    printed: Printed = TABLES[table]
    runs = Runs(root)
    panels: list[tuple[str, list[Line]]] = []
    for task in printed.rows:
        budget = runs.budget(task, printed.methods)
        lines = []
        for place, method in enumerate(printed.methods):
            cell = runs.cell(task, method, budget)
            value = printed.value(task, method)
            lines.append(Line(DISPLAY[method], COLOURS[method], STYLES[place], cell, value))
        panels.append((task, lines if any(line.cell.scores for line in lines) else []))
    _refuse_empty(panels, root, identifier)
    caption = f"{NOTE}\ndashed: the paper's final means (it does not state its steps)"
    return _figure(panels, 2, caption, f"mppo paper run {identifier} --tasks TASK")


def varying_paths(root: Path) -> Figure:
    """Figure 5: MP-TRPO and MP-PPO with several K, beside their bases."""
    runs = Runs(root)
    panels = []
    for base in ("trpo", "ppo"):
        name = f"mp-{base}"
        usual = BEST_PATHS[base]
        tried = {
            found["paths"] for found, _ in runs.varied(PENDULUM, name) if set(found) == {"paths"}
        }
        budget = runs.budget(PENDULUM, (base, name))
        lines = [(f"{base.upper()}", "#000000", runs.cell(PENDULUM, base, budget))]
        for colour, k in zip(VARIED, sorted(tried | {usual}), strict=False):
            cell = runs.cell(PENDULUM, name, budget, {} if k == usual else {"paths": k})
            best = " (paper's best)" if k == usual else ""
            lines.append((f"K = {k}{best}", colour, cell))
        panels.append((f"Varying K for MP-{base.upper()}, {PENDULUM}", _lines(lines)))
    _refuse_empty(panels, root, "figure-5")
    return _figure(panels, 1, NOTE, "mppo paper run figure-5")


def varying_alpha(root: Path) -> Figure:
    """Figure 6: MP-TRPO with several alpha."""
    runs = Runs(root)
    field = "picking.alpha"
    tried = {found[field] for found, _ in runs.varied(PENDULUM, "mp-trpo") if set(found) == {field}}
    budget = runs.budget(PENDULUM, ("mp-trpo",))
    lines = []
    for colour, alpha in zip(VARIED, sorted(tried | {BEST_ALPHA}), strict=False):
        changed = {} if alpha == BEST_ALPHA else {field: alpha}
        best = " (paper's best)" if alpha == BEST_ALPHA else ""
        cell = runs.cell(PENDULUM, "mp-trpo", budget, changed)
        lines.append((f"α = {alpha:g}{best}", colour, cell))
    panels = [(f"Varying α for MP-TRPO, {PENDULUM}", _lines(lines))]
    _refuse_empty(panels, root, "figure-6")
    return _figure(panels, 1, NOTE, "mppo paper run figure-6")


def _lines(found: list[tuple[str, str, Cell]]) -> list[Line]:
    return [
        Line(label, colour, style, cell)
        for (label, colour, cell), style in zip(found, STYLES, strict=False)
        if cell.scores
    ]


def _refuse_empty(panels: list[tuple[str, list[Line]]], root: Path, identifier: str) -> None:
    if not any(lines for _, lines in panels):
        raise BadRequest(
            f'no run for {identifier} below "{root}" has come to its end; make them with: '
            f"mppo paper run {identifier} --out {root}"
        )
