"""A directory of many runs: its files are its state, and nothing is stored twice.

DIR/requests/HASH.json    what was asked for: labels and resolved runs; never changed
DIR/runs/RUN_ID/          an ordinary run directory
DIR/failures/RUN_ID.json  how the last attempt failed; gone when it is tried again
DIR/readings.json         of a grid of the paper: what it reads otherwise than at first
DIR/runs.jsonl.gz         the archive of a compact copy: requests, finished runs and failures
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from mppo.errors import BadRequest, CheckpointError, StorageFault
from mppo.experiments.spec import NAME_LENGTH, RunSpec
from mppo.files import archive, reader
from mppo.files.atomic import make_folder, write_atomically
from mppo.files.changes import MISSING, compare
from mppo.files.checkpoints import read_json
from mppo.files.reader import LARGEST_RUN, State

LARGEST_REQUEST = 1 << 26  # bytes
_RUN_ID = re.compile(rf"[0-9a-f]{{{NAME_LENGTH}}}")


class Failure(NamedTuple):
    """How the last attempt of a run ended."""

    exit_code: int
    message: str
    output: str = ""


class Entry(NamedTuple):
    """A run as a request on disk names it: enough to say how it stands, and nothing to execute."""

    run_id: str
    label: str
    steps: int
    batch_size: int
    spec: dict[str, Any]


class Request(NamedTuple):
    """One thing that was asked for: a table, a figure, a sweep; and the runs it needs."""

    label: str
    runs: tuple[Entry, ...]


@dataclass(frozen=True)
class Grid:
    """The runs under a directory."""

    root: Path

    def directory(self, run: RunSpec | Entry) -> Path:
        """Where a run lives."""
        return self.root / "runs" / run.run_id

    def finished(self, run: RunSpec | Entry) -> bool:
        """Whether a run came to its end, here or before it was put into the archive."""
        return reader.ended(self.directory(run))

    def refuse_other(self, run: RunSpec) -> None:
        """Raise if a finished run was made with other settings than this version would use."""
        directory = self.directory(run)
        stored = reader.archived(directory)
        there = stored["run"] if stored else read_json(directory / "run.json", LARGEST_RUN)
        wanted = json.loads(json.dumps(run.as_json()))
        changed = [
            f"{name} was {change.before}, now {change.value}"
            for name, change in compare(there, wanted, afresh=False).items()
            if change.old is not MISSING  # else the older version had its default
        ]
        if changed:
            raise BadRequest(
                f'"{self.directory(run)}" holds {run.label} with other settings, from another '
                f"version: {changed[0]}; choose another --out, or remove it to run it again"
            )

    def state(self, run: RunSpec | Entry) -> State:
        """How a run stands, by its files alone."""
        return reader.state(self.directory(run), watch=True)

    def steps_done(self, run: RunSpec | Entry) -> int:
        """Environment steps that a run has behind it."""
        if self.finished(run):
            return run.steps
        try:
            rows = (self.directory(run) / "metrics.jsonl").read_bytes().count(b"\n")
        except OSError:
            return 0
        return min(rows * run.batch_size, run.steps)

    def failure(self, run: RunSpec | Entry) -> Failure | None:
        """How the last attempt failed, if it did."""
        with contextlib.suppress(CheckpointError, KeyError):
            found = reader.failure(self.directory(run))
            if found is not None:
                return Failure(found["exit_code"], found["message"], found["output"])
        return None

    def note_failure(self, run: RunSpec | Entry, failure: Failure) -> None:
        """Keep what is known of a failed attempt."""
        file = reader.failure_file(self.directory(run))
        write_json(file, {"run": run.label, **failure._asdict()})

    def forget_failure(self, run: RunSpec | Entry) -> None:
        """A run is tried again, or is done."""
        reader.failure_file(self.directory(run)).unlink(missing_ok=True)

    def remember(self, label: str, specs: Iterable[RunSpec]) -> None:
        """Add to what was asked for; the same request twice is one."""
        folder = self.root / "requests"
        runs = {run.run_id: {"label": run.label, **run.as_json()} for run in specs}
        data = {"label": label, "runs": dict(sorted(runs.items()))}
        text = json.dumps(data, sort_keys=True, separators=(",", ":"))
        path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:NAME_LENGTH]}.json"
        if path.exists() or path.stem in archive.read(self.root).requests:
            return
        make_folder(folder, within=self.root)
        try:
            write_json(path, data)
        except StorageFault:
            if not path.exists():  # else another driver wrote the same in the meantime
                raise

    def requests(self) -> list[Request]:
        """All that was asked for, in the order of labels."""
        found = []
        for name, data in self.request_data():
            try:
                runs = tuple(_entry(*item) for item in data["runs"].items())
                found.append(Request(str(data["label"]), runs))
            except (KeyError, AttributeError, TypeError, ValueError) as error:
                file = self.root / "requests" / f"{name}.json"
                file = file if file.exists() else self.root / archive.FILE
                raise CheckpointError(f'"{file}": {name} is not a request: {error}') from error
        return sorted(found, key=lambda request: request.label)

    def request_data(self) -> list[tuple[str, dict[str, Any]]]:
        """Every request as it was written, by name: those of the archive and those in files."""
        found = dict(archive.read(self.root).requests)
        for path in (self.root / "requests").glob("[0-9a-f]*.json"):
            found[path.stem] = read_json(path, LARGEST_REQUEST)
        return sorted(found.items())

    def entries(self) -> list[Entry]:
        """All runs that were asked for, each once."""
        return distinct(run for request in self.requests() for run in request.runs)


def _entry(run_id: str, data: dict[str, Any]) -> Entry:
    if not _RUN_ID.fullmatch(run_id):  # it becomes part of a path
        raise ValueError(f'"{run_id}" is no name of a run')
    spec = {name: value for name, value in data.items() if name != "label"}
    batch = int(data["method"]["batch_size"])
    return Entry(run_id, str(data["label"]), int(data["steps"]), batch, spec)


def distinct(runs: Iterable[Any]) -> list[Any]:
    """Each run once, in the order of their first appearance."""
    return list({run.run_id: run for run in runs}.values())


def opened(root: str | Path) -> Grid:
    """The grid in a directory that must be one."""
    grid = Grid(Path(root))
    if not is_grid(grid.root):
        raise BadRequest(
            f'"{root}" holds no grid of runs (there is neither "requests" nor "{archive.FILE}" in '
            "it); mppo paper run and mppo sweep make one"
        )
    return grid


def is_grid(root: Path) -> bool:
    """Whether a folder is a grid, or the compact copy of one."""
    return (root / "requests").is_dir() or (root / archive.FILE).exists()


def status(grid: Grid) -> dict[str, Any]:
    """Counts by state, each request, each run."""
    rows = [_row(grid, run) for run in grid.entries()]
    done = {row["run_id"] for row in rows if row["state"] == State.FINISHED}
    requests = [
        {
            "label": request.label,
            "runs": len(request.runs),
            "done": sum(run.run_id in done for run in request.runs),
        }
        for request in grid.requests()
    ]
    return {
        "states": {state: sum(row["state"] is state for row in rows) for state in State},
        "steps": sum(row["steps"] for row in rows),
        "steps_done": sum(row["steps_done"] for row in rows),
        "requests": requests,
        "memory": (grid.root / "memory.json").exists(),
        "runs": rows,
    }


def _row(grid: Grid, run: Entry) -> dict[str, Any]:
    state, failure = grid.state(run), None
    if state is State.FAILED:
        noted = grid.failure(run)  # else the run itself has noted its fault
        failure = noted._asdict() if noted else {"message": reader.problem(grid.directory(run))}
    return {
        "run_id": run.run_id,
        "label": run.label,
        "method": run.spec["method_name"],
        "env": run.spec["env"],
        "seed": run.spec["seed"],
        "state": state,
        "steps": run.steps,
        "steps_done": grid.steps_done(run),
        "failure": failure,
    }


def write_json(path: Path, data: Any) -> None:
    """Write a JSON file, or one of JSON lines, whole, in a folder that is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".jsonl":
        text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in data)
    else:
        text = json.dumps(data, indent=1) + "\n"
    write_atomically(path, text.encode())
