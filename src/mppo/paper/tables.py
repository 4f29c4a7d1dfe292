"""`mppo paper table`: a table of the paper, ours beside its own, in one of three formats."""

from __future__ import annotations

from pathlib import Path

from mppo.errors import BadRequest
from mppo.paper import claims, figure_claims, memory, return_tables, sweeps
from mppo.paper.artefacts import known_name
from mppo.paper.cells import Reproduction, Runs
from mppo.paper.figure_claims import CONCLUSIONS
from mppo.paper.printed import MEMORY, TABLES
from mppo.report.document import Document

SWEEP = "sweep"
"""The table of any grid, whatever it was made for."""
CLAIMS = "claims"
"""Every claim of the paper in one table: what docs/results/paper.md opens with."""
IDENTIFIERS = (*TABLES, *MEMORY, *CONCLUSIONS, SWEEP, CLAIMS)


def table(identifier: str, root: Path, form: str = "md") -> str:
    """The page of one table from the runs below a directory; the same bytes every time."""
    known_name(identifier, IDENTIFIERS)
    if not root.is_dir():
        raise BadRequest(f'"{root}" is not a directory; give the --out of mppo paper run')
    return _document(identifier, root).render(form)


def _document(identifier: str, root: Path) -> Document:
    if identifier in MEMORY:
        return memory.document(identifier, root)
    if identifier in CONCLUSIONS:
        return figure_claims.document(identifier, root)
    if identifier == CLAIMS:
        return claims.document(root)
    if identifier == SWEEP:
        return sweeps.document(root)
    return return_tables.document(Reproduction(TABLES[identifier], Runs(root), root))
