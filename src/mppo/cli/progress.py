"""How a run shows itself: a live table in a terminal, plain lines in a pipe, nothing if quiet."""

from __future__ import annotations

import textwrap
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console, RenderableType
from rich.live import Live

from mppo.cli.live import Shown, numbers, view
from mppo.files.changes import changes
from mppo.machine.durations import duration

if TYPE_CHECKING:
    from mppo.training.run import Run

LINE_EVERY = 5.0  # seconds between plain lines
PATIENCE = 3.0  # seconds after which a compilation is worth a line
WIDTH = 80


class Progress:
    """A callback of a run (`Training.to_the_end` calls it), and a context for the live display."""

    directory: Any
    method: str
    quiet: bool
    run: Run
    console: Any
    shown: Shown
    before: int
    started: float
    live: Any
    said: float
    since: float

    def __init__(
        self,
        run: Run,
        method: str,
        directory: Any,
        quiet: bool = False,
        console: Console | None = None,
    ):
        self.run, self.method, self.directory, self.quiet = run, method, directory, quiet
        self.console = console or Console()
        done = run.iteration * run.method.batch_size
        styles = tuple(map(str, run.method.styles))
        self.shown = Shown(run.steps, run.method.paths, done, styles=styles)
        self.shown.picks = np.array(run.state.population.record.picks)  # of an earlier session
        self.before = self.shown.done
        self.counted: tuple[float, int] | None = None  # when the rate began to count, at which step
        self.started = self.said = self.since = time.monotonic()
        live = not quiet and self.console.is_terminal
        self.live = None
        if live:
            self.live = Live(console=self.console, get_renderable=self._view, refresh_per_second=4)
        self._told: tuple[int, Any] | None = None  # what the last plain line was about
        self._patience = threading.Timer(PATIENCE, self._say_compiling)
        self._patience.daemon = True

    def __enter__(self) -> Progress:
        if self.quiet:
            return self
        run = self.run
        verb = "going on with" if self.before else ""
        self._say(f"{verb} {self.method} on {run.task.name}, seed {run.seed}, ".lstrip()
                  + f"{run.steps:,} steps")  # fmt: skip
        self._say(f"  directory  {self.directory}")
        plural = lambda n, word: f"{n:,} {word}{'s' * (n > 1)}"
        self._say(
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
        if self.live is not None:
            self.shown.doing = "stopped" if self.run.iteration < self.run.iterations else "done"
            self.since = time.monotonic()
            self.live.__exit__(*error)
        elif not self.quiet and self._told != (self.shown.done, self.shown.evaluation):
            self._line()
        if not self.quiet and error[0] is None and self.run.iteration >= self.run.iterations:
            self._next_steps()

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
        if self.run.doing.startswith("compiling") and not self.quiet:
            self._say(f"  {self.run.doing} (once; kept for the next run)")

    def _line(self) -> None:
        shown = self.shown
        if shown.row is None:
            return
        self._told = shown.done, shown.evaluation
        left = f"{duration(shown.left)} left"
        parts = [f"{shown.done:>9,} steps", f"{shown.rate:>6,.0f}/s", f"{left:>11}"]
        parts += [f"path {int(shown.row['picked'])}"] if shown.paths > 1 else []
        self._say("  ".join(parts + numbers(shown)[:2]))

    def _next_steps(self) -> None:
        """What one may want to do with a finished run."""
        from mppo.cli import COMMANDS

        self._say(f"finished in {duration(time.monotonic() - self.started)}; next:")
        for command, ending in (
            ("evaluate", ""),
            ("report", " --out report.html"),
            ("video", " --out clip.mp4"),
            ("export", " --out policy.onnx"),
        ):
            if command in COMMANDS:
                self._say(f"  mppo {command} {self.directory}{ending}")
