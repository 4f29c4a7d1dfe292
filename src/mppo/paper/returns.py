"""The page of tables 1 and 2: our returns beside the paper's, which method is better, verdicts."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mppo.paper import words
from mppo.paper.artefacts import SEEDS, default_steps
from mppo.paper.cells import ENV_ID, Cell, Reproduction, Runs
from mppo.paper.printed import CLAIMS, METRICS, TABLES, Claim
from mppo.paper.verdicts import Verdict, judge_order, judge_value
from mppo.report.document import Document, Section
from mppo.report.style import DISPLAY
from mppo.statistics.aggregates import stratified
from mppo.statistics.comparisons import Comparison, Moments, fewest_seeds, holm, seeds_needed, welch
from mppo.statistics.intervals import Interval, paper_bracket, t_interval

EARLIER = (500_000, 1_000_000, 2_000_000)
"""Budgets at which longer runs are read as well."""


def document(identifier: str, root: Path) -> Document:
    """The page."""
    table = Reproduction(TABLES[identifier], Runs(root), root)
    panels = (_as_printed, _judged, against_each, _over_tasks, interquartile, _earlier, _missing)
    made = [section for panel in panels if (section := panel(table)) is not None]
    runs = Section("Runs", words.run_notes(table.runs, table.cells.values()))
    return Document(f"{identifier}: ours beside the paper's", [*made, runs])


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


def against_each(table: Reproduction) -> Section | None:
    """The method of the table against each of its baselines, task by task."""
    rows = []
    for method in table.printed.methods[1:]:
        tasks = table.tasks_with(2, table.ours, method)
        moments = lambda task, name: Moments.of(table.cells[task, name].finals)
        tests = [welch(moments(task, table.ours), moments(task, method)) for task in tasks]
        for task, test, p in zip(tasks, tests, holm([test.p for test in tests]), strict=True):
            rows.append(_against(table, method, task, test, p))
    text = (
        "Difference of means with Welch's 95 % interval, p after Holm's correction over "
        "the tasks of one baseline, effect size d, and P: the probability that a run of "
        f"{DISPLAY[table.ours]} beats one of the baseline, with its 95 % bootstrap interval "
        f"({words.BOOTSTRAP}). Seeds needed: on each side, for 80 % "
        "power to see the paper's own difference."
    )
    heading = f"{DISPLAY[table.ours]} against each baseline"
    return Section.of_rows(heading, [text], rows) if rows else None


def _against(
    table: Reproduction, method: str, task: str, test: Comparison, p: float
) -> dict[str, str]:
    one, other = table.cells[task, table.ours], table.cells[task, method]
    better, worse = (table.printed.value(task, name) for name in (table.ours, method))
    needed = seeds_needed(welch(better.moments, worse.moments).effect)
    chance, verdict = judge_order([one.finals], [other.finals])
    return {
        "task": task,
        "against": DISPLAY[method],
        "seeds": f"{one.seeds} and {other.seeds}",
        "difference [95 %]": words.interval(test.difference),
        "p (Holm)": f"{p:.3f}",
        "d": f"{test.effect:+.2f}",
        "P [95 %]": words.interval(chance),
        "paper's difference": f"{better.mean - worse.mean:+.2f}",
        "seeds needed": str(needed or "-"),
        "verdict on the order": "a tie in the paper" if better.mean == worse.mean else str(verdict),
    }


class JudgedClaim(NamedTuple):
    """One order of two methods that the paper claims, over the tasks of a table."""

    claimed: list[str]
    """The tasks on which the paper has this order."""
    tasks: list[str]
    """Those of them on which both methods have enough seeds."""
    ahead: int
    """On how many of these our mean is in this order."""
    chance: Interval | None
    verdict: Verdict


def judge_claim(table: Reproduction, claim: Claim, worse: str) -> JudgedClaim:
    """Whether the better method of a claim beats one of the others."""
    printed = lambda task, method: table.printed.value(task, method).mean
    claimed = [
        task
        for task in table.printed.rows
        if claim.metric == "area" or printed(task, claim.better) > printed(task, worse)
    ]
    decidable = table.tasks_with(fewest_seeds(), claim.better, worse)
    tasks = [task for task in claimed if task in decidable]
    scores = lambda name: [table.cells[task, name].scores(claim.metric) for task in tasks]
    ours, theirs = scores(claim.better), scores(worse)
    ahead = sum(bool(np.mean(x) > np.mean(y)) for x, y in zip(ours, theirs, strict=True))
    return JudgedClaim(claimed, tasks, ahead, *judge_order(ours, theirs))


def _over_tasks(table: Reproduction) -> Section:
    """The paper's claims over all tasks of the table."""
    rows = [
        _claimed(table, claim, worse)
        for claim in CLAIMS[table.printed.identifier]
        for worse in claim.worse
    ]
    text = (
        "P averaged over the tasks on which the paper prints this order (ties are left "
        f"out) and both methods have at least {fewest_seeds()} seeds; stratified bootstrap "
        f"over seeds within tasks, {words.BOOTSTRAP}. Reproduced: the "
        "lower end is above 1/2; contradicted: the upper end is below."
    )
    return Section.of_rows("Claims over the task set", [text], rows)


def _claimed(table: Reproduction, claim: Claim, worse: str) -> dict[str, str]:
    claimed, tasks, ahead, chance, verdict = judge_claim(table, claim, worse)
    partly = f" (on {len(tasks)} of {len(claimed)} tasks)" if 0 < len(tasks) < len(claimed) else ""
    return {
        "claim": f"{claim.words} ({claim.source})",
        "order": f"{DISPLAY[claim.better]} > {DISPLAY[worse]}",
        "metric": METRICS[claim.metric],
        "tasks": f"{len(tasks)} of {len(claimed)}",
        "ahead on": f"{ahead}" if tasks else "-",
        "P [95 %]": words.interval(chance),
        "verdict": f"{verdict}{partly}",
    }


def interquartile(table: Reproduction) -> Section | None:
    """One number for each method over the tasks that all of them have."""
    seen = {method for (_, method), cell in table.cells.items() if cell.seeds}
    methods = [method for method in table.printed.methods if method in seen]
    tasks = table.tasks_with(2, *methods) if methods else []
    if not tasks:
        return None
    rows = []
    for method in methods:
        scores = [table.cells[task, method].finals / table.printed.scale(task) for task in tasks]
        middle = words.interval(stratified(scores), 3)
        rows.append({"method": DISPLAY[method], "IQM [95 %]": middle})
    scales = ", ".join(f"{task} {table.printed.scale(task):g}" for task in tasks)
    text = (
        f"Tasks that all of these methods have: {len(tasks)}. Final returns divided by the "
        f"best value the paper prints for the task ({scales}); 0 stays 0. Mean of the "
        f"middle half of all runs with a 95 % stratified bootstrap interval ({words.BOOTSTRAP})."
    )
    return Section.of_rows("Interquartile mean over the task set", [text], rows)


def _earlier(table: Reproduction) -> Section | None:
    """Runs of more than a million steps, read at earlier budgets as well."""
    rows = [
        {
            "task": cell.task,
            "method": DISPLAY[cell.method],
            "seeds": words.seeds(cell),
            "steps": words.steps(cell.budget),
            "mean [95 %]": words.interval(t_interval(cell.finals)),
        }
        for (task, method), whole in table.cells.items()
        for budget in EARLIER
        if whole.budget > max(budget, 1_000_000)
        if (cell := table.runs.cell(task, method, budget)).seeds
    ]
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
