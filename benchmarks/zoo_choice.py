"""Which settings the zoo takes, by the rule of benchmarks/zoo/README.md.

    python benchmarks/zoo_choice.py DIR [--out docs/results/zoo-choice.md] [--enter]

DIR holds the grids of the sweeps in benchmarks/zoo, or compact copies of them. --enter writes what
is chosen into the package's tuned.toml; `mppo zoo run` then measures it.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from math import inf
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from mppo.algorithm.methods import METHODS, Method
from mppo.experiments.collection import Record, collect
from mppo.files import settings, tuned
from mppo.files.changes import differences
from mppo.report.document import markdown_table
from mppo.statistics.scores import final_score

SEEDS = 3
SOURCE = "mppo's own: chosen on seeds 100-102 (docs/results/zoo-choice.md)"
HEADER = ["setting", "most likely actions", "each seed", "chosen"]
PAGE = """\
# Settings that the zoo takes

Written by `python benchmarks/zoo_choice.py results/sweeps/zoo-choice --out
docs/results/zoo-choice.md`; no number is typed in here. Seeds 100-102, the mean of the last tenth
of the evaluations with the most likely actions. The highest mean of a task is chosen once every
setting has its three seeds (the rule: `benchmarks/zoo/README.md`); what is chosen is measured on
other seeds ([the zoo](zoo.md))."""


def changed(record: Record) -> dict[str, Any]:
    """The fields in which a run differs from its method."""
    return differences(settings.to_json(METHODS[record.method]), record.settings)


def told(record: Record) -> str:
    """The same in words."""
    return " ".join(f"{name}={value}" for name, value in changed(record).items()) or "as it is"


def final(record: Record) -> float:
    """The final score of a run with the most likely actions."""
    returns = [row["mean_return_deterministic"] for row in record.evaluations()]
    return float(final_score(np.array(returns, float)))


def by_setting(runs: Sequence[Record]) -> dict[str, list[float]]:
    """The final scores of each setting, the best first, those without a run last."""
    scores: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        scores[told(run)] += [final(run)] if run.finished else []
    order = sorted(scores, key=lambda setting: -mean(scores[setting] or [-inf]))
    return {setting: scores[setting] for setting in order}


def choice(scores: dict[str, list[float]]) -> str | None:
    """What the rule chooses, once all runs are there."""
    complete = all(len(some) == SEEDS for some in scores.values())
    return next(iter(scores)) if complete else None


def rows_of(scores: dict[str, list[float]]) -> list[list[str]]:
    """Rows of one task and method."""
    return [
        [
            setting,
            f"{mean(some):.1f}",
            " ".join(f"{score:.1f}" for score in some),
            "yes" if setting == choice(scores) else "",
        ]
        for setting, some in scores.items()
        if some
    ]


def tasks_of(root: Path) -> dict[tuple[str, str], list[Record]]:
    """The runs below a directory by task and method."""
    tasks: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in collect(root):
        arguments = "".join(f" {name}={value}" for name, value in record.env_kwargs.items())
        tasks[record.env + arguments, record.method].append(record)
    return dict(sorted(tasks.items()))


def page(root: Path) -> str:
    """All tasks and methods below a directory."""
    lines = [PAGE]
    for (task, method), runs in tasks_of(root).items():
        rows = rows_of(by_setting(runs))
        lines += ["", f"## {method} on {task}", "", *markdown_table(HEADER, rows)]
    return "\n".join(lines) + "\n"


def entered(root: Path, entries: Sequence[tuned.Tuned]) -> list[tuned.Tuned]:
    """The entries with what was chosen; one that changes is not measured yet."""
    chosen: dict[tuple[str, str], dict[str, Any]] = {}
    for (_, method), runs in tasks_of(root).items():
        setting = choice(by_setting(runs))
        for run in runs:
            if told(run) == setting:
                chosen[method, str((run.env, run.env_kwargs))] = changed(run)
    found = []
    for entry in entries:
        now = chosen.get((entry.method, str((entry.env, entry.env_kwargs))))
        method = METHODS[entry.method]
        if now is not None and told_apart(method, now, entry.settings):
            entry = entry._replace(settings=now, source=SOURCE, returns=(), deterministic=())
        found.append(entry)
    return found


def told_apart(method: Method, one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two settings make different methods."""
    return settings.overridden(method, one) != settings.overridden(method, other)


def main() -> None:
    """Print or write the page."""
    parser = argparse.ArgumentParser("python benchmarks/zoo_choice.py", description=__doc__)
    parser.add_argument("runs", type=Path, metavar="DIR")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--enter", action="store_true")
    given = parser.parse_args()
    if given.enter:
        tuned.FILE.write_text(tuned.written(entered(given.runs, tuned.read())), encoding="utf-8")
    text = page(given.runs)
    if given.out is None:
        print(text, end="")
    else:
        given.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
