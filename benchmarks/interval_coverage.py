"""How often the printed intervals hold what they promise: `python benchmarks/interval_coverage.py`.

Simulated experiments with known truth, seeds of an algorithm drawn from four distributions that
returns look like. Prints the two tables of docs/statistics.md.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mppo.report.document import markdown_table
from mppo.statistics.aggregates import beats, resampled_wins
from mppo.statistics.comparisons import least_p
from mppo.statistics.intervals import SEED, t_half_width

LEVELS = (0.75, 0.95)
CHUNK = 200  # experiments at a time
Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


class Population(NamedTuple):
    """A distribution of seeds with its true mean."""

    name: str
    mean: float
    draw: Draw


POPULATIONS = (
    Population("normal", 0.0, lambda rng, shape: rng.standard_normal(shape)),
    Population("lognormal (σ = 1)", math.exp(0.5), lambda rng, shape: rng.lognormal(size=shape)),
    Population("success or failure 50:50", 0.5, lambda rng, s: (rng.random(s) < 0.5) * 1.0),
    Population("success or failure 25:75", 0.25, lambda rng, s: (rng.random(s) < 0.25) * 1.0),
)


class Ends(NamedTuple):
    """Lower and upper ends of the intervals of many experiments."""

    low: np.ndarray
    high: np.ndarray

    def hold(self, truth: float) -> float:
        """The share that contains the truth."""
        return float(np.mean((self.low <= truth) & (truth <= self.high)))

    def apart(self, other: Ends) -> float:
        """The share that does not overlap the other's."""
        return float(np.mean((self.low > other.high) | (other.low > self.high)))


def intervals(samples: np.ndarray, resamples: int, rng: np.random.Generator) -> dict[str, Ends]:
    """The t and the percentile bootstrap intervals of the mean of each row."""
    experiments, n = samples.shape
    mean, deviation = samples.mean(1), samples.std(1, ddof=1)
    quantiles = [p for level in LEVELS for p in ((1 - level) / 2, (1 + level) / 2)]
    ends = np.empty((len(quantiles), experiments))
    for start in range(0, experiments, CHUNK):
        rows = samples[start : start + CHUNK]
        index = rng.integers(0, n, (len(rows), resamples, n))
        means = np.take_along_axis(rows[:, None], index, 2).mean(2)
        ends[:, start : start + CHUNK] = np.quantile(means, quantiles, axis=1)
    found = {}
    for i, level in enumerate(LEVELS):
        half = t_half_width(deviation, n, level)
        found[f"bootstrap {100 * level:.0f} %"] = Ends(ends[2 * i], ends[2 * i + 1])
        found[f"t {100 * level:.0f} %"] = Ends(mean - half, mean + half)
    return found


def covered(population: Population, n: int, experiments: int, resamples: int) -> dict[str, float]:
    """The share of intervals with the true mean in them."""
    rng = np.random.default_rng(SEED)
    found = intervals(population.draw(rng, (experiments, n)), resamples, rng)
    return {name: ends.hold(population.mean) for name, ends in found.items()}


def told_apart(
    population: Population, n: int, experiments: int, resamples: int
) -> dict[str, float]:
    """How often two groups of seeds of one and the same algorithm seem to differ."""
    rng = np.random.default_rng(SEED)
    one, two = (population.draw(rng, (experiments, n)) for _ in range(2))
    first, second = intervals(one, resamples, rng), intervals(two, resamples, rng)
    return {
        **{name: ends.apart(second[name]) for name, ends in first.items()},
        "Welch p < 0.05": float(np.mean(_welch_p(one, two) < 0.05)),
        "P(improvement) excludes 1/2": _improvement_excludes(one, two, resamples, rng),
    }


def _welch_p(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """P of Welch's test of each row; of the permutation test where there is no variance."""
    from scipy.stats import ttest_ind_from_stats

    n = one.shape[1]
    moments = [(rows.mean(1), rows.std(1, ddof=1), n) for rows in (one, two)]
    p = ttest_ind_from_stats(*moments[0], *moments[1], equal_var=False).pvalue
    separated = np.where(moments[0][0] == moments[1][0], 1.0, least_p(n, n))
    return np.where(moments[0][1] + moments[1][1] > 0, p, separated)


def _improvement_excludes(
    one: np.ndarray, two: np.ndarray, resamples: int, rng: np.random.Generator
) -> float:
    excluded = 0
    for ours, theirs in zip(one, two, strict=True):
        drawn = resampled_wins(beats(ours, theirs), resamples, rng)
        low, high = np.quantile(drawn, [0.025, 0.975])
        excluded += low > 0.5 or high < 0.5
    return excluded / len(one)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser("python benchmarks/interval_coverage.py", description=__doc__)
    parser.add_argument("--experiments", type=int, default=4000)
    parser.add_argument("--resamples", type=int, default=1000)
    options = parser.parse_args()
    cases = [(population, 6) for population in POPULATIONS]
    cases += [(POPULATIONS[0], n) for n in (3, 4, 5, 10, 20)]
    for measure in (covered, told_apart):
        shares = [measure(p, n, options.experiments, options.resamples) for p, n in cases]
        rows = [
            [str(n), population.name, *(f"{100 * share:.1f} %" for share in row.values())]
            for (population, n), row in zip(cases, shares, strict=True)
        ]
        print(*markdown_table(["n", "distribution of seeds", *shares[0]], rows), "", sep="\n")


if __name__ == "__main__":
    main()
