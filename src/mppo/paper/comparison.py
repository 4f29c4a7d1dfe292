"""A printed table and the runs that answer it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mppo.paper.cells import Cell, Runs
from mppo.paper.printed import Printed


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
