"""Intervals for one quantity of one method: t, bootstrap, Wilson.

SciPy gives the quantiles; it is imported at the first use.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

SEED = 20191104
"""Seed of every bootstrap: fixed, and printed with every result."""
RESAMPLES = 50_000
CHUNK = 10_000  # resamples held in memory at a time


class Interval(NamedTuple):
    """An estimate with the ends of its interval; ends that cannot be known are NaN."""

    estimate: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half the distance of the ends."""
        return (self.high - self.low) / 2

    def contains(self, value: float, slack: float = 0.0) -> bool:
        """Whether a value lies between the ends, or at most `slack` outside."""
        return self.low - slack <= value <= self.high + slack


def t_quantile(probability: float, degrees: float) -> float:
    """The quantile of Student's t distribution.

    >>> round(t_quantile(0.975, 5), 4)
    2.5706
    """
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))


def normal_quantile(probability: Any) -> Any:
    """The quantile of the normal distribution."""
    from scipy.special import ndtri

    return ndtri(probability)


def standard_error(values: np.ndarray) -> float:
    """Standard error of the mean; NaN for a single value."""
    return float(np.std(values, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan


def t_interval(values: Any, level: float = 0.95) -> Interval:
    """Mean and two-sided t interval: exact for normal values, fair for most others.

    >>> [round(end, 3) for end in t_interval([1.0, 2.0, 3.0])]
    [2.0, -0.484, 4.484]
    """
    values = np.asarray(values, float)
    mean = float(values.mean())
    if len(values) < 2:
        return Interval(mean, math.nan, math.nan)
    half = t_quantile((1 + level) / 2, len(values) - 1) * standard_error(values)
    return Interval(mean, mean - half, mean + half)


def paper_bracket(values: Any) -> float:
    """The number the paper prints in brackets behind a mean: t(0.75) s / sqrt(n).

    No other usual interval fits its entries of tasks with returns of 0 or 1 (decision 0030). It is
    half the width of a 50 % interval.

    >>> round(paper_bracket([1.0, 1.0, 1.0, 1.0, 1.0, 0.0]), 2)  # printed: 0.83 (0.12)
    0.12
    """
    values = np.asarray(values, float)
    if len(values) < 2:
        return math.nan
    return t_quantile(0.75, len(values) - 1) * standard_error(values)


def resampled_means(values: np.ndarray, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Means of resamples with replacement, in chunks."""
    n, means = len(values), np.empty(resamples)
    for start in range(0, resamples, CHUNK):
        size = min(CHUNK, resamples - start)
        means[start : start + size] = values[rng.integers(0, n, (size, n))].mean(1)
    return means


def bootstrap_interval(
    values: Any,
    level: float = 0.95,
    method: str = "percentile",
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Interval:
    """Mean with a percentile or BCa bootstrap interval; too narrow with few values.

    >>> low = bootstrap_interval([0.0, 0.0, 1.0, 1.0], resamples=2000).low
    >>> float(low)
    0.0
    """
    values = np.asarray(values, float)
    mean = float(values.mean())
    if len(values) < 2:
        return Interval(mean, math.nan, math.nan)
    if np.ptp(values) == 0:
        return Interval(mean, mean, mean)
    means = resampled_means(values, resamples, np.random.default_rng(seed))
    ends = np.array([(1 - level) / 2, (1 + level) / 2])
    if method == "bca":
        ends = _bca_ends(values, means, ends)
    elif method != "percentile":
        raise ValueError(f'method is "{method}"; it must be "percentile" or "bca"')
    low, high = np.quantile(means, ends)
    return Interval(mean, float(low), float(high))


def _bca_ends(values: np.ndarray, means: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Percentiles corrected for bias and skewness (Efron 1987)."""
    from scipy.special import ndtr

    below = np.mean(means < values.mean()) + np.mean(means == values.mean()) / 2
    bias = normal_quantile(np.clip(below, 1 / len(means), 1 - 1 / len(means)))
    left_out = (values.sum() - values) / (len(values) - 1)
    spread = left_out.mean() - left_out
    skew = (spread**3).sum() / (6 * (spread**2).sum() ** 1.5)
    shifted = bias + normal_quantile(ends)
    return ndtr(bias + shifted / (1 - skew * shifted))


def wilson_interval(successes: int, n: int, level: float = 0.95) -> Interval:
    """A fraction of successes with Wilson's interval, which holds for few trials and at 0 and n.

    >>> [round(end, 3) for end in wilson_interval(5, 6)]
    [0.833, 0.436, 0.97]
    """
    if not 0 <= successes <= n or n < 1:
        raise ValueError(f"{successes} successes of {n}; give 0 ... n of at least 1")
    z = float(normal_quantile((1 + level) / 2))
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return Interval(share, max(0.0, centre - half), min(1.0, centre + half))
