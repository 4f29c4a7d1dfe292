"""`mppo paper table` and `mppo paper figure`: one of either by its name, from our runs."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mppo.errors import BadRequest
from mppo.paper import claims, memory, returns, sweeps
from mppo.paper.artefacts import known_name
from mppo.paper.figures import curves, maze, picking
from mppo.paper.figures.drawing import save, settings
from mppo.paper.printed import MEMORY, TABLES
from mppo.report.document import Document

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOCUMENTS: dict[str, Callable[[Path], Document]] = {
    **{name: partial(returns.document, name) for name in TABLES},
    **{name: partial(memory.document, name) for name in MEMORY},
    **{name: partial(claims.of_figure, name) for name in claims.CONCLUSIONS},
    "sweep": sweeps.document,  # any grid, whatever it was made for
    "claims": claims.every_claim,  # what docs/results/paper.md opens with
}
FORMATS = (".svg", ".png")
FIGURES: dict[str, Callable[[Path], Figure]] = {
    "figure-2": maze.returns_and_entropy,
    "figure-3": maze.visits,
    "figure-4": picking.picking,
    "figure-5": curves.varying_paths,
    "figure-6": curves.varying_alpha,
    "figure-7": partial(curves.performance, table="table-1", identifier="figure-7"),
    "figure-8": partial(curves.performance, table="table-2", identifier="figure-8"),
    "figure-9": picking.picks_of_seeds,
}


def table(identifier: str, root: Path, form: str = "md") -> str:
    """The page of one table from the runs below a directory; the same bytes every time."""
    known_name(identifier, DOCUMENTS)
    if not root.is_dir():
        raise BadRequest(f'"{root}" is not a directory; give the --out of mppo paper run')
    return DOCUMENTS[identifier](root).render(form)


def figure(identifier: str, root: Path, out: Path) -> list[Path]:
    """Draw one figure from the runs below a directory; the same bytes every time.

    `out` is a file that ends in .svg or .png, or a directory that gets both.
    """
    known_name(identifier, FIGURES)
    if importlib.util.find_spec("matplotlib") is None:
        raise BadRequest('figures are drawn with matplotlib; pip install "mppo[report]"')
    if out.suffix and out.suffix not in FORMATS:
        raise BadRequest(
            f'"{out}" ends in "{out.suffix}"; give a file .svg or .png, or a directory'
        )
    with settings():
        drawn = FIGURES[identifier](root)
        if out.suffix:
            return [save(drawn, out)]
        out.mkdir(parents=True, exist_ok=True)
        return [save(drawn, out / f"{identifier}{form}") for form in FORMATS]
