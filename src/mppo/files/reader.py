"""Run directories as they are read: one reader, strict or lenient, and how a run stands.

Strict readers raise CheckpointError where a file is not as it should be. Whoever passes a list of
`notes` reads leniently: what cannot be read is left out, and the list says so. Reading changes
nothing in a directory.

A run of a grid that has no directory may lie in the archive of the grid (`archived`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from mppo.errors import BadRequest, CheckpointError
from mppo.files import archive, checkpoints
from mppo.files.atomic import is_aside, locked, present
from mppo.files.checkpoints import Checkpoint, check_format, hash_of, read_bytes, read_json

FORMAT = 1
LOGS = ("metrics.jsonl", "evaluations.jsonl", "timing.jsonl")
LARGEST_RUN = 1 << 20  # bytes of run.json
LARGEST_LOG = 1 << 40
LARGEST_VISITS = 1 << 24
LARGEST = 1 << 28  # bytes that a lenient reader takes of any file
LONGEST_NOTE = 200  # characters
DEEPEST = 3
"""Levels below a directory at which runs are looked for: `ROOT/runs/<id>` and one more."""
Row = dict[str, Any]
Notes = list[str]
PathLike = str | os.PathLike[str]


class State(StrEnum):
    """How a run stands: the one list of words for it."""

    FINISHED = "finished"
    """It came to its end: there is final.json."""
    COMPLETE = "complete"
    """All its iterations are there, final.json is not."""
    RUNNING = "running"
    """A process holds its lock."""
    FAILED = "failed"
    """A fault ended it, and was noted."""
    STOPPED = "stopped"
    """It was stopped and saved."""
    UNFINISHED = "unfinished"
    """It was begun, and no end is recorded: it runs still, or was killed."""
    MISSING = "missing"
    """It was asked for and has not begun."""
    DAMAGED = "damaged"
    """run.json cannot be read."""


class History(NamedTuple):
    """The rows of a run so far."""

    metrics: list[Row]
    timing: list[Row]
    evaluations: list[Row]

    @property
    def steps(self) -> int:
        """How far it reaches."""
        return int(self.metrics[-1]["steps"]) if self.metrics else 0

    def until(self, iteration: int) -> History:
        """The rows of the iterations before this one."""
        metrics = [row for row in self.metrics if row["iteration"] < iteration]
        steps = metrics[-1]["steps"] if metrics else 0
        reached = lambda log: [row for row in log if row["steps"] <= steps]
        return History(metrics, reached(self.timing), reached(self.evaluations))


def history(path: PathLike, notes: Notes | None = None) -> History:
    """All rows that a run directory holds now."""
    return History(*(rows(path, f"{name}.jsonl", notes) for name in History._fields))


def rows(path: PathLike, name: str, notes: Notes | None = None) -> list[Row]:
    """All complete rows of a JSON-lines file; the torn last line of a killed run is left out."""
    file, found, bad = Path(path) / name, [], 0
    try:
        content = read_bytes(file, LARGEST_LOG if notes is None else LARGEST)
    except CheckpointError as error:
        if file.exists():
            _left_out(error, file, notes)
        return []
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            if notes is None:
                why = f'"{file}", line {number}, is not valid JSON: {error}'
                raise CheckpointError(why) from error
            row = None
        if notes is None or isinstance(row, dict):
            found.append(row)
        else:
            bad += bool(line)
    if bad and notes is not None:
        notes.append(f"{name}: {bad} row(s) could not be read and are left out")
    return found


def json_object(file: Path, largest: int, notes: Notes | None = None) -> Row | None:
    """What a JSON file holds; None where there is nothing, or nothing that could be read."""
    lenient = lambda content: json.loads(content.decode("utf-8", "replace"))  # NaN and all
    try:
        if present(file):
            return read_json(file, largest, checkpoints.parsed if notes is None else lenient)
    except CheckpointError as error:
        _left_out(error, file, notes)
    return None


def _left_out(error: CheckpointError, file: Path, notes: Notes | None) -> None:
    """Raise, or note why a file is left out, without the directories that it is in."""
    if notes is None:
        raise error
    notes.append(str(error).replace(f'"{file}"', file.name)[:LONGEST_NOTE])


def description(path: PathLike) -> Row | None:
    """What `run.json` says, or None where there is no run; one that was changed is refused."""
    file = Path(path) / "run.json"
    found = json_object(file, LARGEST_RUN)
    if found is None:
        return None
    if "format" in found:
        check_format(file, found, FORMAT)
    claimed = found.get("sha256")
    rest = {name: value for name, value in found.items() if name != "sha256"}
    if claimed != hash_of(rest) and ("format" in found or claimed is not None):
        raise CheckpointError(
            f'"{file}" does not match its hash: it was changed after it was written'
        )
    return found


def known_description(path: PathLike) -> Row:
    """What `run.json` says; where there is no run, BadRequest says so."""
    found = description(path)
    if found is None:
        raise BadRequest(f'"{path}" holds no run (there is no run.json)')
    return found


def newest(path: PathLike) -> Checkpoint:
    """The newest checkpoint of a run that verifies."""
    folder, refused = Path(path) / "checkpoints", []
    for number in checkpoints.numbers(folder):
        try:
            return checkpoints.load(folder, number)
        except CheckpointError as error:
            refused.append(str(error))
    if refused:
        raise CheckpointError(f'"{path}" has no good checkpoint: {"; ".join(refused)}')
    raise BadRequest(
        f'"{path}" has no checkpoint yet; the first one is saved after a minute of training, and '
        "when a run stops or ends"
    )


def runs_below(folder: Path, levels: int = DEEPEST) -> Iterator[Path]:
    """Directories with a run.json, at most `levels` below; a run holds no further runs."""
    if (folder / "run.json").exists():
        yield folder
    elif levels:
        try:
            entries = sorted(folder.iterdir())
        except OSError:
            return
        for entry in entries:
            hidden = entry.name.startswith(".") or is_aside(entry.name)  # the same run, begun twice
            if entry.is_dir() and not entry.is_symlink() and not hidden:
                yield from runs_below(entry, levels - 1)


def finished(path: PathLike) -> bool:
    """Whether a run came to its end in this directory."""
    return (Path(path) / "final.json").exists()


def archived(path: PathLike) -> Row:
    """The parts of a run that lies in the archive of its grid; a directory of the run wins."""
    return _archive_of(Path(path)).runs.get(Path(path).name, {})


def ended(path: Path) -> bool:
    """Whether a run came to its end, here or before it was put into the archive of its grid."""
    return finished(path) or "final" in archived(path)


def _archive_of(path: Path) -> archive.Archive:
    """Where a run of a grid lies that has no directory."""
    return archive.NOTHING if (path / "run.json").exists() else archive.read(path.parent.parent)


def state(path: Path, watch: bool = False) -> State:
    """How a run stands, by its files alone.

    Whether a process writes there is asked only with `watch`: to see that, the lock is taken for
    an instant, and a writer that starts in this very instant is refused.
    """
    if ended(path):
        return State.FINISHED
    if watch and locked(path):
        return State.RUNNING
    begun = (path / "run.json").exists()
    return state_without_end(noted_failure(path), rows(path, "events.jsonl", []), begun)


def state_without_end(failure: str, events: list[Row], begun: bool = True) -> State:
    """How a run stands that has no final.json: by a failure that was noted, or its last event."""
    last = events[-1].get("event") if events else None
    if failure or last == "fault":
        return State.FAILED
    if not begun:
        return State.MISSING
    return State.STOPPED if last == "stopped" else State.UNFINISHED


def problem(path: Path) -> str:
    """What stopped a run last, if a fault did: as the grid noted it, or the run itself."""
    events = rows(path, "events.jsonl", [])
    failure = noted_failure(path)
    if failure or state_without_end(failure, events) is not State.FAILED:
        return failure
    return str(events[-1].get("message", "fault"))


def failure_file(path: Path) -> Path:
    """Where the driver of a grid notes how a run of it failed."""
    return path.parent.parent / "failures" / f"{path.name}.json"


def failure(path: Path, notes: Notes | None = None) -> Row | None:
    """How the last attempt at a run failed, as the grid noted it, in a file or in its archive."""
    if present(failure_file(path)):
        return json_object(failure_file(path), LARGEST_RUN, notes)
    return _archive_of(path).failures.get(path.name)


def noted_failure(path: Path) -> str:
    """What a grid noted of the last attempt at a run, if that failed."""
    notes: Notes = []
    noted = failure(path, notes)
    return str(noted.get("message") or "failed") if noted is not None else "".join(notes)
