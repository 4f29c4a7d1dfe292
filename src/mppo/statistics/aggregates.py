"""One number for many tasks: interquartile mean, probability of improvement, profiles.

A table of scores is a list with an array of seeds for each task; tasks may differ in their number
of seeds. Intervals are percentiles of a bootstrap that draws seeds within each task (stratified).
After Agarwal et al. 2021, whose package rliable is the oracle in the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mppo.statistics.intervals import CHUNK, RESAMPLES, SEED, Interval

Scores = Sequence[Any]
"""For each task the scores of its seeds."""


def iqm(scores: Any) -> float:
    """Mean of the middle half of all values.

    >>> iqm([0.0, 1.0, 2.0, 100.0])
    1.5
    """
    flat = np.sort(np.asarray(scores, float), axis=None)
    cut = len(flat) // 4
    return float(flat[cut : len(flat) - cut].mean())


def middle_mean(rows: np.ndarray) -> np.ndarray:
    """The interquartile mean of every row."""
    cut = rows.shape[1] // 4
    return np.sort(rows, axis=1)[:, cut : rows.shape[1] - cut].mean(1)


def stratified(
    scores: Scores,
    statistic: Callable[[np.ndarray], np.ndarray] = middle_mean,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Interval:
    """A statistic of all scores with its stratified bootstrap interval.

    `statistic` maps rows of resampled scores [resamples, all seeds of all tasks] to one value each.

    >>> scores = [[0.0, 1.0, 2.0], [10.0, 11.0, 12.0]]
    >>> [round(float(end), 2) for end in stratified(scores, resamples=2000)]
    [6.0, 5.25, 6.75]
    """
    tasks = [np.asarray(task, float) for task in scores]
    rng = np.random.default_rng(seed)
    found = np.empty(resamples)
    for start in range(0, resamples, CHUNK):
        size = min(CHUNK, resamples - start)
        drawn = [task[rng.integers(0, len(task), (size, len(task)))] for task in tasks]
        found[start : start + size] = statistic(np.concatenate(drawn, axis=1))
    estimate = float(statistic(np.concatenate(tasks)[None])[0])
    return Interval(estimate, *_percentiles(found, level))


def probability_of_improvement(
    ours: Scores,
    theirs: Scores,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Interval:
    """How often a run of ours beats one of theirs on the same task, averaged over tasks.

    A draw counts one half. Both tables list the same tasks in the same order.

    >>> [float(end) for end in probability_of_improvement([[2.0, 3.0]], [[1.0, 2.0]])]
    [0.875, 0.5, 1.0]
    """
    beats = [_beats(x, y) for x, y in zip(ours, theirs, strict=True)]
    rng = np.random.default_rng(seed)
    total = np.zeros(resamples)
    for table in beats:
        n, m = table.shape
        mine = rng.multinomial(n, np.full(n, 1 / n), resamples)
        others = rng.multinomial(m, np.full(m, 1 / m), resamples)
        total += np.einsum("rn,nm,rm->r", mine, table, others, optimize=True) / (n * m)
    estimate = float(np.mean([table.mean() for table in beats]))
    return Interval(estimate, *_percentiles(total / len(beats), level))


def _beats(x: Any, y: Any) -> np.ndarray:
    """1 where a value of x exceeds one of y, 1/2 where they are equal."""
    x, y = np.asarray(x, float)[:, None], np.asarray(y, float)[None]
    return (x > y) + 0.5 * (x == y)


def performance_profile(scores: Scores, thresholds: Any) -> np.ndarray:
    """The share of all runs with a score above each threshold.

    >>> performance_profile([[0.0, 1.0], [2.0, 3.0]], [0.5, 2.5]).tolist()
    [0.75, 0.25]
    """
    flat = np.concatenate([np.asarray(task, float) for task in scores])
    return (flat[None] > np.asarray(thresholds, float)[:, None]).mean(1)


def profile_interval(
    scores: Scores, threshold: float, level: float = 0.95, resamples: int = RESAMPLES
) -> Interval:
    """One point of a performance profile with its stratified bootstrap interval."""
    return stratified(scores, lambda rows: (rows > threshold).mean(1), level, resamples)


def _percentiles(values: np.ndarray, level: float) -> tuple[float, float]:
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
