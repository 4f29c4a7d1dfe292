"""What the paper claims, and how that fell out: of figures 2, 5 and 6, and every claim at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from mppo.paper import words
from mppo.paper.artefacts import ALPHAS, MAZE_METHODS, PATHS
from mppo.paper.cells import Cell, Changes, Reproduction, Runs
from mppo.paper.printed import BEST_ALPHA, BEST_PATHS, CLAIMS, METRICS, TABLES, Claim, Metric
from mppo.paper.returns import judge_claim
from mppo.paper.verdicts import WORST_FIRST, Verdict, judge_order
from mppo.report.document import Document, Section
from mppo.report.style import DISPLAY
from mppo.statistics.comparisons import fewest_seeds
from mppo.statistics.intervals import Interval

TITLE = "The paper's tables and figures, ours"
"""Of the page that opens with all claims."""


class Conclusions(NamedTuple):
    """A figure: its task, its lines, and what the paper says of them."""

    title: str
    task: str
    lines: dict[str, tuple[str, Changes]]
    """The method behind each label, and what is changed of it."""
    claims: tuple[Claim, ...]

    def cells(self, runs: Runs) -> dict[str, Cell]:
        """The runs of every line, by its label."""
        return {
            label: runs.cell(self.task, method, runs.budget(self.task, (method,)), changes)
            for label, (method, changes) in self.lines.items()
        }


def _maze() -> Conclusions:
    trpo, multi, mp = (DISPLAY[name] for name in MAZE_METHODS)
    claims = (
        Claim(f"{mp} reaches the goal where {trpo} can fail (section 3.1)", mp, (trpo,)),
        Claim(f"{mp} reaches the goal, {multi} not consistently (section 3.1)", mp, (multi,)),
        Claim(f"{mp} learns faster than both (figure 2b)", mp, (trpo, multi), "area"),
        Claim(f"{multi} explores more than {trpo} (section 3.1)", multi, (trpo,)),
    )
    return Conclusions("Maze", "Maze", {DISPLAY[name]: (name, {}) for name in MAZE_METHODS}, claims)


def _paths() -> Conclusions:
    lines: dict[str, tuple[str, Changes]] = {}
    claims = []
    for base, best in BEST_PATHS.items():
        upper, name = base.upper(), f"MP-{base.upper()}"
        labels = {k: f"{name}, K = {k}" for k in PATHS}
        lines[upper] = (base, {})
        for k, label in labels.items():
            lines[label] = (f"mp-{base}", {} if k == best else {"paths": k})
        others = tuple(label for k, label in labels.items() if k != best)
        claims.append(Claim(f"K = {best} is best for {name} (section 4.3)", labels[best], others))
        for k, label in labels.items():
            sentence = f"every K outperforms {upper} (section 4.3): K = {k}"
            claims.append(Claim(sentence, label, (upper,)))
    return Conclusions("varying K", "SparseDoublePendulum", lines, tuple(claims))


def _alpha() -> Conclusions:
    labels = {alpha: f"MP-TRPO, alpha = {alpha:g}" for alpha in ALPHAS}
    lines: dict[str, tuple[str, Changes]] = {
        label: ("mp-trpo", {} if alpha == BEST_ALPHA else {"picking.alpha": alpha})
        for alpha, label in labels.items()
    }
    sentence = f"alpha = {BEST_ALPHA:g} is best (section 4.3)"
    claim = Claim(sentence, labels.pop(BEST_ALPHA), tuple(labels.values()))
    return Conclusions("varying alpha", "SparseDoublePendulum", lines, (claim,))


CONCLUSIONS = {"figure-2": _maze(), "figure-5": _paths(), "figure-6": _alpha()}


class Compared(NamedTuple):
    """A method or setting against one other, over all tasks on which that can be decided."""

    against: str
    chance: Interval | None
    verdict: Verdict


def of_figure(identifier: str, root: Path) -> Document:
    """The page of one figure from the runs below a directory."""
    conclusions, runs = CONCLUSIONS[identifier], Runs(root)
    cells = conclusions.cells(runs)
    command = f"mppo paper run {identifier} --out {root.as_posix()}"
    sections = [
        _numbers(conclusions.task, cells),
        _judged(conclusions.claims, cells),
        Section("The runs", words.run_notes(runs, cells.values())[:1], commands=[command]),
    ]
    return Document(f"{identifier}, {conclusions.title}: numbers and claims", sections)


def _numbers(task: str, cells: dict[str, Cell]) -> Section:
    rows = [
        {
            "method": label,
            "seeds": f"{cell.seeds} at {words.steps(cell.budget)}" if cell.seeds else "0",
            "final [95 %]": words.mean(cell.finals),
            "area [95 %]": words.mean(cell.areas),
            "solved": words.solved(cell),
            "final of each seed": words.finals(cell),
        }
        for label, cell in cells.items()
    ]
    text = (
        "Final: mean return of the last tenth of the evaluations, with the 95 % t interval "
        "over seeds. Area: mean of all evaluations. Solved: seeds whose final is at least "
        "0.9, with Wilson's 95 % interval."
    )
    return Section.of_rows(task, [text], rows)


def _judged(claims: tuple[Claim, ...], cells: dict[str, Cell]) -> Section:
    said = lambda claim: {"claim": claim.words, "metric": METRICS[claim.metric]}
    rows = [said(claim) | _chances_and_verdict(_compared(claim, cells)) for claim in claims]
    text = (
        "P: the probability that a run of the one beats a run of the other, ties counted half, "
        f"with its 95 % bootstrap interval ({words.BOOTSTRAP}). Reproduced: "
        "the lower end is above 1/2; contradicted: the upper end is below. A claim over "
        "several others holds if it holds against each."
    )
    return Section.of_rows("Claims", [text], rows)


def _compared(claim: Claim, cells: Mapping[str, Cell]) -> list[Compared]:
    """The better method or setting of a claim against each of the others on one task."""
    scores = lambda name: [cells[name].scores(claim.metric)]
    ours = scores(claim.better)
    return [Compared(other, *judge_order(ours, scores(other))) for other in claim.worse]


def _chances_and_verdict(compared: list[Compared]) -> dict[str, str]:
    """The last two columns of a claim, which has to hold in every comparison."""
    named = lambda one: f"{one.against}: " if len(compared) > 1 else ""
    chances = [named(one) + words.interval(one.chance) for one in compared]
    verdict = together([one.verdict for one in compared])
    return {"P [95 %]": "\n".join(chances), "verdict": str(verdict)}


def together(verdicts: Sequence[Verdict]) -> Verdict:
    """One verdict on a claim that has to hold several times: the worst of them."""
    if len(verdicts) == 1:
        return verdicts[0]
    worst = min(verdicts, key=lambda verdict: WORST_FIRST.index(verdict.word)).word
    held = sum(verdict.word == "reproduced" for verdict in verdicts)
    count = f"{held} of {len(verdicts)} comparisons hold"
    return Verdict(worst, min(verdict.seeds for verdict in verdicts), count)


def every_claim(root: Path) -> Document:
    """All claims of the paper in one table, from the runs below a directory."""
    runs = Runs(root)
    rows = [*_of_figures(runs)]
    for identifier, claims in CLAIMS.items():
        table = Reproduction(TABLES[identifier], runs, root)
        rows += [_over_tasks(table, claim) for claim in claims]
    text = (
        "Each claim of the paper that is an order of methods or settings, and what our runs say. "
        f"Decided on: the tasks on which all methods of the claim have at least {fewest_seeds()} "
        "seeds, of those on which the paper makes it. On each of these it holds, fails, or is "
        "open at this number of seeds. P: the probability that a run of the first method beats a "
        "run of the other, averaged over the tasks on which both have enough seeds (a tie in the "
        "paper is no order and left out), ties of runs counted half, with its 95 % bootstrap "
        f"interval ({words.BOOTSTRAP}). Reproduced: the lower end is above 1/2, against every "
        "other method named; contradicted: an upper end is below (decision 0030)."
    )
    command = f"mppo paper table claims {root.as_posix()}"
    section = Section.of_rows("The claims in one minute", [_in_all(rows), text], rows)
    return Document(TITLE, [replace(section, commands=[command])])


def _in_all(rows: Sequence[Mapping[str, str]]) -> str:
    """How many claims fell out which way, in one sentence.

    >>> _in_all([{"verdict": "reproduced"}, {"verdict": "not resolved at 6 seeds"}])
    'Of 2 claims: 1 reproduced, 1 not resolved, 0 contradicted, 0 missing.'
    """
    fell_out = lambda word: sum(row["verdict"].startswith(word) for row in rows)
    count = {word: fell_out(word) for word in reversed(WORST_FIRST)}
    return f"Of {len(rows)} claims: {', '.join(f'{n} {word}' for word, n in count.items())}."


def _row(
    said: str, metric: Metric, tasks: int, on_tasks: list[Verdict], compared: list[Compared]
) -> dict[str, str]:
    """A claim that the paper makes on so many tasks, and the verdict on each that decides it."""
    count = Counter(verdict.word for verdict in on_tasks)
    return {
        "claim": said,
        "judged by": METRICS[metric],
        "decided on": f"{len(on_tasks)} of {tasks}",
        "holds on": str(count["reproduced"]),
        "fails on": str(count["contradicted"]),
        "open on": str(count["not resolved"]),
        **_chances_and_verdict(compared),
    }


def _over_tasks(table: Reproduction, claim: Claim) -> dict[str, str]:
    judged = {worse: judge_claim(table, claim, worse) for worse in claim.worse}
    compared = [Compared(DISPLAY[name], one.chance, one.verdict) for name, one in judged.items()]
    tasks, on_tasks = 0, []
    for task in table.printed.rows:
        others = tuple(name for name, one in judged.items() if task in one.claimed)
        tasks += bool(others)
        if others and all(task in judged[name].tasks for name in others):
            here = {method: table.cells[task, method] for method in (claim.better, *others)}
            pairs = _compared(claim._replace(worse=others), here)
            on_tasks.append(together([pair.verdict for pair in pairs]))
    return _row(f"{claim.words} ({claim.source})", claim.metric, tasks, on_tasks, compared)


def _of_figures(runs: Runs) -> Iterator[dict[str, str]]:
    """Claims from figures 2, 5 and 6; those that differ in a setting alone are one claim."""
    for conclusions in CONCLUSIONS.values():
        cells = conclusions.cells(runs)
        grouped: dict[tuple[str, Metric], list[Claim]] = {}
        for claim in conclusions.claims:
            grouped.setdefault((claim.words.partition(":")[0], claim.metric), []).append(claim)
        for (said, metric), claims in grouped.items():
            compared = [
                one if len(claims) == 1 else one._replace(against=claim.better)
                for claim in claims
                for one in _compared(claim, cells)
            ]
            decided = all(one.verdict.seeds >= fewest_seeds() for one in compared)
            on_task = [together([one.verdict for one in compared])] if decided else []
            yield _row(f"{said}, {conclusions.task}", metric, 1, on_task, compared)
