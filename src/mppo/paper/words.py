"""Numbers in words, and which runs a page is made of."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

import numpy as np

from mppo.paper.cells import GOALS, SUCCESS, Cell, Runs
from mppo.statistics.intervals import RESAMPLES, SEED, Interval, t_interval, wilson_interval

BOOTSTRAP = f"{RESAMPLES:,} resamples, seed {SEED}"


def steps(steps: int) -> str:
    """A number of steps in short.

    >>> steps(1_000_000), steps(2_500_000), steps(20_480)
    ('1M', '2.5M', '20,480')
    """
    millions = steps / 1e6
    return f"{millions:g}M" if steps >= 100_000 and round(millions, 2) == millions else f"{steps:,}"


def interval(interval: Interval | None, digits: int = 2) -> str:
    """An estimate with its ends.

    >>> interval(Interval(1.0, 0.5, 1.5)), interval(Interval(1.0, math.nan, math.nan))
    ('1.00 [0.50, 1.50]', '1.00 [?]')
    >>> interval(None)
    '-'
    """
    if interval is None:
        return "-"
    if math.isnan(interval.low):
        return f"{interval.estimate:.{digits}f} [?]"
    numbers = [f"{round(number, digits) + 0.0:.{digits}f}" for number in interval]  # no -0.00
    return f"{numbers[0]} [{numbers[1]}, {numbers[2]}]"


def mean(scores: np.ndarray) -> str:
    """The mean over seeds with its 95 % t interval.

    >>> mean(np.array([])), mean(np.array([0.5])), mean(np.array([1.0, 1.0]))
    ('-', '0.50', '1.00 [1.00, 1.00]')
    """
    if len(scores) < 2:
        return f"{scores[0]:.2f}" if len(scores) else "-"
    return interval(t_interval(scores))


def seeds(cell: Cell) -> str:
    """How many seeds were read, and how the others stand."""
    return ", ".join([str(cell.seeds), *_counted(cell.states)])


def finals(cell: Cell) -> str:
    """The final score of each seed."""
    return " ".join(f"{final:.2f}" for final in cell.finals) or "-"


def solved(cell: Cell) -> str:
    """How many seeds solved a task that can be solved."""
    if cell.task not in SUCCESS or not cell.seeds:
        return "-"
    share = wilson_interval(cell.solved, cell.seeds)
    return f"{cell.solved} of {cell.seeds} [{share.low:.2f}, {share.high:.2f}]"


def first_successes(cell: Cell) -> dict[str, str]:
    """When each seed was first evaluated with success, under a heading that says what that is."""
    goal = GOALS.get(cell.task)
    if goal is None:
        return {}
    said = [f"{at / 1e6:.2f}" if math.isfinite(at) else "-" for at in cell.first_successes(goal)]
    return {f"first {goal:g}, M steps": " ".join(said) or "-"}


def run_notes(runs: Runs, cells: Iterable[Cell]) -> list[str]:
    """How many runs there are, and which of them are not in the table."""
    cells = list(cells)
    read = f"{sum(cell.seeds for cell in cells)} runs were read"
    others = sum((cell.states for cell in cells), start=Counter())
    lines = [f"{len(runs.records)} run directories; {', '.join([read, *_counted(others)])}."]
    lines[0] += f" Readings: {runs.readings}." if str(runs.readings) else ""
    varied = {
        f"{cell.method} on {cell.task} with " + ", ".join(f"{k} = {v}" for k, v in changed.items())
        for cell in cells
        for changed in runs.variations(cell.task, cell.method)
    }
    lines += [f"Left out for other settings: {runs_varied}." for runs_varied in sorted(varied)]
    for record in runs.left_out:
        why = record.problem or f"{record.method} on {record.env} is not of the paper"
        lines.append(f"Left out: {record.directory.name}: {why}.")
    return lines


def _counted(states: Counter[str]) -> list[str]:
    return [f"{count} {state}" for state, count in sorted(states.items())]
