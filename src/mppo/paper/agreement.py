"""How far the order of methods under each reading of an open point is the paper's (decision 0042).

A reading is what a grid changes: fields of methods, arguments of an environment. On a task the
methods of table 1 form pairs, and the paper says which of a pair is better; the agreement of a
reading is how often our runs say the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from mppo.algorithm.methods import PAPER_METHODS
from mppo.experiments.collection import Record
from mppo.paper.cells import TASK_NAME, Cell, Changes, changes, read_cell
from mppo.paper.printed import TABLES
from mppo.report.document import Section
from mppo.statistics.aggregates import beats

MAZE = ("mp-trpo", "multi-trpo", "trpo")
"""Section 3.1 and figure 2: what reaches the goal of the Maze, best first."""
Reading = frozenset[tuple[str, str]]
"""Fields that are changed, with their values as text."""


class Pair(NamedTuple):
    """Two methods and the share of their pairs of runs in the paper's order, ties half."""

    better: str
    worse: str
    chance: float


def section(records: Sequence[Record]) -> Section | None:
    """One row for each reading of each task; None where no pair of methods can be compared.

    None either for a grid with methods of our own: what it changes is no reading of the paper.
    """
    rows: list[dict[str, str]] = []
    usable = [record for record in records if not record.damaged and changes(record) is not None]
    if not {record.method for record in usable} <= set(PAPER_METHODS):
        return None
    for task, steps in sorted({(TASK_NAME.get(r.env, r.env), r.steps) for r in usable}):
        found = _by_reading(
            r for r in usable if (TASK_NAME.get(r.env, r.env), r.steps) == (task, steps)
        )
        for reading in sorted(found, key=lambda reading: (len(reading), sorted(reading))):
            cells = {m: _cell(task, m, steps, reading, found) for m in _methods(found)}
            pairs = compared(task, {m: cell for m, cell in cells.items() if cell and cell.seeds})
            if pairs:
                rows.append(_row(task, steps, reading, pairs))
    text = (
        "Every two methods whose order the paper prints (equal means are none): the share of all "
        "pairs of one run each that are in that order, by final return, ties counted half. A "
        "method that a reading does not change is taken as it is without that change. Agrees: all "
        "pairs above 1/2."
    )
    return Section.of_rows("The paper's order under each reading", [text], rows) if rows else None


def compared(task: str, cells: dict[str, Cell]) -> list[Pair]:
    """The pairs of methods that the paper puts in order on a task."""
    pairs = []
    for one, other in combinations(sorted(cells), 2):
        order = printed_order(task, one, other)
        if order is not None:
            wins = beats(cells[order[0]].finals, cells[order[1]].finals)
            pairs.append(Pair(*order, float(np.mean(wins))))
    return pairs


def printed_order(task: str, one: str, other: str) -> tuple[str, str] | None:
    """The better and the worse of two methods, by the paper.

    >>> printed_order("Swimmer", "trpo", "mp-trpo")
    ('mp-trpo', 'trpo')
    >>> printed_order("SparseDoublePendulum", "trpo", "mp-trpo")
    """
    if task == "Maze":
        known = one in MAZE and other in MAZE
        return (min(one, other, key=MAZE.index), max(one, other, key=MAZE.index)) if known else None
    for table in TABLES.values():
        if task in table.rows and {one, other} <= set(table.methods):
            first, second = (table.value(task, method).mean for method in (one, other))
            if first != second:
                return (one, other) if first > second else (other, one)
    return None


def _by_reading(records: Iterable[Record]) -> dict[Reading, dict[str, list[Record]]]:
    found: dict[Reading, dict[str, list[Record]]] = {}
    for record in records:
        reading = _reading(changes(record) or {})
        found.setdefault(reading, {}).setdefault(record.method, []).append(record)
    return found


def _reading(changed: Changes) -> Reading:
    words = lambda value: " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return frozenset((name, words(value)) for name, value in changed.items())


def _methods(found: dict[Reading, dict[str, list[Record]]]) -> set[str]:
    return {method for methods in found.values() for method in methods}


def _cell(
    task: str,
    method: str,
    steps: int,
    reading: Reading,
    found: dict[Reading, dict[str, list[Record]]],
) -> Cell | None:
    """Runs of a method under the largest part of a reading that it was run with.

    The environment is never another one.
    """
    where = {pair for pair in reading if pair[0].startswith("env.")}
    fitting = [
        part
        for part, methods in found.items()
        if method in methods
        and part <= reading
        and {pair for pair in part if pair[0].startswith("env.")} == where
    ]
    if not fitting:
        return None
    return read_cell(task, method, steps, found[max(fitting, key=len)][method])


def _row(task: str, steps: int, reading: Reading, pairs: list[Pair]) -> dict[str, str]:
    agreeing = sum(pair.chance > 0.5 for pair in pairs)
    return {
        "task": task,
        "steps": f"{steps:,}",
        "reading": " ".join(f"{name}={value}" for name, value in sorted(reading)) or "as it is",
        "pairs in the paper's order": f"{agreeing} of {len(pairs)}",
        "mean share": f"{np.mean([pair.chance for pair in pairs]):.2f}",
        "agrees": "yes" if agreeing == len(pairs) else "no",
        "pairs": ", ".join(f"{p.better} > {p.worse}: {p.chance:.2f}" for p in pairs),
    }
