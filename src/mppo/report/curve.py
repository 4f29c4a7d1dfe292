"""Curves of several seeds on one axis: mean, 95 % interval, fewer points where they are many."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

# two-sided 95 % points of Student's t with 1, 2, ... degrees of freedom
_T95 = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
    2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
    2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
)  # fmt: skip
_Z95 = 1.959964


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


def t95(freedom: int) -> float:
    """The 97.5 % point of Student's t.

    >>> t95(5), round(t95(40), 3)
    (2.5706, 2.021)
    """
    if freedom <= len(_T95):
        return _T95[freedom - 1]
    z = _Z95  # Cornish and Fisher's expansion: good to 1e-4 here
    first = (z**3 + z) / (4 * freedom)
    second = (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    return z + first + second


def interval(values: np.ndarray) -> tuple[float, float]:
    """Mean and half width of its 95 % t interval; the width is not a number for fewer than two.

    >>> mean, half = interval(np.array([1.0, 2.0, 3.0]))
    >>> mean, round(half, 3)
    (2.0, 2.484)
    """
    known = values[np.isfinite(values)]
    if not len(known):
        return math.nan, math.nan
    if len(known) < 2:
        return float(known[0]), math.nan
    error = known.std(ddof=1) / math.sqrt(len(known))
    return float(known.mean()), t95(len(known) - 1) * float(error)


def summarised(lines: list[Line]) -> Summary:
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
    t = np.array([t95(n - 1) if n >= FEWEST else np.nan for n in count])
    half = t * deviation / np.sqrt(np.maximum(count, 1))
    return Summary(x, mean, mean - half, mean + half, count)


def common(summary: Summary, lines: list[Line]) -> Summary:
    """The part before the first of the curves ends: beyond it the mean would be of others.

    >>> ten = np.arange(10.0)
    >>> lines = [Line(ten, ten), Line(ten[:4], ten[:4])]
    >>> common(summarised(lines), lines).x.tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    upto = min((line.x[-1] for line in lines if len(line.x)), default=np.inf)
    inside = summary.x <= upto
    return Summary(*(part[inside] for part in summary))


def thinned(y: np.ndarray, limit: int) -> np.ndarray:
    """Indices of at most about `limit` points that keep both ends and the extremes between.

    >>> thinned(np.array([0.0, 1, 9, 1, 0, 1, -5, 1, 0, 1]), 6).tolist()
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


def smoothed(y: np.ndarray, width: int) -> np.ndarray:
    """Centred moving average over the known values; gaps stay gaps.

    >>> smoothed(np.array([0.0, 3.0, 0.0, 3.0]), 3).tolist()
    [1.5, 1.0, 2.0, 1.5]
    """
    if width <= 1 or len(y) < 3:
        return y
    known = np.isfinite(y)
    kernel = np.ones(min(width, len(y) - (len(y) + 1) % 2))
    total = np.convolve(np.where(known, y, 0.0), kernel, "same")
    count = np.convolve(known.astype(float), kernel, "same")
    return np.where(known, total / np.maximum(count, 1), np.nan)
