"""A small copy of a grid: what tables and figures need, in the same layout."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

from mppo.errors import BadRequest
from mppo.experiments.grid import Entry, Grid, opened
from mppo.files.atomic import write_atomically
from mppo.files.reader import State, rows

WHOLE = ("run.json", "evaluations.jsonl", "visits.json")
METRICS = ("iteration", "steps", "picked", "slot", "return_mean", "performance", "entropy")
"""The fields of metrics.jsonl that a figure shows."""


class Copied(NamedTuple):
    """How many runs came along."""

    finished: int
    failed: int
    left_out: int
    size: int  # bytes


def compact(source: Path, target: Path, metrics: bool = True) -> Copied:
    """Copy finished runs, and what is known of failed ones; the others are left out.

    The copy of a finished run is finished: no engine touches it again. `final.json` is written
    last, so an interrupted copy is completed by the next call. Without `metrics` the evaluations
    alone are kept, which is all that tables and learning curves need.
    """
    old, new = opened(source), Grid(target)
    if target.exists() and any(target.iterdir()) and not (target / "requests").is_dir():
        raise BadRequest(f'"{target}" holds other files; choose another --out')
    if source.resolve() == target.resolve():
        raise BadRequest(f'"{target}" is the directory itself; choose another --out')
    counts = dict.fromkeys(State, 0)
    for run in old.entries():
        state = old.state(run)
        counts[state] += 1
        if state is State.FINISHED and not new.finished(run):
            _copy(old, new, run, metrics)
        elif state is State.FAILED:
            failure = old.failure(run)
            if failure is not None and not new.finished(run):
                new.note_failure(run, failure)
    for folder in ("requests",):
        (target / folder).mkdir(parents=True, exist_ok=True)
        for file in (source / folder).glob("*.json"):
            shutil.copyfile(file, target / folder / file.name)
    if (source / "memory.json").exists():
        shutil.copyfile(source / "memory.json", target / "memory.json")
    size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
    done, failed = counts.pop(State.FINISHED), counts.pop(State.FAILED)
    return Copied(done, failed, sum(counts.values()), size)


def _copy(old: Grid, new: Grid, run: Entry, metrics: bool) -> None:
    source, target = old.directory(run), new.directory(run)
    target.mkdir(parents=True, exist_ok=True)
    new.forget_failure(run)
    for name in WHOLE:
        if (source / name).exists():
            write_atomically(target / name, (source / name).read_bytes())
    if metrics:
        lines = [_line(row) for row in rows(source, "metrics.jsonl")]
        write_atomically(target / "metrics.jsonl", "".join(lines).encode())
    write_atomically(target / "final.json", (source / "final.json").read_bytes())


def _line(row: dict[str, Any]) -> str:
    kept = {name: row[name] for name in METRICS if name in row}
    return json.dumps(kept, separators=(",", ":")) + "\n"
