"""The page of tables 1 and 2: our returns beside the paper's, and the verdicts on them."""

from __future__ import annotations

import math

from mppo.paper import words
from mppo.paper.artefacts import SEEDS, default_steps
from mppo.paper.cells import ENV_ID, Cell, Reproduction
from mppo.paper.orders import against_each, interquartile, over_tasks
from mppo.paper.verdicts import judge_value
from mppo.report.document import Document, Section
from mppo.report.style import DISPLAY
from mppo.statistics.intervals import paper_bracket, t_interval

EARLIER = (500_000, 1_000_000, 2_000_000)
"""Budgets at which longer runs are read as well."""


def document(table: Reproduction) -> Document:
    """The page."""
    sections = [
        _as_printed(table),
        _judged(table),
        against_each(table),
        over_tasks(table),
        interquartile(table),
        _earlier(table),
        _missing(table),
        Section("Runs", words.run_notes(table.runs, table.cells.values())),
    ]
    title = f"{table.printed.identifier}: ours beside the paper's"
    return Document(title, [section for section in sections if section is not None])


def _as_printed(table: Reproduction) -> Section:
    rows = []
    for task in table.printed.rows:
        row = {"task": task, "steps": words.steps(table.cells[task, table.ours].budget)}
        for method in table.printed.methods:
            value = table.printed.value(task, method)
            ours = _mean_and_bracket(table.cells[task, method])
            row[DISPLAY[method]] = f"{ours}\npaper {value.mean:.2f} ({value.bracket:.2f})"
        rows.append(row)
    text = (
        f"{table.printed.source}. Mean return of the last tenth of the evaluations over "
        "seeds; in brackets t(0.75) s / sqrt(n), the number that fits the paper's brackets "
        "(half the width of a 50 % interval). For comparison by eye, not for conclusions."
    )
    return Section.of_rows("Panel A: as in the paper", [text], rows)


def _mean_and_bracket(cell: Cell) -> str:
    if not cell.seeds:
        return "missing"
    bracket = paper_bracket(cell.finals)
    return f"{cell.finals.mean():.2f} ({'?' if math.isnan(bracket) else f'{bracket:.2f}'})"


def _judged(table: Reproduction) -> Section:
    rows = []
    for task in table.printed.rows:
        cells = [table.cells[task, method] for method in table.printed.methods]
        if any(cell.seeds or cell.states for cell in cells):
            rows += [_judged_row(table, cell) for cell in cells]
        else:  # one line for all methods
            rows.append([task, "all", "0", *"------", "missing"])
    text = (
        "Mean over seeds with a 95 % t interval, and every seed (in the order of the "
        "seeds). The mean over the run is the area under the curve divided by its length. "
        "Verdicts: reproduced if the paper's value lies in our interval (or within 5 % of "
        "the task's scale) and the interval is sharp; contradicted if it lies outside and "
        "the paper's own error does not explain that; else not resolved (decision 0030)."
    )
    columns = ["task", "method", "seeds", "steps", "mean [95 %]", "each seed", "solved [95 %]"]
    columns += ["mean over the run [95 %]", "paper", "verdict"]
    return Section("Panel B: what we claim", [text], columns, rows)


def _judged_row(table: Reproduction, cell: Cell) -> list[str]:
    value, scale = table.printed.value(cell.task, cell.method), table.printed.scale(cell.task)
    steps = (cell.budget, default_steps(ENV_ID[cell.task], cell.method))
    return [
        cell.task,
        DISPLAY[cell.method],
        words.seeds(cell),
        words.steps(cell.budget),
        words.interval(t_interval(cell.finals) if cell.seeds else None),
        words.finals(cell),
        words.solved(cell),
        words.interval(t_interval(cell.areas) if cell.seeds else None),
        f"{value.mean:.2f}",
        str(judge_value(cell.finals, value, scale, steps)),
    ]


def _earlier(table: Reproduction) -> Section | None:
    rows = []
    for (task, method), cell in table.cells.items():
        long_run = cell.budget > 1_000_000
        for budget in (steps for steps in EARLIER if long_run and steps < cell.budget):
            before = table.runs.cell(task, method, budget)
            if before.seeds:
                rows.append(
                    {
                        "task": task,
                        "method": DISPLAY[method],
                        "seeds": words.seeds(before),
                        "steps": words.steps(budget),
                        "mean [95 %]": words.interval(t_interval(before.finals)),
                    }
                )
    text = "The same runs, read at an earlier budget: the last tenth of evaluations up to it."
    return Section.of_rows("Earlier in the same runs", [text], rows) if rows else None


def _missing(table: Reproduction) -> Section | None:
    commands = []
    for task in table.printed.rows:
        cells = [table.cells[task, method] for method in table.printed.methods]
        lacking = [cell.method for cell in cells if cell.seeds < len(SEEDS)]
        if lacking:
            budget = cells[0].budget
            short = budget != default_steps(ENV_ID[task], lacking[0])
            commands.append(
                f"mppo paper run {table.printed.identifier} --tasks {task} --methods "
                f"{' '.join(lacking)} --seeds {len(SEEDS)}{f' --steps {budget}' if short else ''} "
                f"--out {table.root}"
            )
    text = f"Cells with fewer than {len(SEEDS)} seeds:"
    return Section("Missing", [text], commands=commands) if commands else None
