"""What rliable says of 200 random score tables: `python tests/oracles_rliable.py` writes it down.

rliable is in no lock file of this project (some of its dependencies come without wheels). Run this
with an interpreter that has it; the tests compare with the file it wrote, tests/rliable.json.
"""

import json
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("rliable.json")
TABLES = 200


def score_tables():
    """Pairs of score tables [runs, tasks] of many shapes; every third has ties."""
    rng = np.random.default_rng(7)
    for i in range(TABLES):
        runs, others, tasks = rng.integers((1, 1, 1), (13, 13, 11))
        ours = rng.normal(0.2, 1.0, (runs, tasks))
        theirs = rng.normal(0.0, 1.5, (others, tasks))
        yield (ours.round(), theirs.round()) if i % 3 == 0 else (ours, theirs)


def answers():
    """Interquartile mean and probability of improvement of each pair, by rliable."""
    from rliable import metrics

    found = []
    for ours, theirs in score_tables():
        found.append(
            [
                float(metrics.aggregate_iqm(ours)),
                float(metrics.probability_of_improvement(ours, theirs)),
            ]
        )
    return found


def intervals(tables=6, resamples=4000):
    """Ends of its 95 % stratified bootstrap intervals: of the mean of the middle, and of P."""
    from rliable import library, metrics

    np.random.seed(0)  # the only seed that rliable heeds
    found = []
    for ours, theirs in list(score_tables())[1 : 1 + tables]:
        _, middle = library.get_interval_estimates(
            {"x": ours}, lambda x: np.array([metrics.aggregate_iqm(x)]), reps=resamples
        )
        _, chance = library.get_interval_estimates(
            {"x": (ours, theirs)},
            lambda x, y: np.array([metrics.probability_of_improvement(x, y)]),
            reps=resamples,
        )
        ends = [*middle["x"].ravel(), *chance["x"].ravel()]
        found.append([round(float(end), 4) for end in ends])
    return found


if __name__ == "__main__":
    rounded = [[round(value, 12) for value in row] for row in answers()]
    data = {"rliable": "1.2.0", "tables": TABLES, "answers": rounded, "intervals": intervals()}
    FILE.write_text(json.dumps(data, separators=(",", ":")) + "\n")
