"""`mppo paper table`: a table of the paper, ours beside its own, in one of three formats."""

from __future__ import annotations

from pathlib import Path

from mppo.errors import BadRequest, did_you_mean
from mppo.paper import figure_claims, panels, sweeps
from mppo.paper.cells import Runs
from mppo.paper.comparison import Comparison
from mppo.paper.figure_claims import CONCLUSIONS
from mppo.paper.memory_tables import memory_document
from mppo.paper.printed import MEMORY, TABLES
from mppo.report.document import FORMATS

SWEEP = "sweep"
"""The table of any grid, whatever it was made for."""
IDENTIFIERS = (*TABLES, *MEMORY, *CONCLUSIONS, SWEEP)


def table(identifier: str, root: Path, format: str = "md") -> str:
    """The page of one table from the runs below a directory; the same bytes every time."""
    root = Path(root)
    if identifier not in IDENTIFIERS:
        listed = f"The tables are: {', '.join(IDENTIFIERS)}"
        raise BadRequest(
            f'unknown table "{identifier}"{did_you_mean(identifier, IDENTIFIERS, listed)}'
        )
    if format not in FORMATS:
        raise BadRequest(f'unknown format "{format}"; the formats are {", ".join(FORMATS)}')
    if not root.is_dir():
        raise BadRequest(f'"{root}" is not a directory; give the --out of mppo paper run')
    if identifier in MEMORY:
        return memory_document(MEMORY[identifier], root).render(format)
    if identifier == SWEEP:
        return sweeps.document(root).render(format)
    if identifier in CONCLUSIONS:
        return figure_claims.document(identifier, root).render(format)
    return panels.document(Comparison(TABLES[identifier], Runs(root), root)).render(format)
