"""All runs below a directory, read as they are: nothing is dropped, what is broken says so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mppo.errors import BadRequest, CheckpointError
from mppo.experiments import contents
from mppo.files import archive
from mppo.files.atomic import is_aside
from mppo.files.checkpoints import read_json
from mppo.files.run_directory import LARGEST_RUN, rows

DEEPEST = 3
"""Levels below the root at which runs are looked for: `ROOT/runs/<id>` and one more."""

LARGEST_REQUEST = 1 << 26  # bytes
State = Literal["finished", "unfinished", "missing", "failed", "broken"]


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
    broken: bool = False
    stored: dict[str, Any] | None = field(default=None, repr=False, compare=False)
    """Its parts, where it lies in the archive of a compact copy."""

    @property
    def state(self) -> State:
        """How the run stands."""
        if self.broken:
            return "broken"
        if self.finished:
            return "finished"
        if self.problem:
            return "failed"
        return "unfinished" if (self.directory / "run.json").exists() else "missing"

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
        try:
            stored = self.stored
            found = rows(self.directory, file.name) if stored is None else stored.get(name, [])
            return contents.ordered(found, check, self._paths)
        except CheckpointError:
            raise
        except (ValueError, OSError) as error:
            raise CheckpointError(f'"{file}" cannot be read: {error}') from error

    def visits(self) -> dict[str, np.ndarray] | None:
        """How often each cell of the Maze was seen under each path; None elsewhere."""
        file = self.directory / "visits.json"
        if not file.exists() if self.stored is None else "visits" not in self.stored:
            return None
        found = read_json(file, 1 << 24) if self.stored is None else self.stored["visits"]
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
    found = [_record(directory) for directory in _directories(root, DEEPEST)]
    found += _archived(root, {record.directory for record in found})
    return sorted([*found, *_requested(root, {record.directory for record in found})], key=_order)


def _archived(root: Path, there: set[Path]) -> list[Record]:
    """Runs in archives of the root and of the folders in it; a directory of the same run wins."""
    folders = [root, *(entry for entry in sorted(root.iterdir()) if entry.is_dir())]
    runs = ((folder, *item) for folder in folders for item in archive.read(folder).runs.items())
    places = ((folder / "runs" / name, line) for folder, name, line in runs)
    return [_described(path, line["run"], line) for path, line in places if path not in there]


def _directories(folder: Path, levels: int) -> Iterator[Path]:
    """Directories with a run.json, at most `levels` below; a run holds no further runs."""
    if (folder / "run.json").exists():
        yield folder
    elif levels:
        for entry in sorted(folder.iterdir()):
            hidden = entry.name.startswith(".") or is_aside(entry.name)  # the same run, begun twice
            if entry.is_dir() and not entry.is_symlink() and not hidden:
                yield from _directories(entry, levels - 1)


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
        return _broken(directory, str(error))


def _described(
    directory: Path, run: dict[str, Any], stored: dict[str, Any] | None = None
) -> Record:
    finished = "final" in stored if stored is not None else (directory / "final.json").exists()
    try:
        seed, steps = run["seed"], run["steps"]
        method, settings, env, kwargs = (
            run[name] for name in ("method_name", "method", "env", "env_kwargs")
        )
        kinds = ((method, str), (settings, dict), (env, str), (kwargs, dict))
        if not all(isinstance(found, kind) for found, kind in (*kinds, (seed, int), (steps, int))):
            raise TypeError("a field is not of its type")
        problem = _fault(directory, finished)
        about = (method, settings, env, kwargs, seed, steps, finished, problem)
        return Record(directory, *about, stored=stored)
    except (KeyError, TypeError) as error:
        return _broken(
            directory, f"no field {error}" if isinstance(error, KeyError) else str(error)
        )


def _broken(directory: Path, why: str) -> Record:
    return Record(directory, "?", {}, "?", {}, -1, 0, False, f"run.json: {why}", True)


def _fault(directory: Path, finished: bool) -> str:
    """What stopped the run last, if a fault did: as the grid noted it, or the run itself."""
    if finished:
        return ""
    grid = directory.parent.parent
    noted = grid / "failures" / f"{directory.name}.json"
    stored = {} if directory.exists() else archive.read(grid).failures.get(directory.name, {})
    if stored and not noted.exists():
        return str(stored.get("message") or "failed")
    if noted.exists():
        try:
            return str(read_json(noted, LARGEST_RUN).get("message") or "failed")
        except CheckpointError as error:
            return str(error)
    try:
        events = rows(directory, "events.jsonl")
    except ValueError:
        return ""  # events explain; they decide nothing
    last = events[-1] if events else {}
    return str(last.get("message", "fault")) if last.get("event") == "fault" else ""


def _order(record: Record) -> tuple:
    settings = json.dumps(record.settings, sort_keys=True)
    kwargs = json.dumps(record.env_kwargs, sort_keys=True)
    where = str(record.directory)
    return record.env, record.method, settings, kwargs, record.seed, record.steps, where
