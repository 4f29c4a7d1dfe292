"""One self-contained page for one run or many: no server, no network, no code from a run."""

from __future__ import annotations

import importlib.metadata
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from mppo.errors import BadRequest
from mppo.machine.durations import duration
from mppo.report import diagnostics, paths, read, repeat, results, text
from mppo.report.charts import Form
from mppo.report.compare import groups, repeated
from mppo.report.markup import asset, render
from mppo.report.read import RunRecord
from mppo.report.style import DARK_PAGE, DISPLAY, PALETTE, looks

_POINTS = 400  # of a curve, in a report of few runs
_BYTES = 2_500_000  # that the curves of a large report may take together
_CARD = Form(560, 304, 52, 20, 12, 46, "card")
_LIMITS = {
    "maps": 24,  # runs whose visits are drawn path by path
    "open": 3,  # runs whose details are open at first
    "beside": 5,  # configurations whose numbers stand beside the chart
    "hero": 2,  # tasks that get a large chart each
}


def html(directories: Sequence[str | Path], title: str | None = None) -> str:
    """The report of all runs in and below the directories, as the text of one HTML file.

    The same files give the same bytes.
    """
    runs, problems = [], []
    for path, name in read.find(directories):
        try:
            runs.append(read.read(path, name))
        except BadRequest as error:
            problems.append(str(error))
    if not runs:
        raise BadRequest(f"no run can be read: {problems[0]}")
    return render(
        "page.html",
        style=asset("report.css").replace("/*palette*/", _palette()),
        script=asset("report.js"),
        page=Page(runs, problems, title),
        limits=_LIMITS,
        version=importlib.metadata.version("mppo"),
        card=_CARD,
        results=results,
        diagnostics=diagnostics,
        paths=paths,
        repeats=repeat,
    )


class Page:
    """What a report is about, and the charts of it; the template has the order and the words."""

    def __init__(self, runs: list[RunRecord], problems: list[str], title: str | None):
        self.groups = groups(runs)
        self.runs = [run for group in self.groups for run in group.runs]
        self.by_task = [
            (task, list(found)) for task, found in groupby(self.groups, lambda group: group.task)
        ]
        self.problems = [*problems, *repeated(self.groups), *results.notes(self.groups)]
        self.title = title or self._title()
        self.looks = looks({group.label: group.method_name for group in self.groups})
        self.anchors = {run.name: f"run-{place}" for place, run in enumerate(self.runs)}
        self.states = Counter(run.status for run in self.runs)
        curves = sum(2 * run.paths + len(diagnostics.MEASURES) + 4 for run in self.runs)
        self.points = max(40, min(_POINTS, _BYTES // (11 * max(curves, 1))))

    def _title(self) -> str:
        labels = {group.label for group in self.groups}
        named = list(dict.fromkeys(DISPLAY.get(g.method_name, g.method_name) for g in self.groups))
        methods = ", ".join(named) if len(named) <= 3 else text.plural(len(named), "method")
        if len(labels) == 1:
            methods = self.groups[0].label
        elif len(labels) > len(named):
            methods += f" in {len(labels)} configurations"
        several = text.plural(len(self.by_task), "task")
        return f"{methods} on {self.groups[0].place if len(self.by_task) == 1 else several}"

    @property
    def length(self) -> str:
        """How far the runs got."""
        done = [results.steps_done(run) for run in self.runs]
        if len(set(done)) == 1:
            return f"{text.steps(done[0])} steps" + ("" if len(done) == 1 else " each")
        return f"{text.steps(min(done))} to {text.steps(max(done))} steps"

    def tiles(self, run: RunRecord) -> list[tuple[str, str]]:
        """The numbers of a lone run, each with its name."""
        done = results.steps_done(run)
        tiles = [
            (text.number(results.final_return(run)), "return at the end"),
            (text.number(results.best_return(run)), "best"),
            (text.steps(done), "environment steps"),
        ]
        if run.timing:
            total = float(results.seconds(run).sum())
            rate = text.number(done / max(total, 1e-9))
            tiles.append((duration(total), f"{rate} steps a second"))
        return [*tiles, (str(run.paths), "paths")] if run.paths > 1 else tiles


def _palette() -> str:
    """The colours of style.py as variables of the style sheet."""
    light, dark = (
        "".join(f"--s{place}:{colour};" for place, colour in enumerate(palette))
        for palette in (PALETTE, DARK_PAGE)
    )
    screen = f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    classes = "".join(f".c{place}{{--c:var(--s{place})}}" for place in range(len(PALETTE)))
    return f":root{{{light}}}{screen}{classes}"
