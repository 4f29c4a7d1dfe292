"""`mppo paper table claims`: every claim of the paper, where we can decide it, how it fell out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from mppo.paper import words
from mppo.paper.cells import Reproduction, Runs
from mppo.paper.figure_claims import CONCLUSIONS, cells_of, together
from mppo.paper.orders import judge_claim
from mppo.paper.printed import CLAIMS, METRICS, TABLES, Claim, Metric
from mppo.paper.verdicts import Verdict, judge_order
from mppo.report.document import Document, Section
from mppo.report.style import DISPLAY
from mppo.statistics.comparisons import fewest_seeds
from mppo.statistics.intervals import Interval

TITLE = "The paper's tables and figures, ours"
"""Of the page that opens with this table."""


class Comparison(NamedTuple):
    """One method against one other, over all tasks on which that can be decided."""

    against: str
    chance: Interval | None
    verdict: Verdict


class Finding(NamedTuple):
    """A claim, and what our runs say of it."""

    claim: str
    metric: Metric
    tasks: int
    """On which the paper makes the claim."""
    on_tasks: tuple[Verdict, ...]
    """Of every task on which it can be decided."""
    comparisons: tuple[Comparison, ...]

    @property
    def verdict(self) -> Verdict:
        """On the claim as a whole: it has to hold in every comparison."""
        return together([comparison.verdict for comparison in self.comparisons])


def document(root: Path) -> Document:
    """The table, from the runs below a directory."""
    runs = Runs(root)
    findings = [*_of_figures(runs), *_of_tables(runs, root)]
    text = [
        "Each claim of the paper that is an order of methods or settings, and what our runs say. "
        f"Decided on: the tasks on which all methods of the claim have at least {fewest_seeds()} "
        "seeds, of those on which the paper makes it. On each of these it holds, fails, or is "
        "open at this number of seeds. P: the probability that a run of the first method beats a "
        "run of the other, averaged over the tasks on which both have enough seeds (a tie in the "
        "paper is no order and left out), ties of runs counted half, with its 95 % bootstrap "
        f"interval ({words.BOOTSTRAP}). Reproduced: the lower end is above 1/2, against every "
        "other method named; contradicted: an upper end is below (decision 0030).",
    ]
    command = f"mppo paper table claims {root.as_posix()}"
    section = Section.of_rows("The claims in one minute", text, [_row(one) for one in findings])
    return Document(TITLE, [replace(section, commands=[command])])


def _row(finding: Finding) -> dict[str, str]:
    count = Counter(verdict.word for verdict in finding.on_tasks)
    several = len(finding.comparisons) > 1
    chances = [
        f"{one.against}: {words.interval(one.chance)}" if several else words.interval(one.chance)
        for one in finding.comparisons
    ]
    return {
        "claim": finding.claim,
        "judged by": METRICS[finding.metric],
        "decided on": f"{len(finding.on_tasks)} of {finding.tasks}",
        "holds on": str(count["reproduced"]),
        "fails on": str(count["contradicted"]),
        "open on": str(count["not resolved"]),
        "P [95 %]": "\n".join(chances),
        "verdict": str(finding.verdict),
    }


def _of_tables(runs: Runs, root: Path) -> Iterable[Finding]:
    for identifier, claims in CLAIMS.items():
        table = Reproduction(TABLES[identifier], runs, root)
        for claim in claims:
            yield _over_tasks(table, claim)


def _over_tasks(table: Reproduction, claim: Claim) -> Finding:
    judged = {worse: judge_claim(table, claim, worse) for worse in claim.worse}
    comparisons = [
        Comparison(DISPLAY[name], one.chance, one.verdict) for name, one in judged.items()
    ]
    tasks = [task for task in table.printed.rows if any(task in j.claimed for j in judged.values())]
    on_tasks = []
    for task in tasks:
        others = [name for name, one in judged.items() if task in one.claimed]
        if all(task in judged[name].tasks for name in others):
            ours, *theirs = (
                [table.cells[task, name].scores(claim.metric)] for name in (claim.better, *others)
            )
            pairs = [judge_order(ours, scores)[1] for scores in theirs]
            on_tasks.append(together(pairs))
    said = f"{claim.words} ({claim.source})"
    return Finding(said, claim.metric, len(tasks), tuple(on_tasks), tuple(comparisons))


def _of_figures(runs: Runs) -> Iterable[Finding]:
    """Claims from figures 2, 5 and 6; those that differ in a setting alone are one claim."""
    for make in CONCLUSIONS.values():
        conclusions = make()
        cells = cells_of(conclusions, runs)
        grouped: dict[tuple[str, Metric], list[Claim]] = {}
        for claim in conclusions.claims:
            grouped.setdefault((claim.words.partition(":")[0], claim.metric), []).append(claim)
        for (said, metric), claims in grouped.items():
            comparisons = []
            for claim in claims:
                for worse in claim.worse:
                    pair = ([cells[name].scores(metric)] for name in (claim.better, worse))
                    against = worse if len(claims) == 1 else claim.better
                    comparisons.append(Comparison(against, *judge_order(*pair)))
            decided = all(one.verdict.seeds >= fewest_seeds() for one in comparisons)
            on_task = (together([one.verdict for one in comparisons]),) if decided else ()
            where = f"{said}, {conclusions.task}"
            yield Finding(where, metric, 1, on_task, tuple(comparisons))
