"""Computed verdicts: reproduced, not resolved at n seeds, contradicted (decision 0030)."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from mppo.paper.printed import Value
from mppo.statistics.aggregates import Scores, probability_of_improvement
from mppo.statistics.comparisons import Moments, fewest_seeds, welch
from mppo.statistics.intervals import Interval, Numbers, t_interval

Word = Literal["missing", "contradicted", "not resolved", "reproduced"]
WORST_FIRST: tuple[Word, ...] = ("missing", "contradicted", "not resolved", "reproduced")

SHARP = 0.2
"""Of the task's scale: the widest half interval that still says something of a value."""
NEAR = 0.05
"""Of the task's scale: a difference that does not matter."""
LEVEL = 0.95


class Verdict(NamedTuple):
    """A word, and why."""

    word: Word
    seeds: int
    reason: str = ""

    def __str__(self) -> str:
        word = f"not resolved at {self.seeds} seeds" if self.word == "not resolved" else self.word
        word = word.replace(" 1 seeds", " 1 seed")
        return f"{word}: {self.reason}" if self.reason else word


def judge_value(finals: Numbers, printed: Value, scale: float, steps: tuple[int, int]) -> Verdict:
    """Whether our mean is the paper's.

    `scale` is the best printed value of the task; `steps` are those of our runs and those of the
    task's budget: shorter runs decide nothing.

    >>> value = Value(1.00, 0.00)
    >>> str(judge_value([1.0, 1.0, 0.99, 1.0], value, 1.0, (10, 10)))
    'reproduced'
    >>> str(judge_value([0.0, 0.1, 0.0, 0.0], value, 1.0, (10, 10)))
    'contradicted: by -0.97 [-1.05, -0.90]'
    >>> str(judge_value([0.0, 1.0, 1.0, 1.0], value, 1.0, (10, 10)))
    'not resolved at 4 seeds: the interval is too wide (±0.80)'
    """
    finals = np.asarray(finals, float)
    n = len(finals)
    if n == 0:
        return Verdict("missing", 0)
    if n == 1:
        return Verdict("not resolved", 1, "one seed has no interval")
    if steps[0] < steps[1]:
        return Verdict("not resolved", n, f"{steps[0]:,} of {steps[1]:,} steps")
    ours = t_interval(finals, LEVEL)
    sharp = ours.half_width <= SHARP * scale
    near = abs(ours.estimate - printed.mean) <= NEAR * scale
    if sharp and (near or ours.contains(printed.mean, printed.rounding)):
        return Verdict("reproduced", n)
    difference = welch(Moments.of(finals), printed.moments, LEVEL).difference
    if not near and not ours.contains(printed.mean) and not difference.contains(0.0):
        low, high = (end if abs(end) >= 0.005 else 0.0 for end in difference[1:])
        why = f"by {difference.estimate:+.2f} [{low:+.2f}, {high:+.2f}]"
        return Verdict("contradicted", n, why)
    if not sharp:
        return Verdict("not resolved", n, f"the interval is too wide (±{ours.half_width:.2f})")
    return Verdict("not resolved", n, "the paper's own error allows it")


def judge_order(ours: Scores, theirs: Scores) -> tuple[Interval | None, Verdict]:
    """Whether our runs beat theirs over these tasks, with the probability of improvement."""
    seeds = min((len(task) for task in [*ours, *theirs]), default=0)
    if seeds == 0:
        return None, Verdict("missing", 0)
    chance = probability_of_improvement(ours, theirs, LEVEL)
    if seeds < fewest_seeds():
        return chance, Verdict("not resolved", seeds, f"needs {fewest_seeds()} seeds")
    above, below = chance.low > 0.5, chance.high < 0.5
    word = "reproduced" if above else "contradicted" if below else "not resolved"
    return chance, Verdict(word, seeds)
