"""Curves of several seeds on one axis: mean, 95 % interval, fewer points where they are many."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mppo.statistics.intervals import Interval, t_half_width, t_interval

FEWEST = 3  # curves from which an interval is drawn: that of two says next to nothing


class Line(NamedTuple):
    """One curve; where it is not known, y is not a number."""

    x: np.ndarray  # [points], ascending
    y: np.ndarray


class Summary(NamedTuple):
    """Several curves in one."""

    x: np.ndarray
    mean: np.ndarray
    low: np.ndarray  # not a number where fewer than FEWEST curves are there
    high: np.ndarray
    count: np.ndarray  # curves behind each point


def interval(values: np.ndarray) -> Interval:
    """The mean of the known values with its 95 % t interval; not numbers where there are none."""
    known = values[np.isfinite(values)]
    return t_interval(known) if len(known) else Interval(math.nan, math.nan, math.nan)


def summarise(lines: list[Line]) -> Summary:
    """The mean of the curves that reach each point, on the union of their points."""
    x = np.unique(np.concatenate([line.x for line in lines])) if lines else np.zeros(0)
    table = np.full((len(lines), len(x)), np.nan)
    for row, line in zip(table, lines, strict=True):
        known = np.isfinite(line.y)
        if known.any():
            row[:] = np.interp(x, line.x[known], line.y[known], left=np.nan, right=np.nan)
    count = np.isfinite(table).sum(0)
    filled = np.where(np.isfinite(table), table, 0.0)
    mean = np.where(count > 0, filled.sum(0) / np.maximum(count, 1), np.nan)
    spread = np.where(np.isfinite(table), table - mean, 0.0)
    deviation = np.sqrt((spread**2).sum(0) / np.maximum(count - 1, 1))
    half = t_half_width(deviation, np.where(count >= FEWEST, count, np.nan))
    return Summary(x, mean, mean - half, mean + half, count)


def common_part(summary: Summary, lines: list[Line]) -> Summary:
    """The part before the first of the curves ends: beyond it the mean would be of others.

    >>> ten = np.arange(10.0)
    >>> lines = [Line(ten, ten), Line(ten[:4], ten[:4])]
    >>> common_part(summarise(lines), lines).x.tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    upto = min((line.x[-1] for line in lines if len(line.x)), default=np.inf)
    inside = summary.x <= upto
    return Summary(*(part[inside] for part in summary))


def kept_points(y: np.ndarray, limit: int) -> np.ndarray:
    """Indices of at most about `limit` points that keep both ends and the extremes between.

    >>> kept_points(np.array([0.0, 1, 9, 1, 0, 1, -5, 1, 0, 1]), 6).tolist()
    [0, 2, 5, 6, 9]
    """
    n = len(y)
    if n <= limit:
        return np.arange(n)
    width = -(-n // max(1, (limit - 2) // 2))  # of a stretch that keeps its two extremes
    stretches = np.full(-(-n // width) * width, np.nan)
    stretches[:n] = y
    stretches = stretches.reshape(-1, width)
    known = np.isfinite(stretches)
    start = np.arange(len(stretches)) * width
    lowest = start + np.where(known, stretches, np.inf).argmin(1)
    highest = start + np.where(known, stretches, -np.inf).argmax(1)
    gaps = (start + known.argmin(1))[~known.all(1)]  # a gap stays a gap
    keep = np.unique(np.concatenate([[0, n - 1], lowest, highest, gaps]))
    return keep[keep < n]


def moving_mean(y: np.ndarray, width: int) -> np.ndarray:
    """Centred moving average over the known values; gaps stay gaps.

    >>> moving_mean(np.array([0.0, 3.0, 0.0, 3.0]), 3).tolist()
    [1.5, 1.0, 2.0, 1.5]
    """
    if width <= 1 or len(y) < 3:
        return y
    known = np.isfinite(y)
    kernel = np.ones(min(width, len(y) - (len(y) + 1) % 2))
    total = np.convolve(np.where(known, y, 0.0), kernel, "same")
    count = np.convolve(known.astype(float), kernel, "same")
    return np.where(known, total / np.maximum(count, 1), np.nan)
