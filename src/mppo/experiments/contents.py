"""What the files of a run may hold, checked before tables and figures are made of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

LARGEST = 10**15
"""Steps, visits and the like stay below."""

Row = dict[str, Any]


def whole(value: Any, below: int = LARGEST) -> int:
    """A whole number from 0 to below a bound; anything else is a ValueError."""
    if type(value) is not int or not 0 <= value < below:
        raise ValueError(f"{value!r} is not a whole number from 0 to {below - 1}")
    return value


def real(value: Any) -> float:
    """A finite number."""
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a finite number")
    return float(value)


def evaluation(row: Row, paths: int) -> None:
    """Raise if an evaluation is none."""
    whole(row["steps"])
    whole(row["path"], paths)
    if row["mean_return"] is not None:  # nothing but deterministic episodes
        real(row["mean_return"])


def iteration(row: Row, paths: int) -> None:
    """Raise if a row of metrics lacks what figures show."""
    whole(row["steps"])
    whole(row["picked"], paths)
    for name in ("performance", "entropy"):
        if not isinstance(row[name], list) or len(row[name]) != paths:
            raise ValueError(f"{name} is not a list of {paths} numbers")
        for value in row[name]:
            real(value)


def ordered(rows: list[Row], check: Callable[[Row, int], None], paths: int) -> list[Row]:
    """The rows, each checked, their steps increasing; else a ValueError that names the line."""
    before = 0
    for line, row in enumerate(rows, 1):
        try:
            check(row, paths)
            if row["steps"] <= before:
                raise ValueError(f"steps is {row['steps']} after {before}")
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            why = f"no field {error}" if isinstance(error, KeyError) else str(error)
            raise ValueError(f"line {line}: {why}") from error
        before = row["steps"]
    return rows


def visits(found: Any, paths: int) -> dict[str, np.ndarray]:
    """Walls, start, goal and counts of a maze as arrays that fit each other."""
    try:
        arrays = {name: np.array(found[name]) for name in ("walls", "start", "goal", "counts")}
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"no visits of a maze: {error}") from error
    for name, array in arrays.items():
        if array.dtype.kind not in "iu" or not array.size or array.min() < 0:
            raise ValueError(f"{name} holds something else than whole numbers from 0 on")
    walls, counts = arrays["walls"], arrays["counts"]
    if walls.ndim != 2 or walls.max() > 1 or counts.shape != (paths, *walls.shape):
        raise ValueError(f"counts {counts.shape} do not fit walls {walls.shape} and {paths} paths")
    for name in ("start", "goal"):
        if arrays[name].shape != (2,) or (arrays[name] >= walls.shape[::-1]).any():
            raise ValueError(f"{name} {arrays[name].tolist()} is no cell of the maze")
    return arrays
