"""The tuned settings measured anew: runs of a grid, and the returns that they came to."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from mppo.errors import BadRequest, did_you_mean
from mppo.experiments.collection import Record, collect
from mppo.experiments.spec import RunSpec, spec
from mppo.files import reader
from mppo.files.evaluation import Evaluation
from mppo.files.tuned import Tuned, short
from mppo.statistics.scores import final_score

EVALUATIONS = 20
"""In each run: a final score is the mean of the last two."""
EPISODES = 20
PARTS = ("simulation", "learning", "evaluation")  # of a row of timing.jsonl
Canonical = Callable[[Tuned], str]
"""Checks an entry's environment and gives its id in full."""


def chosen(those: Iterable[Tuned], only: Sequence[str]) -> list[Tuned]:
    """The entries that any of these words names: METHOD, ENV or METHOD/ENV; all without words.

    ENV may be the id alone, or with the module that registers it.
    """
    those = list(those)
    called = lambda method, env: {method, env, f"{method}/{env}"}
    names = [called(one.method, short(one.env)) | called(one.method, one.env) for one in those]
    known = set[str]().union(*names)
    for word in only:
        if word not in known:
            hint = did_you_mean(word, known) or "; give METHOD, ENV or METHOD/ENV of mppo zoo"
            raise BadRequest(f'--only names "{word}", of which there is no entry{hint}')
    return [one for one, own in zip(those, names, strict=True) if not only or own & set(only)]


def run_of(one: Tuned, seed: int, canonical: Canonical) -> RunSpec:
    """One seed of an entry, evaluated twenty times."""
    evaluation = Evaluation(max(1, one.steps // EVALUATIONS), EPISODES, EPISODES)
    task = one.method, canonical(one), seed, one.steps
    return spec(*task, one.settings, one.env_kwargs, evaluation, one.wrappers)


def measured(root: Path, those: Sequence[Tuned], canonical: Canonical) -> list[Tuned]:
    """The entries, with the returns that the finished runs below a directory came to.

    Seeds count from 0 without a gap. An entry that was not run, or whose settings have changed
    since, stays as it is.
    """
    records = {one.directory.name: one for one in collect(root) if one.finished}
    return [_measured(one, records, canonical) for one in those]


def _measured(one: Tuned, records: dict[str, Record], canonical: Canonical) -> Tuned:
    if not any(short(record.env) == short(one.env) for record in records.values()):
        return one  # its package need not be there
    found: list[Record] = []
    while (run := run_of(one, len(found), canonical)).run_id in records:
        found.append(records[run.run_id])
    if not found:
        return one
    timing = [row for record in found for row in reader.rows(record.directory, "timing.jsonl")]
    seconds = sum(row[part] for row in timing for part in PARTS)
    return one._replace(
        returns=_scores(found, "mean_return"),
        deterministic=_scores(found, "mean_return_deterministic"),
        seconds=round(seconds / len(found), 1),
        measured=f"mppo {importlib.metadata.version('mppo')}",
    )


def _scores(records: Sequence[Record], name: str) -> tuple[float, ...]:
    rows = ([row[name] for row in record.evaluations()] for record in records)
    return tuple(round(float(final_score(np.array(one, float))), 2) for one in rows)
