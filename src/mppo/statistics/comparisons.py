"""Two groups of seeds compared: Welch's test, effect size, Holm's correction, seeds needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mppo.statistics.intervals import Interval, Numbers

MOST_SEEDS = 10_000


class Moments(NamedTuple):
    """What a test needs of a group: its mean, standard deviation and size."""

    mean: float
    deviation: float
    n: int

    @classmethod
    def of(cls, values: Numbers) -> Moments:
        """The moments of at least two values."""
        values = np.asarray(values, float)
        return cls(float(values.mean()), float(values.std(ddof=1)), len(values))


class Comparison(NamedTuple):
    """The difference of two means with its interval, p and effect size."""

    difference: Interval
    p: float
    effect: float
    """Cohen's d: the difference over the root of the mean variance."""


def welch(ours: Moments, theirs: Moments, level: float = 0.95) -> Comparison:
    """Welch's test of two groups with unequal variances.

    It starts from moments, for the paper prints no seeds. Where all values of both groups are
    alike there is no variance to test with; p is then that of the permutation test, and the
    interval is the point.

    >>> round(welch(Moments(2.0, 1.0, 6), Moments(0.0, 1.0, 6)).p, 4)
    0.0061
    """
    from scipy.special import stdtr, stdtrit

    difference, effect = ours.mean - theirs.mean, effect_size(ours, theirs)
    squares = [group.deviation**2 / group.n for group in (ours, theirs)]
    error = math.sqrt(sum(squares))
    if error == 0:
        p = 1.0 if difference == 0 else least_p(ours.n, theirs.n)
        return Comparison(Interval(difference, difference, difference), p, effect)
    sizes = (ours.n, theirs.n)
    degrees = error**4 / sum(s**2 / max(n - 1, 1) for s, n in zip(squares, sizes, strict=True))
    p = 2 * float(stdtr(degrees, -abs(difference) / error))
    half = float(stdtrit(degrees, (1 + level) / 2)) * error
    return Comparison(Interval(difference, difference - half, difference + half), p, effect)


def effect_size(ours: Moments, theirs: Moments) -> float:
    """Cohen's d; infinite where groups without variance differ."""
    difference = ours.mean - theirs.mean
    spread = math.sqrt((ours.deviation**2 + theirs.deviation**2) / 2)
    if spread == 0:
        return math.copysign(math.inf, difference) if difference else 0.0
    return difference / spread


def least_p(n: int, m: int) -> float:
    """The smallest p a two-sided rank or permutation test can give: complete separation.

    >>> least_p(3, 3), round(least_p(4, 4), 3)
    (0.1, 0.029)
    """
    return 2 / math.comb(n + m, n)


def fewest_seeds(level: float = 0.05) -> int:
    """Seeds on each side from which an order can be decided at all.

    With fewer, even complete separation has a larger two-sided p.

    >>> fewest_seeds()
    4
    """
    return next(n for n in range(2, 100) if least_p(n, n) < level)


def holm(p_values: Sequence[float]) -> list[float]:
    """P values corrected for their number, step by step (Holm 1979).

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    corrected, largest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        corrected[i] = largest
    return corrected


def power(effect: float, n: Any, level: float = 0.05) -> Any:
    """Probability that a t test with n seeds on each side sees an effect of that size.

    There may be several n in an array (hence `Any`).

    >>> round(float(power(0.8, 26)), 3)
    0.807
    """
    from scipy.special import nctdtr, stdtrit

    degrees, shift = 2 * n - 2, abs(effect) * np.sqrt(n / 2)
    limit = stdtrit(degrees, 1 - level / 2)
    return 1 - (nctdtr(degrees, shift, limit) - nctdtr(degrees, shift, -limit))


def seeds_needed(effect: float, wanted: float = 0.8, level: float = 0.05) -> int | None:
    """Seeds on each side for that power; None if more than 10,000 (there is no effect to see).

    >>> [seeds_needed(d) for d in (2.0, 1.0, 0.8, 0.5, 0.0)]
    [6, 17, 26, 64, None]
    """
    if math.isinf(effect):
        return fewest_seeds(level)
    counts = np.arange(2, MOST_SEEDS + 1)
    enough = counts[power(effect, counts, level) >= wanted]
    return int(enough[0]) if len(enough) else None
