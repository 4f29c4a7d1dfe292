"""`mppo paper table sweep`: any grid, each setting beside the plainest one on the same task."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from mppo.algorithm.methods import METHODS
from mppo.experiments.collection import Record, collect
from mppo.experiments.grid import Grid
from mppo.paper import agreement, words
from mppo.paper.cells import SUCCESS, TASK_NAME, Cell, changes, read_cell
from mppo.paper.printed import METRICS, Metric
from mppo.paper.verdicts import Verdict, judge_order
from mppo.report.document import Document, Section
from mppo.statistics.comparisons import fewest_seeds

SPARSE = ("Sparse", "Maze")
"""How the names of tasks begin that pay for success alone."""
MOST_PAIRED = 12
"""Settings: above it the table of all pairs is longer than anybody reads."""
WORDS = {"reproduced": "better", "contradicted": "worse"}


class Place(NamedTuple):
    """What is compared with each other: one environment with its arguments, one length."""

    env: str
    arguments: str
    steps: int

    @property
    def heading(self) -> str:
        """For people."""
        task = TASK_NAME.get(self.env, self.env)
        return f"{task}{self.arguments}, {words.steps(self.steps)} steps"


class Setting(NamedTuple):
    """A method and what is changed of it; the order is that of rows, the plainest first."""

    changed: int
    rank: int
    label: str
    method: str


def document(root: Path) -> Document:
    """The page of a grid."""
    records = collect(root)
    places: dict[Place, dict[Setting, list[Record]]] = {}
    for record in records:
        if not record.damaged:
            place = Place(record.env, _listed(record.env_kwargs), record.steps)
            places.setdefault(place, {}).setdefault(setting(record), []).append(record)
    cells: dict[Place, dict[Setting, Cell]] = {}
    sections = []
    for place in sorted(places):
        found, task = sorted(places[place].items()), TASK_NAME.get(place.env, place.env)
        cells[place] = {s: read_cell(task, s.method, place.steps, runs) for s, runs in found}
        first, *others = cells[place].items()
        rows = [_row(*first, None), *(_row(*other, first[1]) for other in others)]
        sections.append(Section.of_rows(place.heading, [], rows))
    sections += over_tasks(cells)
    labels = {request.label.removeprefix("sweep ") for request in Grid(root).requests()}
    name = labels.pop() if len(labels) == 1 else "all runs"
    title = f"{name[:1].upper()}{name[1:]}: each setting beside the first of its task"
    order = agreement.section(records)
    return Document(title, [*sections, *([order] if order else []), _notes(records)])


def setting(record: Record) -> Setting:
    """The row that a run belongs to."""
    changed = changes(record)
    if changed is None:
        return Setting(0, len(METHODS), record.method, record.method)
    own = {name: value for name, value in changed.items() if not name.startswith("env.")}
    rank = list(METHODS).index(record.method)
    return Setting(len(own), rank, record.method + _listed(own), record.method)


def _listed(values: dict[str, Any]) -> str:
    """Fields and values; another component with its fields behind it.

    >>> _listed({"estimator": "window", "estimator.episodes": 40, "paths": 4})
    ' estimator=window(episodes=40) paths=4'
    """
    words = {name: v if isinstance(v, str) else json.dumps(v) for name, v in values.items()}
    for component in sorted(words):
        start = f"{component}."
        own = {k.removeprefix(start): words.pop(k) for k in sorted(words) if k.startswith(start)}
        if own:
            inside = ", ".join(f"{field}={value}" for field, value in own.items())
            words[component] = f"{words[component]}({inside})"
    return "".join(f" {name}={value}" for name, value in sorted(words.items()))


def _row(setting: Setting, runs: Cell, first: Cell | None) -> dict[str, str]:
    against: dict[str, str] = {f"P, {metric} [95 %]": "-" for metric in METRICS}
    verdicts: dict[Metric, Verdict] = {}
    if first is not None:
        for metric in METRICS:
            chance, verdicts[metric] = judge_order([runs.scores(metric)], [first.scores(metric)])
            against[f"P, {metric} [95 %]"] = words.interval(chance)
    return {
        "method": setting.label,
        "seeds": words.seeds(runs),
        "final [95 %]": words.mean(runs.finals),
        "area [95 %]": words.mean(runs.areas),
        **({"solved [95 %]": words.solved(runs)} if runs.task in SUCCESS else {}),
        **against,
        "against the first": compared(verdicts) if verdicts else "-",
        "final of each seed": words.finals(runs),
        **words.first_successes(runs),
    }


def over_tasks(cells: dict[Place, dict[Setting, Cell]]) -> list[Section]:
    """Every two settings over the tasks that both were run on, and over the sparse ones of them."""
    settings = sorted({setting for found in cells.values() for setting in found})
    if len(cells) < 2 or not 2 <= len(settings) <= MOST_PAIRED:
        return []
    sparse = [place for place in cells if TASK_NAME.get(place.env, "").startswith(SPARSE)]
    groups = {"all": list(cells)} | ({"sparse": sparse} if len(sparse) < len(cells) else {})
    rows = [
        row
        for name, places in groups.items()
        for worse, better in combinations(settings, 2)
        if (row := _paired(name, better, worse, [cells[place] for place in places]))
    ]
    text = (
        "P averaged over the tasks on which both have at least "
        f"{fewest_seeds()} seeds, with its 95 % stratified bootstrap interval ({words.BOOTSTRAP})."
    )
    return [Section.of_rows("Over the tasks", [text], rows)] if rows else []


def _paired(
    name: str, better: Setting, worse: Setting, cells: list[dict[Setting, Cell]]
) -> dict[str, str] | None:
    enough = lambda found, setting: setting in found and found[setting].seeds >= fewest_seeds()
    shared = [found for found in cells if enough(found, better) and enough(found, worse)]
    if len(shared) < 2:
        return None
    scores = lambda setting, metric: [found[setting].scores(metric) for found in shared]
    chance = lambda metric: judge_order(scores(better, metric), scores(worse, metric))[0]
    chances = {f"P, {metric} [95 %]": words.interval(chance(metric)) for metric in METRICS}
    which = f"{name}, {len(shared)}"
    return {"tasks": which, "a run of": better.label, "beats one of": worse.label, **chances}


def compared(verdicts: dict[Metric, Verdict]) -> str:
    """The verdicts on final return and area in words.

    >>> compared({"final": Verdict("reproduced", 6), "area": Verdict("not resolved", 6)})
    'final better'
    >>> few = Verdict("not resolved", 3, "needs 4 seeds")
    >>> compared({"final": few, "area": few})
    'not resolved at 3 seeds: needs 4 seeds'
    """
    decided = [f"{metric} {WORDS[v.word]}" for metric, v in verdicts.items() if v.word in WORDS]
    return ", ".join(decided) or str(verdicts["final"])


def _notes(records: list[Record]) -> Section:
    lines = [
        "Final: mean return of the last tenth of a run's evaluations; area: mean of all of them; "
        "both with the 95 % t interval over seeds. P: the probability that a run of this row "
        "beats one of the first row, ties counted half, with its 95 % bootstrap interval "
        f"({words.BOOTSTRAP}). Better: the lower end is above 1/2; worse: the "
        "upper end is below. The first row is the method with the fewest changes. Nothing is "
        "corrected for the number of rows: of twenty without any effect one stands out.",
        f"{len(records)} run directories.",
    ]
    lines += [f"Left out: {r.directory.name}: {r.problem}." for r in records if r.damaged]
    return Section("How to read this", lines)
