"""All runs below a directory, read as they are: nothing is dropped, what is damaged says so."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mppo.errors import BadRequest, CheckpointError
from mppo.experiments import contents
from mppo.files import reader
from mppo.files.checkpoints import read_json
from mppo.files.reader import LARGEST_RUN, State

LARGEST_REQUEST = 1 << 26  # bytes
FIELDS: dict[str, type] = {"method_name": str, "method": dict, "env": str, "env_kwargs": dict}
FIELDS |= {"seed": int, "steps": int}
"""What a record is made of."""


@dataclass(frozen=True)
class Record:
    """One run directory: what was asked for, and how far it came."""

    directory: Path
    method: str
    settings: dict[str, Any]
    """The resolved method, as in run.json."""
    env: str
    env_kwargs: dict[str, Any]
    seed: int
    steps: int
    """Asked for."""
    finished: bool
    problem: str = ""
    """Why the directory cannot be read, or what stopped the run."""
    damaged: bool = False

    @property
    def state(self) -> State:
        """How the run stands."""
        return State.DAMAGED if self.damaged else reader.state(self.directory)

    @cached_property
    def _evaluations(self) -> list[dict[str, Any]]:
        return _rows(self.directory, "evaluations.jsonl", contents.evaluation, self._paths)

    def evaluations(self) -> list[dict[str, Any]]:
        """Rows of evaluations.jsonl; read once."""
        return self._evaluations

    def metrics(self) -> list[dict[str, Any]]:
        """Rows of metrics.jsonl."""
        return _rows(self.directory, "metrics.jsonl", contents.iteration, self._paths)

    def visits(self) -> dict[str, np.ndarray] | None:
        """How often each cell of the Maze was seen under each path; None elsewhere."""
        file = self.directory / "visits.json"
        if not file.exists():
            return None
        found = read_json(file, 1 << 24)
        try:
            return contents.visits(found, self._paths)
        except ValueError as error:
            raise CheckpointError(f'"{file}": {error}') from error

    @property
    def _paths(self) -> int:
        paths = self.settings.get("paths")
        if type(paths) is not int:
            raise CheckpointError(f'"{self.directory / "run.json"}": paths is {paths!r}')
        return paths


def collect(root: Path) -> list[Record]:
    """Every run below a directory, sorted by environment, method, settings and seed."""
    root = Path(root)
    if not root.is_dir():
        raise BadRequest(
            f'"{root}" is not a directory; give the --out of mppo paper run, or a directory of runs'
        )
    found = [_record(directory) for directory in reader.runs_below(root)]
    return sorted([*found, *_requested(root, {record.directory for record in found})], key=_order)


def _requested(root: Path, there: set[Path]) -> list[Record]:
    """Runs that were asked for here and have no directory here."""
    wanted: dict[Path, dict[str, Any]] = {}
    for file in sorted((root / "requests").glob("*.json")):
        runs = read_json(file, LARGEST_REQUEST).get("runs")
        for name, run in sorted(runs.items()) if isinstance(runs, dict) else ():
            wanted[root / "runs" / Path(name).name] = run if isinstance(run, dict) else {}
    return [_described(path, run) for path, run in wanted.items() if path not in there]


def _record(directory: Path) -> Record:
    try:
        return _described(directory, read_json(directory / "run.json", LARGEST_RUN))
    except CheckpointError as error:
        return _damaged(directory, str(error))


def _described(directory: Path, run: dict[str, Any]) -> Record:
    for name, kind in FIELDS.items():
        if not isinstance(run.get(name), kind):
            return _damaged(directory, f'no valid "{name}"')
    finished = reader.finished(directory)
    problem = "" if finished else reader.problem(directory)
    asked: list[Any] = [run[name] for name in FIELDS]
    return Record(directory, *asked, finished=finished, problem=problem)


def _damaged(directory: Path, why: str) -> Record:
    return Record(directory, "?", {}, "?", {}, -1, 0, False, f"run.json: {why}", True)


def _rows(directory: Path, name: str, check: Any, paths: int) -> list[dict[str, Any]]:
    found = reader.rows(directory, name)
    try:
        return contents.ordered(found, check, paths)
    except ValueError as error:
        raise CheckpointError(f'"{directory / name}" cannot be read: {error}') from error


def _order(record: Record) -> tuple:
    settings = json.dumps(record.settings, sort_keys=True)
    kwargs = json.dumps(record.env_kwargs, sort_keys=True)
    where = str(record.directory)
    return record.env, record.method, settings, kwargs, record.seed, record.steps, where
