"""How a run shows itself: a live table in a terminal, plain lines in a pipe, nothing if quiet."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from mppo.train import Run

LINE_EVERY = 5.0  # seconds between plain lines
MOST_PATHS = 12  # rows of the live table


class Progress:
    """A callback for `Run.run`, and a context for the live display."""

    def __init__(self, run: Run, method: str, directory: Any, quiet: bool = False):
        self.run, self.method, self.directory, self.quiet = run, method, directory, quiet
        self.console = Console()
        self.picks: Counter[int] = Counter()
        self.row: dict[str, Any] | None = None
        self.evaluation: dict[str, Any] | None = None
        self.started = self.shown = time.monotonic()
        self.before = run.iteration * run.method.batch_size  # steps of an earlier session
        live = not quiet and self.console.is_terminal
        self.live = Live(console=self.console, refresh_per_second=4) if live else None

    def __enter__(self) -> Progress:
        if not self.quiet:
            run = self.run
            task = f"{run.task.name}, {run.steps:,} steps, seed {run.seed}"
            self._say(f"{self.method} on {task}")
            self._say(
                f"  {run.envs} environments, {run.workers} threads, batch "
                f"{run.method.batch_size}, {run.method.paths} paths"
            )
            self._say(f"  writing to {self.directory}")
            self._say("  compiling (some seconds; kept for the next run)")
        if self.live is not None:
            self.live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self.live is not None:
            self.live.update(self._view())
            self.live.__exit__(*error)
        elif not self.quiet and self.row is not None:
            self._line()
        if not self.quiet and error[0] is None and self.evaluation is not None:
            self._say(f"final evaluation: mean return {self.evaluation['mean_return']:.2f}")

    def __call__(self, event: str, row: dict[str, Any]) -> None:
        if event == "evaluation":
            self.evaluation = row
            return
        self.row = row
        self.picks[int(row["picked"])] += 1
        if self.live is not None:
            self.live.update(self._view())
        elif not self.quiet and time.monotonic() - self.shown > LINE_EVERY:
            self.shown = time.monotonic()
            self._line()

    def _say(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _numbers(self) -> tuple[int, float, float]:
        """Steps done, steps a second, seconds left."""
        steps = int(self.row["steps"]) if self.row else 0
        seconds = max(time.monotonic() - self.started, 1e-9)
        rate = max(steps - self.before, 0) / seconds
        return steps, rate, (self.run.steps - steps) / rate if rate else float("inf")

    def _line(self) -> None:
        steps, rate, left = self._numbers()
        row = self.row or {}
        parts = [f"{steps:>11,} steps", f"{rate:>7,.0f}/s", f"{max(left, 0):>5.0f} s left"]
        parts += [f"path {int(row['picked'])}", f"return {float(row['return_mean']):.2f}"]
        if self.evaluation is not None:
            parts.append(f"evaluation {self.evaluation['mean_return']:.2f}")
        self._say("  ".join(parts))

    def _view(self) -> Group:
        steps, rate, left = self._numbers()
        bar = ProgressBar(self.run.steps, min(steps, self.run.steps), width=30)
        head = Table.grid(padding=(0, 1))
        numbers = f"{steps:,} / {self.run.steps:,} steps  {rate:,.0f}/s  {max(left, 0):.0f} s left"
        head.add_row(bar, numbers if self.row else "compiling, or collecting the first batch ...")
        if self.row is None:
            return Group(head)
        result = f"return {float(self.row['return_mean']):.2f}"
        if self.evaluation is not None:
            certain = self.evaluation["mean_return_deterministic"]
            result += f"   evaluation {self.evaluation['mean_return']:.2f}"
            result += "" if certain is None else f" (mean action {certain:.2f})"
        return Group(head, Text(result), self._paths())

    def _paths(self) -> Table:
        """The paths: which is picked now, how often each was, its J and H."""
        row, table = self.row or {}, Table(box=None, pad_edge=False, header_style="dim")
        for name in ("path", "picked", "", "J", "H"):
            table.add_column(name, justify="left" if not name else "right", no_wrap=True)
        performance, entropy, now = row["performance"], row["entropy"], int(row["picked"])
        most = max(self.picks.values(), default=1)
        for k in range(min(len(performance), MOST_PATHS)):
            share = "█" * round(20 * self.picks[k] / most)
            cells = (
                f"{'>' if k == now else ' '} {k}",
                str(self.picks[k]),
                share,
                f"{float(performance[k]):.3f}",
                f"{float(entropy[k]):.3f}",
            )
            table.add_row(*cells, style="bold" if k == now else None)
        if len(performance) > MOST_PATHS:
            table.add_row("", f"and {len(performance) - MOST_PATHS} more")
        return table
