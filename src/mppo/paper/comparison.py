"""Tables 1 and 2: ours beside the paper's, what we claim, and the verdicts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from mppo.paper.cells import SUCCESS, TASK, Cell, Runs, default_budget
from mppo.paper.document import Document, Section
from mppo.paper.printed import CLAIMS, SEEDS, Claim, Printed
from mppo.paper.verdicts import fewest_seeds, of_order, of_value, seeds_for
from mppo.report.style import DISPLAY
from mppo.statistics.aggregates import stratified
from mppo.statistics.comparisons import Summary, holm, welch
from mppo.statistics.intervals import (
    RESAMPLES,
    SEED,
    Interval,
    paper_bracket,
    t_interval,
    wilson_interval,
)

EARLIER = (500_000, 1_000_000, 2_000_000)
"""Budgets at which longer runs are read as well."""


@dataclass(frozen=True)
class Comparison:
    """A printed table and the runs that answer it."""

    printed: Printed
    runs: Runs
    root: Path

    @cached_property
    def cells(self) -> dict[tuple[str, str], Cell]:
        """Every cell at the budget of its task."""
        found = {}
        for task in self.printed.rows:
            budget = self.runs.budget(task, self.printed.methods)
            for method in self.printed.methods:
                found[task, method] = self.runs.cell(task, method, budget)
        return found

    @property
    def ours(self) -> str:
        """The method the table is about."""
        return self.printed.methods[0]

    def document(self) -> Document:
        """The page."""
        sections = [
            self._as_printed(),
            self._claimed(),
            self._compared(),
            self._over_tasks(),
            self._iqm(),
            self._earlier(),
            self._missing(),
            self._notes(),
        ]
        return Document(
            f"{self.printed.identifier}: ours beside the paper's",
            [section for section in sections if section is not None],
        )

    def _as_printed(self) -> Section:
        rows = []
        for task in self.printed.rows:
            cells = [self.cells[task, method] for method in self.printed.methods]
            row = [task, steps_words(cells[0].budget)]
            for cell in cells:
                value = self.printed.value(task, cell.method)
                row.append(f"{_ours(cell)}\npaper {value.mean:.2f} ({value.bracket:.2f})")
            rows.append(row)
        return Section(
            "Panel A: as in the paper",
            [
                f"{self.printed.source}. Mean return of the last tenth of the evaluations over "
                "seeds; in brackets t(0.75) s / sqrt(n), the number that fits the paper's brackets "
                "(half the width of a 50 % interval). For comparison by eye, not for conclusions.",
            ],
            ["task", "steps", *(DISPLAY[name] for name in self.printed.methods)],
            rows,
        )

    def _claimed(self) -> Section:
        rows = []
        for (task, method), cell in self.cells.items():
            value = self.printed.value(task, method)
            budget = default_budget(TASK[task], method)
            verdict = of_value(cell.finals, value, self.printed.scale(task), (cell.budget, budget))
            rows.append(
                [
                    task,
                    DISPLAY[method],
                    _seeds(cell),
                    steps_words(cell.budget),
                    interval_words(t_interval(cell.finals)) if cell.scores else "-",
                    " ".join(f"{final:.2f}" for final in cell.finals) or "-",
                    _solved(cell),
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

    def _compared(self) -> Section | None:
        rows = []
        for method in self.printed.methods[1:]:
            rows += self._against(method)
        return rows and Section(
            f"{DISPLAY[self.ours]} against each baseline",
            [
                "Difference of means with Welch's 95 % interval, p after Holm's correction over "
                "the tasks of one baseline, effect size d, and P: the probability that a run of "
                f"{DISPLAY[self.ours]} beats one of the baseline, with its 95 % bootstrap interval "
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
        ) or None  # fmt: skip

    def _against(self, method: str) -> list[list[str]]:
        tasks = [
            task
            for task in self.printed.rows
            if min(len(self.cells[task, name].scores) for name in (self.ours, method)) > 1
        ]
        tests = {
            task: welch(
                Summary.of(self.cells[task, self.ours].finals),
                Summary.of(self.cells[task, method].finals),
            )
            for task in tasks
        }
        corrected = dict(zip(tasks, holm([tests[task].p for task in tasks]), strict=True))
        rows = []
        for task in tasks:
            one, other = self.cells[task, self.ours], self.cells[task, method]
            better, worse = self.printed.value(task, self.ours), self.printed.value(task, method)
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

    def _over_tasks(self) -> Section:
        rows = []
        for claim in CLAIMS[self.printed.identifier]:
            tasks = self._decidable(claim)
            ours, theirs = (
                [self.cells[task, name].metric(claim.metric) for task in tasks]
                for name in (claim.better, claim.worse)
            )
            chance, verdict = of_order(ours, theirs)
            ahead = sum(np.mean(x) > np.mean(y) for x, y in zip(ours, theirs, strict=True))
            rows.append(
                [
                    f"{claim.words} ({claim.source})",
                    f"{DISPLAY[claim.better]} > {DISPLAY[claim.worse]}",
                    "final return" if claim.metric == "final" else "mean over the run",
                    f"{len(tasks)} of {len(self._ordered(claim))}",
                    f"{ahead}" if tasks else "-",
                    interval_words(chance) if chance else "-",
                    str(verdict),
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

    def _ordered(self, claim: Claim) -> list[str]:
        """Tasks on which the paper prints the order of a claim."""
        value = self.printed.value
        return [
            task
            for task in self.printed.rows
            if claim.metric == "area"
            or value(task, claim.better).mean > value(task, claim.worse).mean
        ]

    def _decidable(self, claim: Claim) -> list[str]:
        names = (claim.better, claim.worse)
        return [
            task
            for task in self._ordered(claim)
            if min(len(self.cells[task, name].scores) for name in names) >= fewest_seeds()
        ]

    def _iqm(self) -> Section | None:
        present = [
            name
            for name in self.printed.methods
            if any(self.cells[task, name].scores for task in self.printed.rows)
        ]
        tasks = [
            task
            for task in self.printed.rows
            if present and min(len(self.cells[task, name].scores) for name in present) > 1
        ]
        if not tasks:
            return None
        rows = []
        for name in present:
            scores = [self.cells[t, name].finals / self.printed.scale(t) for t in tasks]
            rows.append([DISPLAY[name], interval_words(stratified(scores), 3)])
        scales = ", ".join(f"{task} {self.printed.scale(task):g}" for task in tasks)
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

    def _earlier(self) -> Section | None:
        rows = []
        for (task, method), cell in self.cells.items():
            for budget in EARLIER:
                if budget < cell.budget and cell.budget > 1_000_000:
                    found = self.runs.cell(task, method, budget)
                    if found.scores:
                        shown = interval_words(t_interval(found.finals))
                        rows.append(
                            [task, DISPLAY[method], _seeds(found), steps_words(budget), shown]
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

    def _missing(self) -> Section | None:
        commands = []
        for task in self.printed.rows:
            lacking = [
                name for name in self.printed.methods if len(self.cells[task, name].scores) < SEEDS
            ]
            if lacking:
                budget = self.cells[task, lacking[0]].budget
                usual = default_budget(TASK[task], lacking[0])
                short = f" --steps {budget}" if budget != usual else ""
                commands.append(
                    f"mppo paper run {self.printed.identifier} --tasks {task} --methods "
                    f"{' '.join(lacking)} --seeds {SEEDS}{short} --out {self.root}"
                )
        if not commands:
            return None
        return Section("Missing", [f"Cells with fewer than {SEEDS} seeds:"], commands=commands)

    def _notes(self) -> Section:
        return Section("Runs", run_notes(self.runs, self.cells.values()))


def run_notes(runs: Runs, cells) -> list[str]:
    """How many runs there are, and which of them are not in the table."""
    cells = list(cells)
    read = sum(len(cell.scores) for cell in cells)
    others = sum((cell.states for cell in cells), start=type(cells[0].states)())
    words = [f"{read} runs were read"]
    words += [f"{count} {state}" for state, count in sorted(others.items())]
    lines = [f"{len(runs.records)} run directories; " + ", ".join(words) + "."]
    varied = {
        f"{cell.method} on {cell.task} with " + ", ".join(f"{k} = {v}" for k, v in found.items())
        for cell in cells
        for found, _ in runs.varied(cell.task, cell.method)
    }
    lines += [f"Left out for other settings: {words}." for words in sorted(varied)]
    lines += [
        f"Left out: {record.directory.name}: "
        + (record.problem or f"{record.method} on {record.env} is not of the paper") + "."
        for record in runs.left_out
    ]  # fmt: skip
    return lines


def steps_words(steps: int) -> str:
    """A number of steps in short.

    >>> steps_words(1_000_000), steps_words(2_500_000), steps_words(20_480)
    ('1M', '2.5M', '20,480')
    """
    millions = steps / 1e6
    return f"{millions:g}M" if steps >= 100_000 and round(millions, 2) == millions else f"{steps:,}"


def interval_words(interval: Interval, digits: int = 2) -> str:
    """An estimate with its ends.

    >>> interval_words(Interval(1.0, 0.5, 1.5)), interval_words(Interval(1.0, math.nan, math.nan))
    ('1.00 [0.50, 1.50]', '1.00 [?]')
    """
    if math.isnan(interval.low):
        return f"{interval.estimate:.{digits}f} [?]"
    numbers = [f"{number + 0.0:.{digits}f}" for number in interval]
    return f"{numbers[0]} [{numbers[1]}, {numbers[2]}]"


def _ours(cell: Cell) -> str:
    if not cell.scores:
        return "missing"
    bracket = paper_bracket(cell.finals)
    shown = "?" if math.isnan(bracket) else f"{bracket:.2f}"
    return f"{cell.finals.mean():.2f} ({shown})"


def _seeds(cell: Cell) -> str:
    words = [str(len(cell.scores))]
    words += [f"{count} {state}" for state, count in sorted(cell.states.items())]
    return ", ".join(words)


def _solved(cell: Cell) -> str:
    if cell.task not in SUCCESS or not cell.scores:
        return "-"
    n = len(cell.scores)
    share = wilson_interval(cell.solved, n)
    return f"{cell.solved} of {n} [{share.low:.2f}, {share.high:.2f}]"
