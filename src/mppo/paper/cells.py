"""Our runs in the cells of the paper's tables: which belong to a cell, and what they scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mppo.algorithm.methods import METHODS
from mppo.envs.tasks import TASKS
from mppo.errors import CheckpointError
from mppo.experiments.collection import Record, collect
from mppo.experiments.spec import frozen
from mppo.files import settings
from mppo.files.changes import MISSING, compare
from mppo.paper.artefacts import default_steps
from mppo.paper.printed import Metric, PrintedTable
from mppo.paper.readings import Readings
from mppo.statistics.scores import SOLVED, final_score

ENV_ID = {task.name: task.id for task in TASKS}
TASK_NAME = {task.id: task.name for task in TASKS}
SUCCESS = {"Maze", "SparseDoublePendulum"}
"""Tasks whose return is 1 for success, so that a seed can solve them."""
GOALS = dict.fromkeys(SUCCESS, SOLVED) | {"SparseHopper": 850.0}
"""Returns from which on an evaluation counts as success; a robot that falls late has less."""
Changes = dict[str, Any]
"""Fields of a method, by dotted name, with values of any kind that JSON has."""


class Curve(NamedTuple):
    """Evaluations of one run up to a budget."""

    seed: int
    steps: np.ndarray
    returns: np.ndarray


@dataclass(frozen=True)
class Cell:
    """All runs of one method on one task, read at one budget."""

    task: str
    method: str
    budget: int
    curves: tuple[Curve, ...]
    """Of every seed that came to the budget."""
    states: Counter[str] = field(default_factory=Counter)
    """How the runs of the other seeds stand."""

    @property
    def seeds(self) -> int:
        """How many seeds came to the budget."""
        return len(self.curves)

    @property
    def finals(self) -> np.ndarray:
        """The mean of the last tenth of the evaluations, of every seed."""
        return np.array([final_score(curve.returns) for curve in self.curves])

    @property
    def areas(self) -> np.ndarray:
        """The mean of all evaluations of every seed: the area under the curve over its length."""
        return np.array([curve.returns.mean() for curve in self.curves])

    def scores(self, metric: Metric) -> np.ndarray:
        """The score of every seed."""
        return self.finals if metric == "final" else self.areas

    @property
    def solved(self) -> int:
        """Seeds that solved a task with returns of 0 or 1."""
        return int((self.finals >= SOLVED).sum())

    def first_successes(self, goal: float) -> list[float]:
        """For every seed the steps before its first evaluation with that return; inf for none."""
        found = [curve.steps[curve.returns >= goal] for curve in self.curves]
        return [float(steps[0]) if len(steps) else inf for steps in found]

    def stacked(self) -> tuple[np.ndarray, np.ndarray]:
        """Steps and returns [seeds, points]; seeds that differ in their steps are joined."""
        steps = self.curves[0].steps
        values = [np.interp(steps, curve.steps, curve.returns) for curve in self.curves]
        return steps, np.array(values)


@cache
def _standard(method: str) -> dict[str, Any] | None:
    return settings.to_json(METHODS[method]) if method in METHODS else None


def changes(record: Record) -> Changes | None:
    """What a run changes of the method it is named after; None for a name of somebody else's."""
    base = _standard(record.method)
    if base is None:
        return None
    known = settings.completed(record.settings)  # of a version before some field came
    return _told(base, known, record.env_kwargs)


def _told(base: dict[str, Any], known: dict[str, Any], arguments: dict[str, Any]) -> Changes:
    told: Changes = {}
    for name, change in sorted(compare(base, known, afresh=False).items()):
        told |= _by_place(name, change.before, change.value)
    return told | {f"env.{name}": value for name, value in arguments.items()}


@cache
def _usual(readings: Readings, env: str, method: str) -> Changes:
    """What the runs of a table change under these readings, as `changes` tells it."""
    changed = settings.overridden(METHODS[method], frozen(readings.overrides(method)))
    base = _standard(method) or {}
    return _told(base, settings.to_json(changed), readings.arguments(env))


def _beside(usual: Changes, changed: Changes) -> Changes:
    """What a run changes beside the usual.

    >>> _beside({"gain": "literal"}, {"gain": "literal", "paths": 4}), _beside({"paths": 2}, {})
    ({'paths': 4}, {'paths': 'not changed'})
    """
    differs = lambda name: usual.get(name, MISSING) != changed.get(name, MISSING)
    return {n: changed.get(n, "not changed") for n in usual | changed if differs(n)}


def _by_place(name: str, old: Any, new: Any) -> dict[str, Any]:
    """A change; of a list that keeps some of its items, those that differ, by their places."""
    both = isinstance(old, list | tuple) and isinstance(new, list | tuple)
    pairs = list(zip(old, new, strict=True)) if both and len(old) == len(new) else []
    if not any(a == b for a, b in pairs):
        return {name: new}
    return {f"{name}[{n}]": b for n, (a, b) in enumerate(pairs) if a != b}


def read_curve(record: Record, budget: int) -> Curve | None:
    """Evaluations of a run up to a budget, or None if it has not come that far.

    An evaluation takes place at the first end of an iteration at or after its time, so the one
    that belongs to the budget may lie up to a batch behind it.
    """
    batch = int(record.settings.get("batch_size", 1))
    every = [row for row in record.evaluations() if row["mean_return"] is not None]
    rows = [row for row in every if row["steps"] < budget + batch]
    # the last iteration is always evaluated; a run without that was cut, whatever final.json says
    complete = record.steps >= budget and bool(every) and every[-1]["steps"] >= record.steps
    if not rows or not (complete or rows[-1]["steps"] >= budget):
        return None
    column = lambda name: np.array([row[name] for row in rows], float)
    return Curve(record.seed, column("steps"), column("mean_return"))


def read_cell(task: str, method: str, budget: int, records: Iterable[Record]) -> Cell:
    """What these runs say at a budget; a seed that was run twice counts once."""
    curves: dict[int, Curve] = {}
    states: dict[int, str] = {}
    for record in records:
        try:
            known = read_curve(record, budget)
        except (CheckpointError, KeyError, TypeError, ValueError):
            states.setdefault(record.seed, "unreadable")
            continue
        if known is not None:
            curves.setdefault(record.seed, known)
        elif record.steps >= budget:
            # finished, yet not to be read: run without evaluations, stopped early, or a torn file
            state = "not evaluated to its end" if record.finished else str(record.state)
            states.setdefault(record.seed, state)
    others = Counter(state for seed, state in states.items() if seed not in curves)
    return Cell(task, method, budget, tuple(curves[seed] for seed in sorted(curves)), others)


class Runs:
    """The runs below a directory, by task and method, under the readings of this grid."""

    def __init__(self, root: Path):
        self.records, self.readings = collect(root), Readings.of_grid(root)
        self.left_out: list[Record] = []
        self._by: dict[tuple[str, str], list[tuple[Changes, Record]]] = {}
        for record in self.records:
            changed, task = changes(record), TASK_NAME.get(record.env)
            if record.damaged or changed is None or task is None:
                self.left_out.append(record)
            else:
                usual = _usual(self.readings, record.env, record.method)
                beside = _beside(usual, changed)
                self._by.setdefault((task, record.method), []).append((beside, record))

    def records_of(self, task: str, method: str, changed: Changes | None = None) -> list[Record]:
        """Runs of a method with exactly these changes, or with none."""
        every = self._by.get((task, method), [])
        return [record for theirs, record in every if theirs == (changed or {})]

    def variations(self, task: str, method: str) -> list[Changes]:
        """What the runs of a method change that change something."""
        return [changed for changed, _ in self._by.get((task, method), []) if changed]

    def budget(self, task: str, methods: Iterable[str]) -> int:
        """The budget at which most seeds of these methods can be read; the largest of several."""
        methods = list(methods)
        default = default_steps(ENV_ID[task], methods[0])
        records = [record for name in methods for record in self.records_of(task, name)]
        candidates = {min(record.steps, default) for record in records} or {default}
        readable = lambda steps: sum(self.cell(task, name, steps).seeds for name in methods)
        return max(candidates, key=lambda steps: (readable(steps), steps))

    def cell(self, task: str, method: str, budget: int, changed: Changes | None = None) -> Cell:
        """One cell of a table."""
        return read_cell(task, method, budget, self.records_of(task, method, changed))


@dataclass(frozen=True)
class Reproduction:
    """A printed table and our runs of it."""

    printed: PrintedTable
    runs: Runs
    root: Path

    @cached_property
    def cells(self) -> dict[tuple[str, str], Cell]:
        """The cell of every task and method, at the budget of the task."""
        cells = {}
        for task in self.printed.rows:
            budget = self.runs.budget(task, self.printed.methods)
            for method in self.printed.methods:
                cells[task, method] = self.runs.cell(task, method, budget)
        return cells

    @property
    def ours(self) -> str:
        """The method the table is about."""
        return self.printed.methods[0]

    def tasks_with(self, seeds: int, *methods: str) -> list[str]:
        """The tasks on which each of these methods has so many seeds or more."""
        fewest = lambda task: min(self.cells[task, method].seeds for method in methods)
        return [task for task in self.printed.rows if fewest(task) >= seeds]
