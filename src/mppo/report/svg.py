"""Curves of several seeds on one axis, and how they are drawn: SVG strings from numbers."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mppo.report.text import Visible
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
    masked = np.ma.masked_invalid(table)
    count, mean = masked.count(0), masked.mean(0).filled(np.nan)
    deviation = masked.std(0, ddof=1).filled(np.nan)
    half = t_half_width(deviation, np.where(count >= FEWEST, count, np.nan))
    return Summary(x, mean, mean - half, mean + half, count)


def common_part(summary: Summary, lines: list[Line]) -> Summary:
    """The part before the first of the curves ends: beyond it the mean would be of others.

    >>> ten = np.arange(10.0)
    >>> lines = [Line(ten, ten), Line(ten[:4], ten[:4])]
    >>> common_part(summarise(lines), lines).x.tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    inside = summary.x <= min((line.x[-1] for line in lines if len(line.x)), default=np.inf)
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


class Scale(NamedTuple):
    """Values low ... high onto 0 ... length; upwards if `flipped`."""

    low: float
    high: float
    length: float
    flipped: bool = False
    log: bool = False

    def __call__(self, values: np.ndarray | float) -> np.ndarray:
        """Where the values lie.

        >>> Scale(0, 10, 100, flipped=True)(2.5).item(), Scale(1, 100, 100, log=True)(10.0).item()
        (75.0, 50.0)
        """
        low, high, at = self.low, self.high, np.asarray(values, float)
        if self.log:
            low, high = math.log10(low), math.log10(high)
            at = np.log10(np.where(at > 0, at, np.nan))
        part = (at - low) / (high - low)
        return self.length * ((1 - part) if self.flipped else part)

    def ticks(self, about: int) -> list[float]:
        """Round values, about that many.

        >>> Scale(0, 1, 100).ticks(5)
        [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        >>> Scale(0.5, 2000, 100, log=True).ticks(5)
        [1.0, 10.0, 100.0, 1000.0]
        """
        if self.log:
            first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            stride = max(1, math.ceil((last - first + 1) / (about + 1)))
            found = [10.0**power for power in range(first, last + 1, stride)]
            if len(found) > 1:
                return found
        rough = (self.high - self.low) / about
        unit = 10.0 ** math.floor(math.log10(rough))
        step = next(m * unit for m in (1, 2, 5, 10) if m * unit >= 0.7 * rough)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [float(f"{n * step:.12g}") for n in range(first, last + 1)]


def fit_scale(values: np.ndarray, length: float, from_zero: bool = False) -> Scale:
    """A vertical scale that shows all the values with a little room.

    >>> fit_scale(np.array([0.0, 10.0]), 100)
    Scale(low=-0.4, high=10.4, length=100, flipped=True, log=False)
    """
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    if from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
        middle = abs(low) or 1.0
        low, high = low - 0.1 * middle, high + 0.1 * middle
    room = 0.04 * (high - low)
    low = low if from_zero and low == 0 else low - room
    return Scale(low, high + room, length, flipped=True)


def fit_log_scale(values: np.ndarray, length: float) -> Scale | None:
    """A logarithmic scale where the values call for one: positive, over two powers of ten."""
    known = values[np.isfinite(values)]
    if not len(known) or known.min() <= 0 or known.max() < 100 * known.min():
        return None
    low, high = float(known.min()), float(known.max())
    room = (high / low) ** 0.04
    return Scale(low / room, high * room, length, flipped=True, log=True)


def coordinate(number: float) -> str:
    """A coordinate, to a tenth.

    >>> coordinate(12.04), coordinate(3.25), coordinate(-0.01)
    ('12', '3.2', '0')
    """
    text = f"{number:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def line_path(line: Line, x: Scale, y: Scale, limit: int) -> Visible:
    """A curve as path data; it is broken where nothing is known."""
    keep = kept_points(line.y, limit)
    across, up = x(line.x[keep]), y(line.y[keep])
    points = [f"{coordinate(a)} {coordinate(b)}" for a, b in zip(across, up, strict=True)]
    spans = stretches(np.isfinite(up))
    return Visible("".join(f"M{'L'.join(points[a:b])}" for a, b in spans))


def band_path(summary: Summary, x: Scale, y: Scale, limit: int) -> Visible:
    """The area between low and high, as one outline for each stretch without a gap."""
    keep = kept_points(summary.mean, limit)
    at, low, high = (
        list(map(coordinate, scale(values[keep]).tolist()))
        for scale, values in ((x, summary.x), (y, summary.low), (y, summary.high))
    )
    outlines = []
    for a, b in stretches(np.isfinite(summary.low[keep]) & np.isfinite(summary.high[keep])):
        if b - a > 1:
            there = [f"{at[i]} {high[i]}" for i in range(a, b)]
            back = [f"{at[i]} {low[i]}" for i in range(b - 1, a - 1, -1)]
            outlines.append(f"M{'L'.join(there + back)}z")
    return Visible("".join(outlines))


def blocks(there: np.ndarray, width: float, top: float, height: float) -> Visible:
    """The cells of a row that are set, neighbours joined.

    >>> blocks(np.array([0, 1, 1, 0, 1], bool), 2, 3, 1)
    'M2 3h4v1h-4zM8 3h2v1h-2z'
    """
    edges = [(coordinate(a * width), coordinate((b - a) * width)) for a, b in stretches(there)]
    return Visible("".join(f"M{start} {top}h{long}v{height}h-{long}z" for start, long in edges))


def spread_apart(places: list[float], gap: float, low: float, high: float) -> list[float]:
    """The places moved as little as needed to lie a gap apart, within low ... high.

    >>> spread_apart([50.0, 52.0, 10.0], 10, 0, 100)
    [46.0, 56.0, 10.0]
    """
    from scipy.optimize import isotonic_regression  # slow to import, and only a page needs it

    order = np.argsort(places, kind="stable")
    offsets = gap * np.arange(len(places))
    moved = np.empty(len(places))
    near = isotonic_regression(np.asarray(places)[order] - offsets).x
    moved[order] = np.clip(near, low, max(low, high - offsets[-1])) + offsets
    return moved.tolist()


def stretches(there: np.ndarray) -> list[tuple[int, int]]:
    """Where neighbours are set.

    >>> stretches(np.array([0, 1, 1, 0, 1], bool))
    [(1, 3), (4, 5)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[0], there.astype(int), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
