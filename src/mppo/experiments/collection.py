"""All runs below a directory, read as they are: nothing is dropped, what is damaged says so.

The rows of a run are checked before tables and figures are made of them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mppo.errors import BadRequest, CheckpointError
from mppo.experiments.grid import Grid
from mppo.files import archive, reader
from mppo.files.checkpoints import read_json
from mppo.files.reader import LARGEST_RUN, LARGEST_VISITS, Row, State

LARGEST = 10**15
"""Steps, visits and the like stay below."""
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
    def _evaluations(self) -> list[Row]:
        return self._rows("evaluations", _evaluation)

    def evaluations(self) -> list[Row]:
        """Rows of evaluations.jsonl; read once."""
        return self._evaluations

    def metrics(self) -> list[Row]:
        """Rows of metrics.jsonl."""
        return self._rows("metrics", _iteration)

    def _rows(self, name: str, check: Callable[[Row, int], None]) -> list[Row]:
        """The rows of a log, each checked, their steps increasing."""
        file = self.directory / f"{name}.jsonl"
        stored = reader.archived(self.directory)
        found = stored.get(name, []) if stored else reader.rows(self.directory, file.name)
        paths, before = self._paths, 0
        for line, row in enumerate(found, 1):
            try:
                check(row, paths)
                if row["steps"] <= before:
                    raise ValueError(f"steps is {row['steps']} after {before}")
            except (KeyError, TypeError, ValueError, OverflowError) as error:
                why = f"no field {error}" if isinstance(error, KeyError) else str(error)
                raise CheckpointError(f'"{file}" cannot be read: line {line}: {why}') from error
            before = row["steps"]
        return found

    def visits(self) -> dict[str, np.ndarray] | None:
        """How often each cell of the Maze was seen under each path; None elsewhere."""
        file = self.directory / "visits.json"
        stored = reader.archived(self.directory).get("visits")
        found = stored or reader.json_object(file, LARGEST_VISITS)
        if found is None:
            return None
        try:
            return _visits(found, self._paths)
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
    found += _archived(root, {record.directory for record in found})
    return sorted([*found, *_requested(root, {record.directory for record in found})], key=_order)


def _archived(root: Path, there: set[Path]) -> list[Record]:
    """Runs in archives of the root and of the folders in it; a directory of the same run wins."""
    folders = [root, *(entry for entry in sorted(root.iterdir()) if entry.is_dir())]
    runs = ((folder, *item) for folder in folders for item in archive.read(folder).runs.items())
    places = ((folder / "runs" / name, line) for folder, name, line in runs)
    return [_record(path, line["run"]) for path, line in places if path not in there]


def _requested(root: Path, there: set[Path]) -> list[Record]:
    """Runs that were asked for here and have no directory here."""
    wanted: dict[Path, Row] = {}
    for _, request in Grid(root).request_data():
        runs = request.get("runs")
        for name, run in sorted(runs.items()) if isinstance(runs, dict) else ():
            wanted[root / "runs" / Path(name).name] = run if isinstance(run, dict) else {}
    return [_record(path, run) for path, run in wanted.items() if path not in there]


def _record(directory: Path, run: Row | None = None) -> Record:
    """The record of a run with this description, by default the one in its directory."""
    try:
        run = read_json(directory / "run.json", LARGEST_RUN) if run is None else run
    except CheckpointError as error:
        return _damaged(directory, str(error))
    for name, kind in FIELDS.items():
        if not isinstance(run.get(name), kind):
            return _damaged(directory, f'no valid "{name}"')
    finished = reader.ended(directory)
    problem = "" if finished else reader.problem(directory)
    asked: Any = [run[name] for name in FIELDS]
    return Record(directory, *asked, finished=finished, problem=problem)


def _damaged(directory: Path, why: str) -> Record:
    return Record(directory, "?", {}, "?", {}, -1, 0, False, f"run.json: {why}", True)


def _order(record: Record) -> tuple:
    settings = json.dumps(record.settings, sort_keys=True)
    kwargs = json.dumps(record.env_kwargs, sort_keys=True)
    where = str(record.directory)
    return record.env, record.method, settings, kwargs, record.seed, record.steps, where


def _whole(value: Any, below: int = LARGEST) -> None:
    """Raise unless it is a whole number from 0 to below a bound."""
    if type(value) is not int or not 0 <= value < below:
        raise ValueError(f"{value!r} is not a whole number from 0 to {below - 1}")


def _real(value: Any) -> None:
    """Raise unless it is a finite number."""
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a finite number")


def _evaluation(row: Row, paths: int) -> None:
    """Raise if an evaluation is none."""
    _whole(row["steps"])
    _whole(row["path"], paths)
    if row["mean_return"] is not None:  # nothing but deterministic episodes
        _real(row["mean_return"])


def _iteration(row: Row, paths: int) -> None:
    """Raise if a row of metrics lacks what figures show."""
    _whole(row["steps"])
    _whole(row["picked"], paths)
    for name in ("performance", "entropy"):
        if not isinstance(row[name], list) or len(row[name]) != paths:
            raise ValueError(f"{name} is not a list of {paths} numbers")
        for value in row[name]:
            _real(value)


def _visits(found: Row, paths: int) -> dict[str, np.ndarray]:
    """Walls, start, goal and counts of a maze as arrays that fit each other."""
    try:
        arrays = {name: np.array(found[name]) for name in ("walls", "start", "goal", "counts")}
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"no visits of a maze: {error}") from error
    for name, array in arrays.items():
        if array.dtype.kind not in "iu" or not array.size or array.min() < 0:
            raise ValueError(f"{name} holds something else than whole numbers from 0 on")
    walls, counts = arrays["walls"], arrays["counts"]
    if walls.ndim != 2 or walls.max() > 1 or counts.shape != (paths, *walls.shape):
        raise ValueError(f"counts {counts.shape} do not fit walls {walls.shape} and {paths} paths")
    for name in ("start", "goal"):
        if arrays[name].shape != (2,) or (arrays[name] >= walls.shape[::-1]).any():
            raise ValueError(f"{name} {arrays[name].tolist()} is no cell of the maze")
    return arrays
