"""How a run shows itself: a live table in a terminal, plain lines in a pipe, nothing if quiet.

The table is a pure function of what is known of the run; 80 columns are enough for it.
"""

from __future__ import annotations

import math
import os
import textwrap
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from mppo.files.changes import changes
from mppo.machine.durations import duration

if TYPE_CHECKING:
    from mppo.training.run import Run

LINE_EVERY = 5.0  # seconds between plain lines
PATIENCE = 3.0  # seconds after which a compilation is worth a line
WIDTH = 80
MOST_PATHS = 10  # rows of the table
BAR = 24  # characters of the most frequent path
NEXT = (
    "evaluate {}",
    "report {} --out report.html",
    "video {} --out clip.mp4",
    "export {} --out policy.onnx",
)
"""What one may want to do with a finished run."""


@dataclass
class Shown:
    """What is known of a run at one moment."""

    steps: int  # of the whole run
    paths: int
    done: int = 0
    rate: float = 0.0  # steps a second
    doing: str = ""
    doing_for: float = 0.0  # seconds
    row: dict[str, Any] | None = None  # of the last iteration
    evaluation: dict[str, Any] | None = None
    picks: np.ndarray = field(default_factory=lambda: np.zeros(0, int))  # [K]
    styles: tuple[str, ...] = ()  # by their numbers in a row, where paths have any

    @property
    def left(self) -> str:
        """Time to the end."""
        seconds = max(self.steps - self.done, 0) / self.rate if self.rate else math.inf
        return f"{duration(seconds)} left"


class Progress:
    """A callback of a run (`Training.to_the_end` calls it), and a context for the live display."""

    def __init__(
        self,
        run: Run,
        method: str,
        directory: str | os.PathLike[str],
        quiet: bool = False,
        console: Console | None = None,
    ):
        self.run, self.method, self.directory, self.quiet = run, method, directory, quiet
        self.console = console or Console()
        self.before = run.iteration * run.method.batch_size
        self.shown = Shown(run.steps, run.method.paths, self.before)
        self.shown.picks = np.array(run.state.population.record.picks)  # of an earlier session
        self.shown.styles = tuple(map(str, run.method.styles))
        self.counted: tuple[float, int] | None = None  # when the rate began to count, at which step
        self.started = self.said = self.since = time.monotonic()
        self.live = None
        if self.console.is_terminal and not quiet:
            self.live = Live(console=self.console, get_renderable=self._view, refresh_per_second=4)
        self._told: tuple[int, Any] | None = None  # what the last plain line was about
        self._patience = threading.Timer(PATIENCE, self._say_compiling)
        self._patience.daemon = True

    def __enter__(self) -> Progress:
        if self.quiet:
            return self
        run, plural = self.run, lambda n, word: f"{n:,} {word}{'s' * (n > 1)}"
        verb = "going on with " if self.before else ""
        self._say(
            f"{verb}{self.method} on {run.task.name}, seed {run.seed}, {run.steps:,} steps\n"
            f"  directory  {self.directory}\n"
            f"  settings   {plural(run.method.paths, 'path')}, batches of "
            f"{plural(run.method.batch_size, 'step')}, {plural(run.envs, 'environment')}, "
            f"{plural(*run.steppers)}"
        )
        changed = changes(self.method, run.method)
        text = ", ".join(f"{name} {value}" for name, value in changed) or "nothing"
        lines = textwrap.wrap(text, WIDTH - 13, break_on_hyphens=False, break_long_words=False)
        self._say("  changed    " + f"\n{' ' * 13}".join(lines))
        if self.live is not None:
            self.live.__enter__()
        else:
            self._patience.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._patience.cancel()
        finished = self.run.iteration >= self.run.iterations
        if self.live is not None:
            self.shown.doing, self.since = "done" if finished else "stopped", time.monotonic()
            self.live.__exit__(*error)
        elif not self.quiet and self._told != (self.shown.done, self.shown.evaluation):
            self._line()
        if not self.quiet and error[0] is None and finished:
            self._say(f"finished in {duration(time.monotonic() - self.started)}; next:")
            for command in NEXT:
                self._say(f"  mppo {command.format(self.directory)}")

    def __call__(self, event: str, row: dict[str, Any]) -> None:
        shown, now = self.shown, time.monotonic()
        if event == "evaluation":
            shown.evaluation = row
            return
        self._patience.cancel()
        shown.row, shown.done = row, int(row["steps"])
        shown.picks[int(row["picked"])] += 1
        since, steps = self.counted or (self.started, self.before)
        shown.rate = max(shown.done - steps, 0) / max(now - since, 1e-9)
        if self.counted is None:  # the first iteration compiles: it says nothing of the rest
            self.counted, self.said = (now, shown.done), now
        if self.live is None and not self.quiet and now - self.said > LINE_EVERY:
            self.said = now
            self._line()

    def _view(self) -> RenderableType:
        doing = self.shown.doing if self.shown.doing in ("done", "stopped") else self.run.doing
        if doing != self.shown.doing:
            self.shown.doing, self.since = doing, time.monotonic()
        self.shown.doing_for = time.monotonic() - self.since
        return view(self.shown, ascii_only=not self.console.encoding.lower().startswith("utf"))

    def _say(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _say_compiling(self) -> None:
        if self.run.doing.startswith("compiling"):
            self._say(f"  {self.run.doing} (once; kept for the next run)")

    def _line(self) -> None:
        shown = self.shown
        if shown.row is None:
            return
        self._told = shown.done, shown.evaluation
        parts = [f"{shown.done:>9,} steps", f"{shown.rate:>6,.0f}/s", f"{shown.left:>11}"]
        parts += [f"path {int(shown.row['picked'])}"] if shown.paths > 1 else []
        self._say("  ".join(parts + numbers(shown)[:2]))


def short(value: float | None, digits: int = 3) -> str:
    """A number of a table, in nine characters or less.

    >>> short(0.12345), short(-3123.456), short(1.5e7), short(None), short(float("nan"))
    ('0.123', '-3123.5', '1.5e+07', '-', '-')
    """
    if value is None or not math.isfinite(value):
        return "-"
    if abs(value) >= 1e6:
        return f"{value:.3g}"
    return f"{value:.1f}" if abs(value) >= 1000 else f"{value:.{digits}f}"


def numbers(shown: Shown) -> list[str]:
    """Return and evaluation, in words."""
    row = shown.row
    if row is None:
        return []
    found = [f"return {short(row['return_mean'])}"]
    if found == ["return -"]:  # no episode ended: what J makes of those that go on
        found = [f"J {short(row['performance'][int(row['picked'])])}"]
    if shown.evaluation is not None:
        certain = shown.evaluation["mean_return_deterministic"]
        found.append(f"evaluation {short(shown.evaluation['mean_return'])}")
        found += [f"most likely actions {short(certain)}"] if certain is not None else []
    return found


def view(shown: Shown, ascii_only: bool = False) -> RenderableType:
    """Bar, numbers, what is being done, and the table of paths."""
    head = Table.grid(padding=(0, 2))
    head.add_row(
        ProgressBar(shown.steps, min(shown.done, shown.steps), width=BAR),
        f"{min(shown.done / shown.steps, 1.0):4.0%}",
        f"{shown.done:,} / {shown.steps:,} steps",
        f"{shown.rate:,.0f}/s" if shown.rate else "",
    )
    slow = shown.doing_for >= 2
    doing = shown.doing + (f" for {shown.doing_for:.0f} s" if slow else "")
    doing += "; kept for the next run" if slow and doing.startswith("compiling") else ""
    parts: list[RenderableType] = [Text(doing, "dim", no_wrap=True, overflow="ellipsis")]
    if shown.row is not None:
        words = "   ".join([*([shown.left] if shown.rate else []), *numbers(shown)])
        parts.insert(0, Text(words, no_wrap=True, overflow="ellipsis"))
        parts += [_table(shown, shown.row, "#" if ascii_only else "━")] if shown.paths > 1 else []
    return Group(head, *parts)


def interesting(shown: Shown) -> list[int]:
    """The paths that the table has room for: the one picked now, the best ones, the busiest."""
    if shown.paths <= MOST_PATHS or shown.row is None:
        return list(range(shown.paths))
    performance = np.asarray(shown.row["performance"], float)
    best = np.argsort(-np.where(shown.picks > 0, performance, -np.inf))
    busy = np.argsort(-shown.picks, kind="stable")
    order = [int(shown.row["picked"]), *np.stack([best, busy], axis=1).ravel().tolist()]
    return sorted(list(dict.fromkeys(order))[: MOST_PATHS - 1])  # one row is left for the others


def _table(shown: Shown, row: dict[str, Any], mark: str) -> Table:
    """The paths: which is picked now, how often each was, its J and H."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("path", "picked", "", "J", "H"):
        if name:
            table.add_column(name, justify="right", no_wrap=True)
        else:
            table.add_column("", overflow="crop")  # what gives way in a narrow terminal
    if shown.styles:
        table.add_column("style", no_wrap=True, overflow="ellipsis")
    performance, entropy = (np.asarray(row[name], float) for name in ("performance", "entropy"))
    now, most = int(row["picked"]), max(int(shown.picks.max()), 1)
    digits = 3 if np.abs(performance).max() < 100 else 1
    listed = interesting(shown)
    for k in listed:
        known = shown.picks[k] > 0
        cells = (
            f"{'>' if k == now else ' '} {k}",
            str(shown.picks[k]),
            mark * max(round(BAR * shown.picks[k] / most), int(known)),
            short(performance[k], digits) if known else "-",
            short(entropy[k]),
            *([shown.styles[int(row["style"][k])]] if shown.styles else []),
        )
        table.add_row(*cells, style="bold" if k == now else None)
    rest = [k for k in range(shown.paths) if k not in listed]
    if rest:
        known = [k for k in rest if shown.picks[k] > 0]
        best = f"J at most {short(performance[known].max(), digits)}" if known else "none tried yet"
        table.add_row("", str(shown.picks[rest].sum()), f"by {len(rest)} others, {best}")
    return table
