"""One cell of a table from run directories: which runs belong to it, and what they scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mppo.algorithm.methods import METHODS
from mppo.envs.tasks import TASKS, Task
from mppo.errors import CheckpointError
from mppo.experiments.collection import Record, collect
from mppo.files import settings
from mppo.statistics.scores import SOLVED, final_score

TASK = {task.name: task for task in TASKS}
SUCCESS = {"Maze", "SparseDoublePendulum"}
"""Tasks whose return is 1 for success: a seed counts as solved from a mean of 0.9."""


class Score(NamedTuple):
    """What one run is judged by; fixed before any result was seen."""

    seed: int
    final: float
    """Mean return of the last tenth of the evaluations."""
    area: float
    """Mean return of all evaluations: the area under the curve over its length."""


class Curve(NamedTuple):
    """Evaluations of one run up to a budget."""

    seed: int
    steps: np.ndarray
    returns: np.ndarray


def default_budget(task: Task, method: str) -> int:
    """Steps our runs of that method spend on a task."""
    return task.ppo_steps if method.endswith("ppo") or "-ppo-" in method else task.trpo_steps


@cache
def _standard(method: str) -> dict[str, Any] | None:
    return settings.to_json(METHODS[method]) if method in METHODS else None


def differences(resolved: dict[str, Any], base: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """The fields in which resolved settings differ from others, by dotted name.

    A field that an older version did not have yet is at its default.

    >>> usual = {"paths": 8, "picking": {"alpha": 0.1}}
    >>> differences({"paths": 4, "picking": {"alpha": 0.0}}, usual)
    {'paths': 4, 'picking.alpha': 0.0}
    """
    found: dict[str, Any] = {}
    for name, new in sorted(resolved.items()):
        old = base.get(name)
        if new == old:
            continue
        if isinstance(new, dict) and isinstance(old, dict):
            found |= differences(new, old, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = new
    return found


def changes(record: Record) -> dict[str, Any] | None:
    """What a run changes of the method it is named after; None for a name of somebody else's."""
    base = _standard(record.method)
    if base is None:
        return None
    where = {f"env.{name}": value for name, value in record.env_kwargs.items()}
    return differences(record.settings, base) | where


@dataclass(frozen=True)
class Cell:
    """All runs of one method on one task, read at one budget."""

    task: str
    method: str
    budget: int
    scores: tuple[Score, ...]
    curves: tuple[Curve, ...]
    states: Counter = field(default_factory=Counter)
    """How many runs came to the budget, and how the others stand."""

    @property
    def finals(self) -> np.ndarray:
        """The final score of every seed."""
        return np.array([score.final for score in self.scores])

    @property
    def areas(self) -> np.ndarray:
        """The area score of every seed."""
        return np.array([score.area for score in self.scores])

    def stacked(self) -> tuple[np.ndarray, np.ndarray]:
        """Steps and returns [seeds, points]; seeds that differ in their steps are joined."""
        steps = self.curves[0].steps
        values = [np.interp(steps, curve.steps, curve.returns) for curve in self.curves]
        return steps, np.array(values)

    def metric(self, name: str) -> np.ndarray:
        """Scores by the name of the metric."""
        return self.finals if name == "final" else self.areas

    @property
    def solved(self) -> int:
        """Seeds that solved a task with returns of 0 or 1."""
        return int((self.finals >= SOLVED).sum())


def curve(record: Record, budget: int) -> Curve | None:
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
    steps = np.array([row["steps"] for row in rows], float)
    return Curve(record.seed, steps, np.array([row["mean_return"] for row in rows], float))


def score(found: Curve) -> Score:
    """The two numbers a run is judged by."""
    return Score(found.seed, float(final_score(found.returns)), float(found.returns.mean()))


class Runs:
    """The runs below a directory, by task and method."""

    records: list[Record]

    def __init__(self, root: Path):
        self.records = collect(root)
        names = {task.id: task.name for task in TASKS}
        self._by: dict[tuple[str, str], list[tuple[dict[str, Any], Record]]] = {}
        self.left_out: list[Record] = []
        for record in self.records:
            changed = changes(record)
            if record.broken or changed is None or record.env not in names:
                self.left_out.append(record)
            else:
                self._by.setdefault((names[record.env], record.method), []).append(
                    (changed, record)
                )

    def records_of(self, task: str, method: str, changed: dict[str, Any]) -> list[Record]:
        """Runs of a method with exactly these changes."""
        return [record for found, record in self._by.get((task, method), []) if found == changed]

    def varied(self, task: str, method: str) -> list[tuple[dict[str, Any], Record]]:
        """Runs of a method that change something."""
        return [(found, record) for found, record in self._by.get((task, method), []) if found]

    def budget(self, task: str, methods: Iterable[str]) -> int:
        """The budget at which most seeds of these methods can be read; the largest of several."""
        methods = list(methods)
        records = [record for name in methods for record in self.records_of(task, name, {})]
        default = default_budget(TASK[task], methods[0])
        candidates = {min(record.steps, default) for record in records} or {default}
        return max(candidates, key=lambda steps: (self._readable(task, methods, steps), steps))

    def _readable(self, task: str, methods: list[str], steps: int) -> int:
        return sum(len(self.cell(task, name, steps).scores) for name in methods)

    def cell(
        self, task: str, method: str, budget: int, changed: dict[str, Any] | None = None
    ) -> Cell:
        """One cell of the table."""
        return cell(task, method, budget, self.records_of(task, method, changed or {}))


def cell(task: str, method: str, budget: int, records: Iterable[Record]) -> Cell:
    """What these runs say at a budget; a seed that was run twice counts once."""
    curves: dict[int, Curve] = {}
    others: dict[int, str] = {}
    for record in records:
        try:
            found = curve(record, budget)
        except (CheckpointError, KeyError, TypeError, ValueError):
            others.setdefault(record.seed, "unreadable")
            continue
        if found is not None:
            curves.setdefault(record.seed, found)
        elif record.steps >= budget:
            # finished, yet not to be read: run without evaluations, stopped early, or a torn file
            state = "not evaluated to its end" if record.finished else record.state
            others.setdefault(record.seed, state)
    states = Counter(state for seed, state in others.items() if seed not in curves)
    ordered = tuple(curves[seed] for seed in sorted(curves))
    return Cell(task, method, budget, tuple(map(score, ordered)), ordered, states)
