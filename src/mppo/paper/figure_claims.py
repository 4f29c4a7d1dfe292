"""What the paper concludes from figures 2, 5 and 6, with the numbers behind ours and verdicts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from mppo.paper import words
from mppo.paper.artefacts import ALPHAS, MAZE_METHODS, PATHS
from mppo.paper.cells import Cell, Changes, Runs
from mppo.paper.printed import BEST_ALPHA, BEST_PATHS, METRICS, Claim
from mppo.paper.verdicts import WORST_FIRST, Verdict, judge_order
from mppo.report.document import Document, Section
from mppo.report.style import DISPLAY


class FigureLine(NamedTuple):
    """One line of a figure: a method, and what is changed of it."""

    label: str
    method: str
    changes: Changes


class Conclusions(NamedTuple):
    """A figure: its task, its lines, and what the paper says of them."""

    title: str
    task: str
    lines: tuple[FigureLine, ...]
    claims: tuple[Claim, ...]


def _maze() -> Conclusions:
    lines = tuple(FigureLine(DISPLAY[name], name, {}) for name in MAZE_METHODS)
    trpo, multi, mp = (line.label for line in lines)
    claims = (
        Claim(f"{mp} reaches the goal where {trpo} can fail (section 3.1)", mp, (trpo,)),
        Claim(f"{mp} reaches the goal, {multi} not consistently (section 3.1)", mp, (multi,)),
        Claim(f"{mp} learns faster than both (figure 2b)", mp, (trpo, multi), "area"),
        Claim(f"{multi} explores more than {trpo} (section 3.1)", multi, (trpo,)),
    )
    return Conclusions("Maze", "Maze", lines, claims)


def _paths() -> Conclusions:
    lines, claims = [], []
    for base, best in BEST_PATHS.items():
        upper, name = base.upper(), f"MP-{base.upper()}"
        labels = {k: f"{name}, K = {k}" for k in PATHS}
        lines.append(FigureLine(upper, base, {}))
        for k, label in labels.items():
            lines.append(FigureLine(label, f"mp-{base}", {} if k == best else {"paths": k}))
        others = tuple(label for k, label in labels.items() if k != best)
        claims.append(Claim(f"K = {best} is best for {name} (section 4.3)", labels[best], others))
        for k, label in labels.items():
            sentence = f"every K outperforms {upper} (section 4.3): K = {k}"
            claims.append(Claim(sentence, label, (upper,)))
    return Conclusions("varying K", "SparseDoublePendulum", tuple(lines), tuple(claims))


def _alpha() -> Conclusions:
    labels = {alpha: f"MP-TRPO, alpha = {alpha:g}" for alpha in ALPHAS}
    lines = tuple(
        FigureLine(label, "mp-trpo", {} if alpha == BEST_ALPHA else {"picking.alpha": alpha})
        for alpha, label in labels.items()
    )
    best = labels.pop(BEST_ALPHA)
    sentence = f"alpha = {BEST_ALPHA:g} is best (section 4.3)"
    claim = Claim(sentence, best, tuple(labels.values()))
    return Conclusions("varying alpha", "SparseDoublePendulum", lines, (claim,))


CONCLUSIONS: dict[str, Callable[[], Conclusions]] = {
    "figure-2": _maze,
    "figure-5": _paths,
    "figure-6": _alpha,
}


def document(identifier: str, root: Path) -> Document:
    """The page of one figure from the runs below a directory."""
    conclusions, runs = CONCLUSIONS[identifier](), Runs(root)
    cells = cells_of(conclusions, runs)
    command = f"mppo paper run {identifier} --out {root.as_posix()}"
    sections = [
        _numbers(conclusions.task, cells),
        _claims(conclusions.claims, cells),
        Section("The runs", words.run_notes(runs, cells.values())[:1], commands=[command]),
    ]
    return Document(f"{identifier}, {conclusions.title}: numbers and claims", sections)


def cells_of(conclusions: Conclusions, runs: Runs) -> dict[str, Cell]:
    """The runs of every line of a figure, by its label."""
    cells: dict[str, Cell] = {}
    for label, method, changes in conclusions.lines:
        budget = runs.budget(conclusions.task, (method,))
        cells[label] = runs.cell(conclusions.task, method, budget, changes)
    return cells


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


def _claims(claims: tuple[Claim, ...], cells: dict[str, Cell]) -> Section:
    rows = []
    for claim in claims:
        chances, verdicts = [], []
        for other in claim.worse:
            pair = ([cells[name].scores(claim.metric)] for name in (claim.better, other))
            chance, verdict = judge_order(*pair)
            several = f"{other}: " if len(claim.worse) > 1 else ""
            chances.append(several + words.interval(chance))
            verdicts.append(verdict)
        rows.append(
            {
                "claim": claim.words,
                "metric": METRICS[claim.metric],
                "P [95 %]": "\n".join(chances),
                "verdict": str(together(verdicts)),
            }
        )
    text = (
        "P: the probability that a run of the one beats a run of the other, ties counted half, "
        f"with its 95 % bootstrap interval ({words.BOOTSTRAP}). Reproduced: "
        "the lower end is above 1/2; contradicted: the upper end is below. A claim over "
        "several others holds if it holds against each."
    )
    return Section.of_rows("Claims", [text], rows)


def together(verdicts: list[Verdict]) -> Verdict:
    """One verdict on a claim that has to hold several times: the worst of them."""
    if len(verdicts) == 1:
        return verdicts[0]
    worst = min(verdicts, key=lambda verdict: WORST_FIRST.index(verdict.word)).word
    held = sum(verdict.word == "reproduced" for verdict in verdicts)
    count = f"{held} of {len(verdicts)} comparisons hold"
    return Verdict(worst, min(verdict.seeds for verdict in verdicts), count)
