"""The page of tables 1 and 2: ours beside the paper's, what we claim, and the verdicts."""

from __future__ import annotations

import math

from mppo.paper.cells import TASK, Cell, default_budget
from mppo.paper.comparison import Comparison
from mppo.paper.orders import against_each, interquartile, over_tasks
from mppo.paper.printed import SEEDS
from mppo.paper.verdicts import of_value
from mppo.paper.words import interval_words, run_notes, seeds_words, solved_words, steps_words
from mppo.report.document import Document, Section
from mppo.report.style import DISPLAY
from mppo.statistics.intervals import paper_bracket, t_interval

EARLIER = (500_000, 1_000_000, 2_000_000)
"""Budgets at which longer runs are read as well."""


def document(table: Comparison) -> Document:
    """The page."""
    sections = [
        _as_printed(table),
        _claimed(table),
        against_each(table),
        over_tasks(table),
        interquartile(table),
        _earlier(table),
        _missing(table),
        _notes(table),
    ]
    return Document(
        f"{table.printed.identifier}: ours beside the paper's",
        [section for section in sections if section is not None],
    )


def _as_printed(table: Comparison) -> Section:
    rows = []
    for task in table.printed.rows:
        cells = [table.cells[task, method] for method in table.printed.methods]
        row = [task, steps_words(cells[0].budget)]
        for cell in cells:
            value = table.printed.value(task, cell.method)
            row.append(f"{_ours(cell)}\npaper {value.mean:.2f} ({value.bracket:.2f})")
        rows.append(row)
    return Section(
        "Panel A: as in the paper",
        [
            f"{table.printed.source}. Mean return of the last tenth of the evaluations over "
            "seeds; in brackets t(0.75) s / sqrt(n), the number that fits the paper's brackets "
            "(half the width of a 50 % interval). For comparison by eye, not for conclusions.",
        ],
        ["task", "steps", *(DISPLAY[name] for name in table.printed.methods)],
        rows,
    )


def _claimed(table: Comparison) -> Section:
    rows = []
    tasks_run = {task for (task, _), cell in table.cells.items() if cell.scores or cell.states}
    for (task, method), cell in table.cells.items():
        if task not in tasks_run:  # one line for all methods
            if method == table.printed.methods[0]:
                rows.append([task, "all", "0", *"------", "missing"])
            continue
        value = table.printed.value(task, method)
        budget = default_budget(TASK[task], method)
        verdict = of_value(cell.finals, value, table.printed.scale(task), (cell.budget, budget))
        rows.append(
            [
                task,
                DISPLAY[method],
                seeds_words(cell),
                steps_words(cell.budget),
                interval_words(t_interval(cell.finals)) if cell.scores else "-",
                " ".join(f"{final:.2f}" for final in cell.finals) or "-",
                solved_words(cell),
                interval_words(t_interval(cell.areas)) if cell.scores else "-",
                f"{value.mean:.2f}",
                str(verdict),
            ]
        )
    return Section(
        "Panel B: what we claim",
        [
            "Mean over seeds with a 95 % t interval, and every seed (in the order of the "
            "seeds). The mean over the run is the area under the curve divided by its length. "
            "Verdicts: reproduced if the paper's value lies in our interval (or within 5 % of "
            "the task's scale) and the interval is sharp; contradicted if it lies outside and "
            "the paper's own error does not explain that; else not resolved (decision 0030).",
        ],
        [
            "task",
            "method",
            "seeds",
            "steps",
            "mean [95 %]",
            "each seed",
            "solved [95 %]",
            "mean over the run [95 %]",
            "paper",
            "verdict",
        ],
        rows,
    )


def _earlier(table: Comparison) -> Section | None:
    rows = []
    for (task, method), cell in table.cells.items():
        for budget in EARLIER:
            if budget < cell.budget and cell.budget > 1_000_000:
                found = table.runs.cell(task, method, budget)
                if found.scores:
                    shown = interval_words(t_interval(found.finals))
                    rows.append(
                        [task, DISPLAY[method], seeds_words(found), steps_words(budget), shown]
                    )
    if not rows:
        return None
    text = "The same runs, read at an earlier budget: the last tenth of evaluations up to it."
    return Section(
        "Earlier in the same runs",
        [text],
        ["task", "method", "seeds", "steps", "mean [95 %]"],
        rows,
    )


def _missing(table: Comparison) -> Section | None:
    commands = []
    for task in table.printed.rows:
        lacking = [
            name for name in table.printed.methods if len(table.cells[task, name].scores) < SEEDS
        ]
        if lacking:
            budget = table.cells[task, lacking[0]].budget
            usual = default_budget(TASK[task], lacking[0])
            short = f" --steps {budget}" if budget != usual else ""
            commands.append(
                f"mppo paper run {table.printed.identifier} --tasks {task} --methods "
                f"{' '.join(lacking)} --seeds {SEEDS}{short} --out {table.root}"
            )
    if not commands:
        return None
    return Section("Missing", [f"Cells with fewer than {SEEDS} seeds:"], commands=commands)


def _notes(table: Comparison) -> Section:
    return Section("Runs", run_notes(table.runs, table.cells.values()))


def _ours(cell: Cell) -> str:
    if not cell.scores:
        return "missing"
    bracket = paper_bracket(cell.finals)
    shown = "?" if math.isnan(bracket) else f"{bracket:.2f}"
    return f"{cell.finals.mean():.2f} ({shown})"
