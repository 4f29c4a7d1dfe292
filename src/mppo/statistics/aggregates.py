"""One number for many tasks: interquartile mean and probability of improvement.

A table of scores is a list with an array of seeds for each task; tasks may differ in their number
of seeds. Intervals are percentiles of a bootstrap that draws seeds within each task (stratified).
After Agarwal et al. 2021, whose package rliable is the oracle in the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mppo.statistics.intervals import RESAMPLES, SEED, Interval, Numbers

CHUNK = 10_000  # resamples held in memory at a time
Scores = Sequence[Numbers]
"""For each task the scores of its seeds."""


def iqm(scores: np.ndarray) -> Any:
    """Mean of the middle half of the values, which are the last axis.

    >>> iqm(np.array([[0.0, 1.0, 2.0, 100.0], [0.0, 0.0, 4.0, 4.0]])).tolist()
    [1.5, 2.0]
    """
    from scipy.stats import trim_mean

    return trim_mean(scores, 0.25, axis=-1)


def stratified(
    scores: Scores,
    statistic: Callable[[np.ndarray], np.ndarray] = iqm,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Interval:
    """A statistic of all scores with its stratified bootstrap interval.

    `statistic` maps rows of resampled scores [resamples, all seeds of all tasks] to one value each.

    >>> scores = [[0.0, 1.0, 2.0], [10.0, 11.0, 12.0]]
    >>> [round(float(end), 2) for end in stratified(scores, resamples=2000)]
    [6.0, 5.25, 6.75]
    """
    tasks = [np.asarray(task, float) for task in scores]
    rng = np.random.default_rng(SEED)
    values = np.empty(resamples)
    for start in range(0, resamples, CHUNK):
        size = min(CHUNK, resamples - start)
        drawn = [task[rng.integers(0, len(task), (size, len(task)))] for task in tasks]
        values[start : start + size] = statistic(np.concatenate(drawn, axis=1))
    estimate = float(statistic(np.concatenate(tasks)[None])[0])
    return _percentile_interval(estimate, values, level)


def probability_of_improvement(
    ours: Scores, theirs: Scores, level: float = 0.95, resamples: int = RESAMPLES
) -> Interval:
    """How often a run of ours beats one of theirs on the same task, averaged over tasks.

    A draw counts one half. Both tables list the same tasks in the same order.

    >>> [float(end) for end in probability_of_improvement([[2.0, 3.0]], [[1.0, 2.0]])]
    [0.875, 0.5, 1.0]
    """
    wins = [beats(x, y) for x, y in zip(ours, theirs, strict=True)]
    rng = np.random.default_rng(SEED)
    total = np.zeros(resamples)
    for table in wins:
        total += resampled_wins(table, resamples, rng)
    estimate = float(np.mean([table.mean() for table in wins]))
    return _percentile_interval(estimate, total / len(wins), level)


def beats(x: Numbers, y: Numbers) -> np.ndarray:
    """1 where a value of x [n] exceeds one of y [m], 1/2 where they are equal: [n, m]."""
    x, y = np.asarray(x, float)[:, None], np.asarray(y, float)[None]
    return (x > y) + 0.5 * (x == y)


def resampled_wins(table: np.ndarray, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """The mean of a table of wins for resampled seeds on both sides, once for each resample."""
    n, m = table.shape
    rows = rng.multinomial(n, np.full(n, 1 / n), resamples)
    columns = rng.multinomial(m, np.full(m, 1 / m), resamples)
    return np.einsum("rn,nm,rm->r", rows, table, columns, optimize=True) / (n * m)


def _percentile_interval(estimate: float, values: np.ndarray, level: float) -> Interval:
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Interval(estimate, float(low), float(high))
