"""Which method is better: on each task, over the task set, and by interquartile mean."""

from __future__ import annotations

import numpy as np

from mppo.paper.comparison import Comparison
from mppo.paper.printed import CLAIMS, Claim
from mppo.paper.verdicts import of_order, seeds_for
from mppo.paper.words import interval_words
from mppo.report.document import Section
from mppo.report.style import DISPLAY
from mppo.statistics.aggregates import stratified
from mppo.statistics.comparisons import Moments, fewest_seeds, holm, welch
from mppo.statistics.intervals import RESAMPLES, SEED


def against_each(table: Comparison) -> Section | None:
    """The method of the table against each of its baselines, task by task."""
    rows = []
    for method in table.printed.methods[1:]:
        rows += _against(table, method)
    if not rows:
        return None
    return Section(
        f"{DISPLAY[table.ours]} against each baseline",
        [
            "Difference of means with Welch's 95 % interval, p after Holm's correction over "
            "the tasks of one baseline, effect size d, and P: the probability that a run of "
            f"{DISPLAY[table.ours]} beats one of the baseline, with its 95 % bootstrap interval "
            f"({RESAMPLES:,} resamples, seed {SEED}). Seeds needed: on each side, for 80 % "
            "power to see the paper's own difference.",
        ],
        [
            "task",
            "against",
            "seeds",
            "difference [95 %]",
            "p (Holm)",
            "d",
            "P [95 %]",
            "paper's difference",
            "seeds needed",
            "verdict on the order",
        ],
        rows,
    )


def _against(table: Comparison, method: str) -> list[list[str]]:
    tasks = [
        task
        for task in table.printed.rows
        if min(len(table.cells[task, name].scores) for name in (table.ours, method)) > 1
    ]
    tests = {
        task: welch(
            Moments.of(table.cells[task, table.ours].finals),
            Moments.of(table.cells[task, method].finals),
        )
        for task in tasks
    }
    corrected = dict(zip(tasks, holm([tests[task].p for task in tasks]), strict=True))
    rows = []
    for task in tasks:
        one, other = table.cells[task, table.ours], table.cells[task, method]
        better, worse = table.printed.value(task, table.ours), table.printed.value(task, method)
        chance, verdict = of_order([one.finals], [other.finals])
        needed = seeds_for(better, worse)
        tie = better.mean == worse.mean
        rows.append(
            [
                task,
                DISPLAY[method],
                f"{len(one.scores)} and {len(other.scores)}",
                interval_words(tests[task].difference),
                f"{corrected[task]:.3f}",
                f"{tests[task].effect:+.2f}",
                interval_words(chance) if chance else "-",
                f"{better.mean - worse.mean:+.2f}",
                str(needed) if needed else "-",
                "a tie in the paper" if tie else str(verdict),
            ]
        )
    return rows


def over_tasks(table: Comparison) -> Section:
    """The paper's claims over all tasks of the table."""
    rows = []
    for claim in CLAIMS[table.printed.identifier]:
        tasks = _decidable(table, claim)
        ours, theirs = (
            [table.cells[task, name].metric(claim.metric) for task in tasks]
            for name in (claim.better, claim.worse)
        )
        chance, verdict = of_order(ours, theirs)
        ahead = sum(np.mean(x) > np.mean(y) for x, y in zip(ours, theirs, strict=True))
        rows.append(
            [
                f"{claim.words} ({claim.source})",
                f"{DISPLAY[claim.better]} > {DISPLAY[claim.worse]}",
                "final return" if claim.metric == "final" else "mean over the run",
                f"{len(tasks)} of {len(_ordered(table, claim))}",
                f"{ahead}" if tasks else "-",
                interval_words(chance) if chance else "-",
                _partly(str(verdict), len(tasks), len(_ordered(table, claim))),
            ]
        )
    return Section(
        "Claims over the task set",
        [
            "P averaged over the tasks on which the paper prints this order (ties are left "
            f"out) and both methods have at least {fewest_seeds()} seeds; stratified bootstrap "
            f"over seeds within tasks, {RESAMPLES:,} resamples, seed {SEED}. Reproduced: the "
            "lower end is above 1/2; contradicted: the upper end is below.",
        ],
        ["claim", "order", "metric", "tasks", "ahead on", "P [95 %]", "verdict"],
        rows,
    )


def _partly(verdict: str, tasks: int, of: int) -> str:
    """A verdict that says so if it rests on some of the tasks only."""
    return f"{verdict} (on {tasks} of {of} tasks)" if 0 < tasks < of else verdict


def _ordered(table: Comparison, claim: Claim) -> list[str]:
    """Tasks on which the paper prints the order of a claim."""
    value = table.printed.value
    return [
        task
        for task in table.printed.rows
        if claim.metric == "area" or value(task, claim.better).mean > value(task, claim.worse).mean
    ]


def _decidable(table: Comparison, claim: Claim) -> list[str]:
    names = (claim.better, claim.worse)
    return [
        task
        for task in _ordered(table, claim)
        if min(len(table.cells[task, name].scores) for name in names) >= fewest_seeds()
    ]


def interquartile(table: Comparison) -> Section | None:
    """One number for each method over the tasks that all of them have."""
    present = [
        name
        for name in table.printed.methods
        if any(table.cells[task, name].scores for task in table.printed.rows)
    ]
    tasks = [
        task
        for task in table.printed.rows
        if present and min(len(table.cells[task, name].scores) for name in present) > 1
    ]
    if not tasks:
        return None
    rows = []
    for name in present:
        scores = [table.cells[t, name].finals / table.printed.scale(t) for t in tasks]
        rows.append([DISPLAY[name], interval_words(stratified(scores), 3)])
    scales = ", ".join(f"{task} {table.printed.scale(task):g}" for task in tasks)
    return Section(
        "Interquartile mean over the task set",
        [
            f"Tasks that all of these methods have: {len(tasks)}. Final returns divided by the "
            f"best value the paper prints for the task ({scales}); 0 stays 0. Mean of the "
            f"middle half of all runs with a 95 % stratified bootstrap interval ({RESAMPLES:,} "
            f"resamples, seed {SEED}).",
        ],
        ["method", "IQM [95 %]"],
        rows,
    )
