"""Which method is better: on each task, over the task set, and by interquartile mean."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mppo.paper import words
from mppo.paper.cells import Reproduction
from mppo.paper.printed import CLAIMS, METRICS, Claim
from mppo.paper.verdicts import Verdict, judge_order, seeds_to_see
from mppo.report.document import Section
from mppo.report.style import DISPLAY
from mppo.statistics.aggregates import stratified
from mppo.statistics.comparisons import Comparison, Moments, fewest_seeds, holm, welch
from mppo.statistics.intervals import Interval


def against_each(table: Reproduction) -> Section | None:
    """The method of the table against each of its baselines, task by task."""
    rows = []
    for method in table.printed.methods[1:]:
        tasks = table.tasks_with(2, table.ours, method)
        ours, theirs = (
            [Moments.of(table.cells[task, name].finals) for task in tasks]
            for name in (table.ours, method)
        )
        tests = list(map(welch, ours, theirs))
        corrected = holm([test.p for test in tests])
        for task, test, p in zip(tasks, tests, corrected, strict=True):
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
        "seeds needed": str(seeds_to_see(better, worse) or "-"),
        "verdict on the order": "a tie in the paper" if better.mean == worse.mean else str(verdict),
    }


def over_tasks(table: Reproduction) -> Section:
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
    ordered = [
        task
        for task in table.printed.rows
        if claim.metric == "area" or printed(task, claim.better) > printed(task, worse)
    ]
    decidable = set(table.tasks_with(fewest_seeds(), claim.better, worse))
    tasks = [task for task in ordered if task in decidable]
    ours, theirs = (
        [table.cells[task, name].scores(claim.metric) for task in tasks]
        for name in (claim.better, worse)
    )
    chance, verdict = judge_order(ours, theirs)
    ahead = sum(bool(np.mean(x) > np.mean(y)) for x, y in zip(ours, theirs, strict=True))
    return JudgedClaim(ordered, tasks, ahead, chance, verdict)


def _claimed(table: Reproduction, claim: Claim, worse: str) -> dict[str, str]:
    ordered, tasks, ahead, chance, verdict = judge_claim(table, claim, worse)
    partly = f" (on {len(tasks)} of {len(ordered)} tasks)" if 0 < len(tasks) < len(ordered) else ""
    return {
        "claim": f"{claim.words} ({claim.source})",
        "order": f"{DISPLAY[claim.better]} > {DISPLAY[worse]}",
        "metric": METRICS[claim.metric],
        "tasks": f"{len(tasks)} of {len(ordered)}",
        "ahead on": f"{ahead}" if tasks else "-",
        "P [95 %]": words.interval(chance),
        "verdict": f"{verdict}{partly}",
    }


def interquartile(table: Reproduction) -> Section | None:
    """One number for each method over the tasks that all of them have."""
    methods = [
        method
        for method in table.printed.methods
        if any(table.cells[task, method].seeds for task in table.printed.rows)
    ]
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
