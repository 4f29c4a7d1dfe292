"""How often the printed intervals hold what they promise: `python -m mppo.statistics.coverage`.

Simulated experiments with known truth, seeds of an algorithm drawn from four distributions that
returns look like. Prints the two tables of docs/statistics.md.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mppo.statistics.intervals import SEED, t_quantile

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
CHUNK = 200  # experiments at a time


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


def t_ends(samples: np.ndarray, level: float) -> Ends:
    """The t intervals of the rows."""
    n = samples.shape[1]
    half = t_quantile((1 + level) / 2, n - 1) * samples.std(1, ddof=1) / math.sqrt(n)
    return Ends(samples.mean(1) - half, samples.mean(1) + half)


def bootstrap_ends(
    samples: np.ndarray, levels: tuple[float, ...], resamples: int, rng: np.random.Generator
) -> list[Ends]:
    """The percentile bootstrap intervals of the rows, one set for each level."""
    experiments, n = samples.shape
    ends = np.empty((2 * len(levels), experiments))
    wanted = [p for level in levels for p in ((1 - level) / 2, (1 + level) / 2)]
    for start in range(0, experiments, CHUNK):
        rows = samples[start : start + CHUNK]
        index = rng.integers(0, n, (len(rows), resamples, n))
        means = np.take_along_axis(rows[:, None], index, 2).mean(2)
        ends[:, start : start + CHUNK] = np.quantile(means, wanted, axis=1)
    return [Ends(ends[2 * i], ends[2 * i + 1]) for i in range(len(levels))]


def covered(population: Population, n: int, experiments: int, resamples: int) -> dict[str, float]:
    """The share of intervals with the true mean in them."""
    rng = np.random.default_rng(SEED)
    samples = population.draw(rng, (experiments, n))
    loose, strict = bootstrap_ends(samples, (0.75, 0.95), resamples, rng)
    return {
        "bootstrap 75 %": loose.hold(population.mean),
        "t 75 %": t_ends(samples, 0.75).hold(population.mean),
        "bootstrap 95 %": strict.hold(population.mean),
        "t 95 %": t_ends(samples, 0.95).hold(population.mean),
    }


def told_apart(population: Population, n: int, experiments: int, resamples: int) -> dict:
    """How often two groups of seeds of one and the same algorithm seem to differ."""
    rng = np.random.default_rng(SEED)
    one, two = (population.draw(rng, (experiments, n)) for _ in range(2))
    first = bootstrap_ends(one, (0.75, 0.95), resamples, rng)
    second = bootstrap_ends(two, (0.75, 0.95), resamples, rng)
    return {
        "bootstrap 75 %": first[0].apart(second[0]),
        "t 75 %": t_ends(one, 0.75).apart(t_ends(two, 0.75)),
        "bootstrap 95 %": first[1].apart(second[1]),
        "t 95 %": t_ends(one, 0.95).apart(t_ends(two, 0.95)),
        "Welch p < 0.05": float(np.mean(_welch_p(one, two) < 0.05)),
        "P(improvement) excludes 1/2": _improvement_excludes(one, two, resamples, rng),
    }


def _welch_p(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    from scipy.special import stdtr

    n = one.shape[1]
    a, b = one.var(1, ddof=1) / n, two.var(1, ddof=1) / n
    error = np.sqrt(a + b)
    safe = np.where(error > 0, error, 1.0)
    degrees = np.where(error > 0, (a + b) ** 2 * (n - 1) / np.where(error > 0, a**2 + b**2, 1), 1.0)
    p = 2 * stdtr(degrees, -np.abs(one.mean(1) - two.mean(1)) / safe)
    alike = one.mean(1) == two.mean(1)
    return np.where(error > 0, p, np.where(alike, 1.0, 2 / math.comb(2 * n, n)))


def _improvement_excludes(one, two, resamples: int, rng: np.random.Generator) -> float:
    n = one.shape[1]
    excluded = 0
    beats = (one[:, :, None] > two[:, None]) + 0.5 * (one[:, :, None] == two[:, None])
    for table in beats:
        mine = rng.multinomial(n, np.full(n, 1 / n), resamples)
        others = rng.multinomial(n, np.full(n, 1 / n), resamples)
        drawn = ((mine @ table) * others).sum(1) / n**2
        low, high = np.quantile(drawn, [0.025, 0.975])
        excluded += low > 0.5 or high < 0.5
    return excluded / len(beats)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser("python -m mppo.statistics.coverage", description=__doc__)
    parser.add_argument("--experiments", type=int, default=4000)
    parser.add_argument("--resamples", type=int, default=1000)
    given = parser.parse_args()
    cases = [(POPULATIONS[0], n) for n in (3, 4, 5, 10, 20)]
    cases = [(population, 6) for population in POPULATIONS] + cases
    for measure in (covered, told_apart):
        found = [(n, p.name, measure(p, n, given.experiments, given.resamples)) for p, n in cases]
        print("| n | distribution of seeds | " + " | ".join(found[0][2]) + " |")
        print("|" + "---|" * (2 + len(found[0][2])))
        for n, name, shares in found:
            cells = " | ".join(f"{100 * share:.1f} %" for share in shares.values())
            print(f"| {n} | {name} | {cells} |")
        print()


if __name__ == "__main__":
    main()
