"""What the paper concludes from figures 2, 5 and 6, with the numbers behind ours and verdicts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

from mppo.paper.artefacts import ALPHAS, PATHS
from mppo.paper.cells import Cell, Runs
from mppo.paper.printed import BEST_ALPHA, BEST_PATHS
from mppo.paper.verdicts import Verdict, of_order
from mppo.paper.words import interval_words, mean_words, run_notes, solved_words, steps_words
from mppo.report.document import Document, Section
from mppo.report.style import DISPLAY
from mppo.statistics.intervals import RESAMPLES, SEED

Metric = Literal["final", "area"]
METRICS: dict[Metric, str] = {"final": "final return", "area": "mean over the run"}


class Kind(NamedTuple):
    """One line of a figure: a method, and what is changed of it."""

    label: str
    method: str
    changes: dict[str, Any]


class Claim(NamedTuple):
    """Something better than several others, in the paper's eyes."""

    words: str
    better: str
    worse: tuple[str, ...]
    metric: Metric = "final"


class Conclusions(NamedTuple):
    """A figure: its task, its lines, and what the paper says of them."""

    title: str
    task: str
    kinds: tuple[Kind, ...]
    claims: tuple[Claim, ...]


def _maze() -> Conclusions:
    names = ("trpo", "multi-trpo", "mp-trpo")
    kinds = tuple(Kind(DISPLAY[name], name, {}) for name in names)
    trpo, multi, mp = (kind.label for kind in kinds)
    claims = (
        Claim(f"{mp} reaches the goal where {trpo} can fail (section 3.1)", mp, (trpo,)),
        Claim(f"{mp} reaches the goal, {multi} not consistently (section 3.1)", mp, (multi,)),
        Claim(f"{mp} learns faster than both (figure 2b)", mp, (trpo, multi), "area"),
        Claim(f"{multi} explores more than {trpo} (section 3.1)", multi, (trpo,)),
    )
    return Conclusions("Maze", "Maze", kinds, claims)


def _paths() -> Conclusions:
    kinds, claims = [], []
    for base in ("trpo", "ppo"):
        best, name, upper = BEST_PATHS[base], f"MP-{base.upper()}", base.upper()
        label = lambda k, name=name: f"{name}, K = {k}"
        kinds.append(Kind(upper, base, {}))
        kinds += [Kind(label(k), f"mp-{base}", {} if k == best else {"paths": k}) for k in PATHS]
        others = tuple(label(k) for k in PATHS if k != best)
        claims.append(Claim(f"K = {best} is best for {name} (section 4.3)", label(best), others))
        claims += [
            Claim(f"every K outperforms {upper} (section 4.3): K = {k}", label(k), (upper,))
            for k in PATHS
        ]
    return Conclusions("varying K", "SparseDoublePendulum", tuple(kinds), tuple(claims))


def _alpha() -> Conclusions:
    label = "MP-TRPO, alpha = {:g}".format
    kinds = tuple(
        Kind(label(alpha), "mp-trpo", {} if alpha == BEST_ALPHA else {"picking.alpha": alpha})
        for alpha in ALPHAS
    )
    others = tuple(label(alpha) for alpha in ALPHAS if alpha != BEST_ALPHA)
    claim = Claim(f"alpha = {BEST_ALPHA:g} is best (section 4.3)", label(BEST_ALPHA), others)
    return Conclusions("varying alpha", "SparseDoublePendulum", kinds, (claim,))


CONCLUSIONS: dict[str, Callable[[], Conclusions]] = {
    "figure-2": _maze,
    "figure-5": _paths,
    "figure-6": _alpha,
}


def document(identifier: str, root: Path) -> Document:
    """The page of one figure from the runs below a directory."""
    found, runs = CONCLUSIONS[identifier](), Runs(root)
    cells: dict[str, Cell] = {}
    for kind in found.kinds:
        budget = runs.budget(found.task, (kind.method,))
        cells[kind.label] = runs.cell(found.task, kind.method, budget, kind.changes)
    command = f"mppo paper run {identifier} --out {root.as_posix()}"
    sections = [
        _numbers(found, cells),
        _claims(found, cells),
        Section("The runs", run_notes(runs, cells.values())[:1], commands=[command]),
    ]
    return Document(f"{identifier}, {found.title}: numbers and claims", sections)


def _numbers(found: Conclusions, cells: dict[str, Cell]) -> Section:
    rows = []
    for label, cell in cells.items():
        n = len(cell.scores)
        if not n:
            rows.append([label, "0", "-", "-", "-", "-"])
            continue
        seeds = " ".join(f"{final:.2f}" for final in cell.finals)
        rows.append(
            [
                label,
                f"{n} at {steps_words(cell.budget)}",
                mean_words(cell.finals),
                mean_words(cell.areas),
                solved_words(cell),
                seeds,
            ]
        )
    return Section(
        found.task,
        [
            "Final: mean return of the last tenth of the evaluations, with the 95 % t interval "
            "over seeds. Area: mean of all evaluations. Solved: seeds whose final is at least "
            "0.9, with Wilson's 95 % interval.",
        ],
        ["method", "seeds", "final [95 %]", "area [95 %]", "solved", "final of each seed"],
        rows,
    )


def _claims(found: Conclusions, cells: dict[str, Cell]) -> Section:
    rows = []
    for claim in found.claims:
        chances, verdicts = [], []
        for other in claim.worse:
            pair = [[cells[name].metric(claim.metric)] for name in (claim.better, other)]
            chance, verdict = of_order(*pair)
            words = interval_words(chance) if chance else "-"
            chances.append(f"{other}: {words}" if len(claim.worse) > 1 else words)
            verdicts.append(verdict)
        rows.append(
            [claim.words, METRICS[claim.metric], "\n".join(chances), str(together(verdicts))]
        )
    return Section(
        "Claims",
        [
            "P: the probability that a run of the one beats a run of the other, ties counted half, "
            f"with its 95 % bootstrap interval ({RESAMPLES:,} resamples, seed {SEED}). Reproduced: "
            "the lower end is above 1/2; contradicted: the upper end is below. A claim over "
            "several others holds if it holds against each.",
        ],
        ["claim", "metric", "P [95 %]", "verdict"],
        rows,
    )


def together(verdicts: list[Verdict]) -> Verdict:
    """One verdict on a claim that has to hold several times."""
    seeds = min(verdict.seeds for verdict in verdicts)
    words = [verdict.word for verdict in verdicts]
    if len(verdicts) == 1:
        return verdicts[0]
    count = f"{words.count('reproduced')} of {len(words)} comparisons hold"
    if "missing" in words:
        return Verdict("missing", seeds, count)
    if "contradicted" in words:
        return Verdict("contradicted", seeds, count)
    if "not resolved" in words:
        return Verdict("not resolved", seeds, count)
    return Verdict("reproduced", seeds, count)
