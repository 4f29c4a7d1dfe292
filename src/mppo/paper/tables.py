"""`mppo paper table`: a table of the paper, ours beside its own, in one of three formats."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from mppo.errors import BadRequest
from mppo.paper import claims, memory, returns, sweeps
from mppo.paper.artefacts import known_name
from mppo.paper.printed import MEMORY, TABLES
from mppo.report.document import Document

DOCUMENTS: dict[str, Callable[[Path], Document]] = {
    **{name: partial(returns.document, name) for name in TABLES},
    **{name: partial(memory.document, name) for name in MEMORY},
    **{name: partial(claims.of_figure, name) for name in claims.CONCLUSIONS},
    "sweep": sweeps.document,  # any grid, whatever it was made for
    "claims": claims.every_claim,  # what docs/results/paper.md opens with
}


def table(identifier: str, root: Path, form: str = "md") -> str:
    """The page of one table from the runs below a directory; the same bytes every time."""
    known_name(identifier, DOCUMENTS)
    if not root.is_dir():
        raise BadRequest(f'"{root}" is not a directory; give the --out of mppo paper run')
    return DOCUMENTS[identifier](root).render(form)
