"""How far the order of methods under each reading of an open point is the paper's (decision 0042).

A reading is what a grid changes: fields of methods, arguments of an environment. On a task the
methods of table 1 form pairs, and the paper says which of a pair is better; the agreement of a
reading is how often our runs say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from mppo.algorithm.methods import PAPER_METHODS
from mppo.experiments.collection import Record
from mppo.paper.cells import TASK_NAME, Cell, changes, read_cell
from mppo.paper.printed import TABLES
from mppo.report.document import Section
from mppo.statistics.aggregates import beats

MAZE = ("mp-trpo", "multi-trpo", "trpo")
"""Section 3.1 and figure 2: what reaches the goal of the Maze, best first."""
Reading = frozenset[tuple[str, str]]
"""Fields that are changed, with their values as text."""
Pair = tuple[str, str, float]
"""The better and the worse of two methods, and the share of their pairs of runs in that order."""


def section(records: Sequence[Record]) -> Section | None:
    """One row for each reading of each task; None where no pair of methods can be compared.

    None either for a grid with methods of our own: what it changes is no reading of the paper.
    """
    words = lambda value: " ".join(map(str, value)) if isinstance(value, list) else str(value)
    places: dict[tuple[str, int], dict[Reading, dict[str, list[Record]]]] = {}
    for record in records:
        changed = changes(record)
        if record.damaged or changed is None:
            continue
        if record.method not in PAPER_METHODS:
            return None
        place = (TASK_NAME.get(record.env, record.env), record.steps)
        reading = frozenset((name, words(value)) for name, value in changed.items())
        methods = places.setdefault(place, {}).setdefault(reading, {})
        methods.setdefault(record.method, []).append(record)
    rows: list[dict[str, str]] = []
    for (task, steps), found in sorted(places.items()):
        for reading in sorted(found, key=lambda reading: (len(reading), sorted(reading))):
            fitting = _fitting(reading, found)
            cells = {m: read_cell(task, m, steps, runs) for m, runs in fitting.items()}
            pairs = compared(task, {m: cell for m, cell in cells.items() if cell.seeds})
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
            pairs.append((*order, float(np.mean(wins))))
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


def _fitting(
    reading: Reading, found: dict[Reading, dict[str, list[Record]]]
) -> dict[str, list[Record]]:
    """The runs of each method under the largest part of a reading that it was run with.

    The environment is never another one.
    """
    where = lambda part: {pair for pair in part if pair[0].startswith("env.")}
    parts = [part for part in found if part <= reading and where(part) == where(reading)]
    fitting: dict[str, list[Record]] = {}
    for part in sorted(parts, key=len, reverse=True):
        fitting = found[part] | fitting
    return fitting


def _row(task: str, steps: int, reading: Reading, pairs: list[Pair]) -> dict[str, str]:
    shares = [share for _, _, share in pairs]
    agreeing = sum(share > 0.5 for share in shares)
    return {
        "task": task,
        "steps": f"{steps:,}",
        "reading": " ".join(f"{name}={value}" for name, value in sorted(reading)) or "as it is",
        "pairs in the paper's order": f"{agreeing} of {len(pairs)}",
        "mean share": f"{np.mean(shares):.2f}",
        "agrees": "yes" if agreeing == len(pairs) else "no",
        "pairs": ", ".join(f"{better} > {worse}: {share:.2f}" for better, worse, share in pairs),
    }
