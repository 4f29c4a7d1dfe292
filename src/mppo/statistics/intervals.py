"""Intervals for one quantity of one method: Student's t and Wilson's.

SciPy is imported at the first use, so that a command without statistics does not load it, and
`scipy.special` where it suffices: `scipy.stats`, which is built on it, takes a second to load.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

SEED = 20191104
"""Seed of every bootstrap: fixed, and printed with every result."""
RESAMPLES = 50_000
PAPER_LEVEL = 0.5  # of the interval behind the paper's brackets
Numbers = Sequence[float] | np.ndarray


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


def t_half_width(deviation: Any, n: Any, level: float = 0.95) -> Any:
    """Half the width of the t interval around the mean of n values with this standard deviation.

    Both may be arrays (hence `Any`). The width is not a number where n is below 2.

    >>> round(float(t_half_width(1.0, 6)), 4), float(t_half_width(1.0, 1))
    (1.0494, nan)
    """
    from scipy.special import stdtrit

    return stdtrit(np.asarray(n) - 1.0, (1 + level) / 2) * (deviation / np.sqrt(n))


def t_interval(values: Numbers, level: float = 0.95) -> Interval:
    """The mean with its two-sided t interval: exact for normal values, fair for most others.

    >>> [round(end, 3) for end in t_interval([1.0, 2.0, 3.0])]
    [2.0, -0.484, 4.484]
    """
    values = np.asarray(values, float)
    mean, half = float(values.mean()), math.nan
    if len(values) > 1:
        half = float(t_half_width(values.std(ddof=1), len(values), level))
    return Interval(mean, mean - half, mean + half)


def paper_bracket(values: Numbers) -> float:
    """The number the paper prints in brackets behind a mean: t(0.75) s / sqrt(n).

    No other usual interval fits its entries of tasks with returns of 0 or 1 (decision 0030). It is
    half the width of a 50 % interval.

    >>> round(paper_bracket([1.0, 1.0, 1.0, 1.0, 1.0, 0.0]), 2)  # printed: 0.83 (0.12)
    0.12
    """
    return t_interval(values, PAPER_LEVEL).half_width


def wilson_interval(successes: int, n: int, level: float = 0.95) -> Interval:
    """A fraction of successes with Wilson's interval, which holds for few trials and at 0 and n.

    >>> [round(end, 3) for end in wilson_interval(5, 6)]
    [0.833, 0.436, 0.97]
    """
    from scipy.stats import binomtest

    ends = binomtest(successes, n).proportion_ci(level, "wilson")
    return Interval(successes / n, float(ends.low), float(ends.high))
