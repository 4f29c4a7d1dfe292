"""`mppo paper figure`: a figure of the paper from our runs, as SVG and PNG."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mppo.errors import BadRequest
from mppo.paper.artefacts import known_name
from mppo.paper.figures import curves, maze, picking
from mppo.paper.figures.drawing import save, settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
