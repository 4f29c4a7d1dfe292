"""Figures 5 to 8: learning curves for varying K and alpha, and of every method on every task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mppo.errors import BadRequest
from mppo.paper import words
from mppo.paper.cells import Cell, Runs
from mppo.paper.figures.drawing import STEPS_LABEL, Axes, caption, draw_seeds, empty
from mppo.paper.printed import BEST_ALPHA, BEST_PATHS, TABLES, Value
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


class CurveLine(NamedTuple):
    """One curve of a panel, and the paper's final value if it has one."""

    label: str
    colour: str
    style: Any  # a name or a pattern of dashes
    cell: Cell
    printed: Value | None = None


def draw_panel(curves: Axes, finals: Axes, lines: list[CurveLine]) -> None:
    """Curves to the left; to the right the final score of every seed, and the paper's."""
    for line in lines:
        if line.cell.seeds:
            draw_seeds(curves, *line.cell.stacked(), line.colour, line.label, (0.95,), line.style)
    for place, line in enumerate(lines):
        scores = line.cell.finals
        for level, width in ((0.95, 1.2), (0.75, 3.2)):
            if len(scores) > 1:
                ends = t_interval(scores, level)[1:]
                finals.plot(ends, [place] * 2, color=line.colour, lw=width)
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


def span(lines: list[CurveLine]) -> tuple[float, float]:
    """From the lowest to the highest seed or value of the paper, with a margin.

    An interval of few seeds can be many times as wide; it is cut off rather than made the scale.
    """
    values = [curve.returns for line in lines for curve in line.cell.curves]
    values += [np.array([line.printed.mean]) for line in lines if line.printed is not None]
    low, high = min(map(np.min, values)), max(map(np.max, values))
    margin = 0.06 * (high - low) or 1.0
    return float(low - margin), float(high + margin)


def _seeds(cell: Cell) -> str:
    waiting = cell.states.total()
    if waiting:
        return f"{cell.seeds} of {cell.seeds + waiting}"
    return str(cell.seeds or "no runs")


def _figure(
    panels: dict[str, list[CurveLine]],
    root: Path,
    identifier: str,
    more: str = "",
    option: str = "",
) -> Figure:
    """Pairs of axes, at most two of them in a row; of what has no runs only the names."""
    command = f"mppo paper run {identifier}"
    shown = {title: lines for title, lines in panels.items() if lines}
    if not shown:
        raise BadRequest(
            f'no run for {identifier} below "{root}" has come to its end; make them with: '
            f"{command} --out {root}"
        )
    if gaps := [title for title in panels if title not in shown]:
        more += f"\nno runs yet of {', '.join(gaps)}: {command}{option}"
    across = min(2, max(1, len(shown) // 2))
    down = -(-len(shown) // across)
    figure = empty(8.4 * across, 3.5 * down + 0.6)
    grid = figure.subplots(down, 2 * across, squeeze=False, width_ratios=[1.5, 1] * across)
    for i, (title, lines) in enumerate(shown.items()):
        curves, finals = grid[i // across, 2 * (i % across) : 2 * (i % across) + 2]
        budget = lines[0].cell.budget
        draw_panel(curves, finals, lines)
        curves.set(title=title, xlabel=STEPS_LABEL, ylabel="return (mean of 10 episodes)")
        curves.set_xlim(0, budget / 1e6)
        finals.set(title=f"final return at {words.steps(budget)} steps", xlabel="return")
    for axes in grid.flat[2 * len(shown) :]:
        axes.axis("off")
    caption(figure, NOTE + more)
    return figure


def performance(root: Path, table: str, identifier: str) -> Figure:
    """Figures 7 and 8: every method of a table on every task."""
    printed, runs = TABLES[table], Runs(root)
    panels: dict[str, list[CurveLine]] = {}
    for task in printed.rows:
        budget = runs.budget(task, printed.methods)
        lines = []
        for method, style, value in zip(printed.methods, STYLES, printed.rows[task], strict=False):
            cell = runs.cell(task, method, budget)
            lines.append(CurveLine(DISPLAY[method], COLOURS[method], style, cell, value))
        panels[task] = lines if any(line.cell.seeds for line in lines) else []
    note = "\ndashed: the paper's final means (it does not state its steps)"
    return _figure(panels, root, identifier, note, " --tasks TASK")


def varying_paths(root: Path) -> Figure:
    """Figure 5: MP-TRPO and MP-PPO with several K, beside their bases."""
    runs, panels = Runs(root), {}
    for base, usual in BEST_PATHS.items():
        name = f"mp-{base}"
        budget = runs.budget(PENDULUM, (base, name))
        beside = CurveLine(base.upper(), "#000000", "-", runs.cell(PENDULUM, base, budget))
        varied = _varied(runs, name, budget, "paths", usual, "K = {:d}", STYLES[1:])
        lines = [line for line in (beside, *varied) if line.cell.seeds]
        panels[f"Varying K for {name.upper()}, {PENDULUM}"] = lines
    return _figure(panels, root, "figure-5")


def varying_alpha(root: Path) -> Figure:
    """Figure 6: MP-TRPO with several alpha."""
    runs = Runs(root)
    budget = runs.budget(PENDULUM, ("mp-trpo",))
    varied = _varied(runs, "mp-trpo", budget, "picking.alpha", BEST_ALPHA, "α = {:g}", STYLES)
    lines = [line for line in varied if line.cell.seeds]
    return _figure({f"Varying α for MP-TRPO, {PENDULUM}": lines}, root, "figure-6")


def _varied(
    runs: Runs, method: str, budget: int, field: str, usual: float, label: str, styles: Sequence
) -> Iterator[CurveLine]:
    """A line for every value of one field that was tried."""
    changes = [changed for changed in runs.variations(PENDULUM, method) if set(changed) == {field}]
    values = sorted({usual} | {changed[field] for changed in changes})
    for colour, style, value in zip(VARIED, styles, values, strict=False):
        cell = runs.cell(PENDULUM, method, budget, {} if value == usual else {field: value})
        best = " (paper's best)" if value == usual else ""
        yield CurveLine(label.format(value) + best, colour, style, cell)
