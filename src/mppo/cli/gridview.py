"""How a grid of runs shows itself: a live table in a terminal, plain lines in a pipe."""

from __future__ import annotations

import time
from itertools import islice
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from mppo.experiments.drive import Driver
from mppo.experiments.grid import Grid
from mppo.experiments.spec import RunSpec
from mppo.machine.durations import duration

REFRESH = 1.0  # seconds between looks at the files
LINE_EVERY = 60.0  # seconds between plain lines when nothing happens
MOST_ROWS = 16
SHOWN_NEWS = 4


class GridProgress:
    """Two callbacks for `Driver.run`, and a context for the live display."""

    def __init__(self, grid: Grid, runs: list[RunSpec], console: Console | None = None):
        self.grid, self.runs = grid, runs
        self.console = console or Console()
        watched = self.console.is_terminal
        self.live = Live(console=self.console, auto_refresh=False) if watched else None
        self.done = {run.run_id for run in runs if grid.finished(run)}
        self.total = sum(run.steps for run in runs)
        self.before = sum(self._steps(run) for run in runs)
        self.started, self.shown = time.monotonic(), 0.0
        self.news: list[str] = []
        self.fresh = False

    def __enter__(self) -> GridProgress:
        there = len(self.done)
        already = f"; {there} are done already" if there else ""
        self._say(f"{len(self.runs)} runs, {self.total:,} steps, in {self.grid.root}{already}")
        if self.live is not None:
            self.live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self.live is not None:
            self.live.__exit__(*error)

    def told(self, what: str, run: RunSpec) -> None:
        """Something happened to a run."""
        if what.startswith("finished"):
            self.done.add(run.run_id)
        self.news.append(f"{run.label}: {what}")
        self.fresh = True

    def tick(self, driver: Driver) -> None:
        """Show how it stands, when that is due."""
        now = time.monotonic()
        if self.live is not None:
            if self.fresh or now - self.shown > REFRESH:
                self.shown, self.fresh = now, False
                self.news = self.news[-SHOWN_NEWS:]
                self.live.update(self._view(driver), refresh=True)
            return
        for line in self.news:
            self._say(f"  {line}")
        if self.news or now - self.shown > LINE_EVERY:
            self.shown = now
            self._say(self._summary(driver))
        self.news = []

    def _steps(self, run: RunSpec) -> int:
        return run.steps if run.run_id in self.done else self.grid.steps_done(run)

    def _summary(self, driver: Driver) -> str:
        elsewhere = f", {len(driver.elsewhere)} with another driver" if driver.elsewhere else ""
        said = f"{len(self.done)} of {len(self.runs)} runs done, {len(driver.running)} running"
        said += f"{elsewhere}, {len(driver.failures)} failed"
        behind = {run.run_id: self._steps(run) for run in self.runs}
        rate = (sum(behind.values()) - self.before) / max(time.monotonic() - self.started, 1e-9)
        ahead = [run for run in self.runs if run.run_id not in driver.failures]
        left = sum(run.steps - behind[run.run_id] for run in ahead)
        if rate > 0 and left > 0:
            said += f", {rate:,.0f} steps/s, about {duration(left / rate)} left"
        return said

    def _view(self, driver: Driver) -> Group:
        table = Table(box=None, pad_edge=False, header_style="dim")
        for name in ("runs", "done", "running", "failed", "steps"):
            table.add_column(name, no_wrap=True)
        groups: dict[str, list[RunSpec]] = {}
        for run in self.runs:
            groups.setdefault(run.label.rpartition(", seed ")[0], []).append(run)
        under_way = {*driver.running, *driver.failures}
        shown = (one for one in groups.items() if any(run.run_id in under_way for run in one[1]))
        for name, runs in islice(shown, MOST_ROWS):
            ids = [run.run_id for run in runs]
            total = sum(run.steps for run in runs)
            table.add_row(
                Text(name),
                f"{sum(i in self.done for i in ids)} / {len(ids)}",
                str(sum(i in driver.running for i in ids)),
                str(sum(i in driver.failures for i in ids)),
                ProgressBar(total, sum(self._steps(run) for run in runs), width=24),
            )
        news = [Text(line, style="dim") for line in self.news]
        return Group(Text(self._summary(driver)), table, *news)

    def _say(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)
