"""A small copy of a grid in one file: what tables and figures need, added to what is there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mppo.errors import BadRequest
from mppo.experiments.grid import Grid, is_grid, opened, write_json
from mppo.files import archive, reader
from mppo.files.archive import Archive, Line
from mppo.files.checkpoints import read_json
from mppo.files.reader import LARGEST_RUN, LARGEST_VISITS, State, rows
from mppo.files.run_directory import IDENTITY
from mppo.files.settings import completed

METRICS = (
    "iteration", "steps", "picked", "slot", "episodes", "return_mean", "performance", "entropy",
)  # fmt: skip
"""The fields of metrics.jsonl that a figure or a page shows."""


READINGS = "readings.json"
"""How a grid of the paper reads what the paper leaves open."""
BESIDE = ("memory.json", READINGS)
"""Files of a grid that belong to no run."""


class Copied(NamedTuple):
    """How many runs of the source came along, and what the target holds now."""

    finished: int
    failed: int
    left_out: int
    held: int
    size: int  # bytes


def compact(source: Path, target: Path, metrics: bool = True) -> Copied:
    """Add finished runs, and what is known of failed ones, to the archive in a folder.

    A run that is there already is renewed if it says the same; if it says something else, nothing
    is written. The copy of a finished run is finished: no engine touches it again. Without
    `metrics` the evaluations alone are kept, which is all that tables and learning curves need.
    """
    if source.resolve() == target.resolve():
        raise BadRequest(f'"{target}" is the directory itself; choose another --out')
    if target.exists() and any(target.iterdir()) and not is_grid(target):
        raise BadRequest(f'"{target}" holds other files; choose another --out')
    if is_grid(target) and _content(source / READINGS) != _content(target / READINGS):
        raise BadRequest(
            f'"{target}" holds runs of another reading of the paper than "{source}" '
            f"({READINGS}); choose another --out"
        )
    requests, runs, failures = (dict(part) for part in archive.read(target))
    counts = dict.fromkeys(State, 0)
    for name, state, content in _contents(source):
        counts[state] += 1
        if state is State.FINISHED:
            line = _kept(content, metrics)
            runs[name] = _joined(runs.get(name, {}), line, name, target)
            failures.pop(name, None)
        elif state is State.FAILED and name not in runs:
            failures[name] = content
    grid = Grid(source)
    requests |= {name: data for name, data in grid.request_data() if name not in requests}
    target.mkdir(parents=True, exist_ok=True)
    _copy_beside(source, target)
    size = archive.write(target, Archive(requests, runs, failures))
    done, failed = counts.pop(State.FINISHED), counts.pop(State.FAILED)
    return Copied(done, failed, sum(counts.values()), len(runs), size)


def _copy_beside(source: Path, target: Path) -> None:
    for name in BESIDE:
        if (source / name).exists():
            shutil.copyfile(source / name, target / name)


def _content(file: Path) -> bytes:
    return file.read_bytes() if file.exists() else b""


def unpack(source: Path, target: Path) -> int:
    """Write every run of an archive as a directory again, as far as it was kept; how many."""
    if target.exists() and any(target.iterdir()):
        raise BadRequest(f'"{target}" is not an empty directory; choose another --out')
    found = archive.read(source)
    if not found.runs:
        raise BadRequest(f'"{source}" holds no runs in "{archive.FILE}"')
    for folder in ("requests", "failures"):
        for name, data in getattr(found, folder).items():
            write_json(target / folder / f"{name}.json", data)
    for name, line in found.runs.items():
        for part in sorted(line, key=lambda part: part == "final"):  # the end at the end
            ending = "jsonl" if archive.PARTS[part] is list else "json"
            write_json(target / "runs" / name / f"{part}.{ending}", line[part])
    _copy_beside(source, target)
    return len(found.runs)


def _contents(source: Path) -> Iterator[tuple[str, State, Line]]:
    """Every run of a grid, or of a folder of runs: name, how it stands, what it holds."""
    if not source.is_dir() or (not is_grid(source) and not any(source.glob("*/run.json"))):
        opened(source)  # says what is wrong
    grid, alone = Grid(source), dict(archive.read(source).runs)
    for run in grid.entries():
        alone.pop(run.run_id, None)
        state, directory = grid.state(run), grid.directory(run)
        if state is State.FINISHED:
            yield run.run_id, state, reader.archived(directory) or _read(directory)
        else:
            failure = grid.failure(run) if state is State.FAILED else None
            content = {} if failure is None else {"run": run.label, **failure._asdict()}
            yield run.run_id, state, content
    for name in sorted(alone):  # nobody asks for it here
        yield name, State.FINISHED, alone[name]
    for file in sorted(source.glob("*/run.json")):
        finished = reader.finished(file.parent)
        state = State.FINISHED if finished else State.UNFINISHED
        yield file.parent.name, state, _read(file.parent) if finished else {}


def _read(directory: Path) -> Line:
    """The files of a run directory as the line of an archive."""
    line: Line = {
        "run": read_json(directory / "run.json", LARGEST_RUN),
        "final": read_json(directory / "final.json", LARGEST_RUN),
        "evaluations": rows(directory, "evaluations.jsonl"),
        "metrics": rows(directory, "metrics.jsonl"),
    }
    if (directory / "visits.json").exists():
        line["visits"] = read_json(directory / "visits.json", LARGEST_VISITS)
    return line


def _kept(line: Line, metrics: bool) -> Line:
    """What of a run is kept: the rows of metrics with the fields that are shown, or none."""
    kept = {part: line[part] for part in archive.PARTS if part in line and part != "metrics"}
    if metrics and line.get("metrics"):
        shown = lambda row: {name: row[name] for name in METRICS if name in row}
        kept["metrics"] = list(map(shown, line["metrics"]))
    return kept


def _joined(old: Line, new: Line, name: str, target: Path) -> Line:
    """Both together; where they contradict each other they are refused."""
    words = (new["run"].get(word, "?") for word in ("method_name", "env", "seed", "steps"))
    label = "{} on {}, seed {}, {} steps".format(*words)
    for part in old.keys() & new.keys():
        if where := _difference(part, old[part], new[part]):
            raise BadRequest(
                f'"{target / archive.FILE}" holds {label} ({name}) with another {where}; nothing '
                "was changed. Choose another --out, or remove the file there to begin it anew"
            )
    return {**old, **new}


def _difference(part: str, old: Any, new: Any) -> str:
    """Where a part of a run differs, in a word or two; empty where it does not."""
    if part == "run":
        # a run that was stored before a field came to be has that field at its default
        pairs = ((name, completed(old.get(name)), completed(new.get(name))) for name in IDENTITY)
        return next((name for name, before, now in pairs if before != now), "")
    if not isinstance(old, list):
        return next((name for name in old.keys() & new.keys() if old[name] != new[name]), "")
    if len(old) != len(new):
        return f"number of {part} ({len(old)}, now {len(new)})"
    for number, (before, now) in enumerate(zip(old, new, strict=True), 1):
        for name in before.keys() & now.keys():
            if before[name] != now[name]:
                return f"{name} in row {number} of {part}"
    return ""
