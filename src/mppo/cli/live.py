"""The live display of a run, as a pure function of what is known of it: 80 columns are enough."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from mppo.machine.durations import duration

MOST_PATHS = 10  # rows of the table
BAR = 24  # characters of the most frequent path


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
    def left(self) -> float:
        """Seconds to the end."""
        return max(self.steps - self.done, 0) / self.rate if self.rate else math.inf


def short(value: Any, digits: int = 3) -> str:
    """A number of a table, in nine characters or less.

    >>> short(0.12345), short(-3123.456), short(1.5e7), short(None), short(float("nan"))
    ('0.123', '-3123.5', '1.5e+07', '-', '-')
    """
    if value is None or not math.isfinite(float(value)):
        return "-"
    value = float(value)
    if abs(value) >= 1e6:
        return f"{value:.3g}"
    return f"{value:.1f}" if abs(value) >= 1000 else f"{value:.{digits}f}"


def numbers(shown: Shown) -> list[str]:
    """Return and evaluation, in words."""
    if shown.row is None:
        return []
    row, mean = shown.row, short(shown.row["return_mean"])
    found = [f"return {mean}"]
    if mean == "-":  # no episode ended: what J makes of those that go on
        found = [f"J {short(row['performance'][int(row['picked'])])}"]
    if shown.evaluation is not None:
        certain = shown.evaluation["mean_return_deterministic"]
        found.append(f"evaluation {short(shown.evaluation['mean_return'])}")
        found += [f"most likely actions {short(certain)}"] if certain is not None else []
    return found


def view(shown: Shown, ascii_only: bool = False) -> RenderableType:
    """Bar, numbers, what is being done, and the table of paths."""
    head = Table.grid(padding=(0, 2))
    share = min(shown.done / shown.steps, 1.0)
    head.add_row(
        ProgressBar(shown.steps, min(shown.done, shown.steps), width=BAR),
        f"{share:4.0%}",
        f"{shown.done:,} / {shown.steps:,} steps",
        f"{shown.rate:,.0f}/s" if shown.rate else "",
    )
    left = f"{duration(shown.left)} left" if shown.rate else ""
    words = [left, *numbers(shown)]
    parts: list[RenderableType] = [head]
    if shown.row is not None:
        parts.append(Text("   ".join(filter(None, words)), no_wrap=True, overflow="ellipsis"))
    parts.append(_doing(shown))
    if shown.row is not None and shown.paths > 1:
        parts.append(_table(shown, "#" if ascii_only else "━"))
    return Group(*parts)


def _doing(shown: Shown) -> Text:
    slow = shown.doing_for >= 2
    since = f" for {shown.doing_for:.0f} s" if slow else ""
    note = "; kept for the next run" if slow and shown.doing.startswith("compiling") else ""
    return Text(f"{shown.doing}{since}{note}", style="dim", no_wrap=True, overflow="ellipsis")


def interesting(shown: Shown) -> list[int]:
    """The paths that the table has room for: the one picked now, the best ones, the busiest."""
    if shown.paths <= MOST_PATHS:
        return list(range(shown.paths))
    row = shown.row or {}
    known = shown.picks > 0
    best = np.argsort(-np.where(known, np.asarray(row["performance"], float), -np.inf))
    busy = np.argsort(-shown.picks, kind="stable")
    order = [int(row["picked"])]
    for pair in zip(best, busy, strict=True):
        order += [int(k) for k in pair]
    chosen = list(dict.fromkeys(order))[: MOST_PATHS - 1]  # one row is left for the others
    return sorted(chosen)


def _table(shown: Shown, mark: str) -> Table:
    """The paths: which is picked now, how often each was, its J and H."""
    row, table = shown.row or {}, Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("path", justify="right", no_wrap=True)
    table.add_column("picked", justify="right", no_wrap=True)
    table.add_column("", overflow="crop")  # what gives way in a narrow terminal
    table.add_column("J", justify="right", no_wrap=True)
    table.add_column("H", justify="right", no_wrap=True)
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
