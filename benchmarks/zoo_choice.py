"""Which settings the zoo takes, by the rule of benchmarks/zoo/README.md.

    python benchmarks/zoo_choice.py DIR [--out docs/results/zoo-choice.md]

DIR holds the grids of the sweeps in benchmarks/zoo, or compact copies of them.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

import numpy as np

from mppo.algorithm.methods import METHODS
from mppo.experiments.collection import Record, collect
from mppo.files import settings
from mppo.files.changes import differences
from mppo.report.document import markdown_table
from mppo.statistics.scores import final_score

SEEDS = 3
HEADER = ["setting", "most likely actions", "each seed", "chosen"]
PAGE = """\
# Settings that the zoo takes

Written by `python benchmarks/zoo_choice.py results/sweeps/zoo-choice --out
docs/results/zoo-choice.md`; no number is typed in here. Seeds 100-102, the mean of the last tenth
of the evaluations with the most likely actions. The highest mean of a task is chosen once every
setting has its three seeds (the rule: `benchmarks/zoo/README.md`); what is chosen is measured on
other seeds ([the zoo](zoo.md))."""


def told(record: Record) -> str:
    """The fields in which a run differs from its method, in words."""
    usual = settings.to_json(METHODS[record.method])
    changes = differences(usual, record.settings)
    return " ".join(f"{name}={value}" for name, value in changes.items()) or "as it is"


def final(record: Record) -> float:
    """The final score of a run with the most likely actions."""
    returns = [row["mean_return_deterministic"] for row in record.evaluations()]
    return float(final_score(np.array(returns, float)))


def rows_of(runs: Sequence[Record]) -> list[list[str]]:
    """Rows of one task and method, the best first; the choice is marked once all runs are there."""
    scores: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        scores[told(run)] += [final(run)] if run.finished else []
    done = {setting: some for setting, some in scores.items() if some}
    order = sorted(done, key=lambda setting: -mean(done[setting]))
    complete = all(len(some) == SEEDS for some in scores.values())
    return [
        [
            setting,
            f"{mean(done[setting]):.1f}",
            " ".join(f"{score:.1f}" for score in done[setting]),
            "yes" if complete and setting == order[0] else "",
        ]
        for setting in order
    ]


def page(root: Path) -> str:
    """All tasks and methods below a directory."""
    tasks: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in collect(root):
        arguments = "".join(f" {name}={value}" for name, value in record.env_kwargs.items())
        tasks[record.env + arguments, record.method].append(record)
    lines = [PAGE]
    for (task, method), runs in sorted(tasks.items()):
        lines += ["", f"## {method} on {task}", "", *markdown_table(HEADER, rows_of(runs))]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print or write the page."""
    parser = argparse.ArgumentParser("python benchmarks/zoo_choice.py", description=__doc__)
    parser.add_argument("runs", type=Path, metavar="DIR")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    text = page(given.runs)
    if given.out is None:
        print(text, end="")
    else:
        given.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
