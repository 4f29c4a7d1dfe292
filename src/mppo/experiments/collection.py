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
from mppo.files import archive, reader
from mppo.files.checkpoints import read_json
from mppo.files.reader import LARGEST_RUN, LARGEST_VISITS, State

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
        return self._rows("evaluations", contents.evaluation)

    def evaluations(self) -> list[dict[str, Any]]:
        """Rows of evaluations.jsonl; read once."""
        return self._evaluations

    def metrics(self) -> list[dict[str, Any]]:
        """Rows of metrics.jsonl."""
        return self._rows("metrics", contents.iteration)

    def _rows(self, name: str, check: Any) -> list[dict[str, Any]]:
        file = self.directory / f"{name}.jsonl"
        stored = reader.archived(self.directory)
        found = stored.get(name, []) if stored else reader.rows(self.directory, file.name)
        try:
            return contents.ordered(found, check, self._paths)
        except ValueError as error:
            raise CheckpointError(f'"{file}" cannot be read: {error}') from error

    def visits(self) -> dict[str, np.ndarray] | None:
        """How often each cell of the Maze was seen under each path; None elsewhere."""
        file = self.directory / "visits.json"
        stored = reader.archived(self.directory).get("visits")
        found = stored or reader.json_object(file, LARGEST_VISITS)
        if found is None:
            return None
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
    found += _archived(root, {record.directory for record in found})
    return sorted([*found, *_requested(root, {record.directory for record in found})], key=_order)


def _archived(root: Path, there: set[Path]) -> list[Record]:
    """Runs in archives of the root and of the folders in it; a directory of the same run wins."""
    folders = [root, *(entry for entry in sorted(root.iterdir()) if entry.is_dir())]
    runs = ((folder, *item) for folder in folders for item in archive.read(folder).runs.items())
    places = ((folder / "runs" / name, line) for folder, name, line in runs)
    return [_described(path, line["run"]) for path, line in places if path not in there]


def _requested(root: Path, there: set[Path]) -> list[Record]:
    """Runs that were asked for here and have no directory here."""
    wanted: dict[Path, dict[str, Any]] = {}
    files = sorted((root / "requests").glob("*.json"))
    stored = archive.read(root).requests.values()
    for request in (*stored, *(read_json(file, LARGEST_REQUEST) for file in files)):
        runs = request.get("runs")
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
