"""Run directories as a report reads them: whatever is there is taken, whatever is not is noted."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mppo.errors import BadRequest
from mppo.files.atomic import is_aside
from mppo.files.run_directory import FORMAT, LARGEST_RUN
from mppo.report.text import visible

DEPTH = 3  # directories below those given in which runs are looked for
LARGEST_FILE = 1 << 28  # bytes of one log
MOST_PATHS = 64
_LARGEST = 1e300  # beyond it a chart cannot calculate
Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class RunRecord:
    """All that a run directory says."""

    name: str  # the directory, as it was given
    described: Row  # run.json
    metrics: list[Row]
    evaluations: list[Row]
    timing: list[Row]
    events: list[Row]
    visits: Row | None
    final: Row | None
    fault_files: tuple[str, ...]
    notes: list[str] = field(default_factory=list)

    def word(self, key: str) -> str:
        """A field of run.json as text."""
        return visible(self.described.get(key, "?"))

    @property
    def method(self) -> Row:
        """The configuration of the method."""
        found = self.described.get("method")
        return found if isinstance(found, dict) else {}

    @property
    def paths(self) -> int:
        """K, as far as the rows bear it out."""
        listed = self.metrics[-1].get("performance") if self.metrics else None
        known = len(listed) if isinstance(listed, list) else self.method.get("paths")
        return min(max(known, 1), MOST_PATHS) if isinstance(known, int) else 1

    @property
    def status(self) -> str:
        """finished, failed, stopped, complete (all rows, not closed) or unfinished."""
        if self.final is not None:
            return "finished"
        last = self.events[-1].get("event") if self.events else None
        if last in ("fault", "stopped"):
            return "failed" if last == "fault" else "stopped"
        wanted = self.described.get("iterations")
        if self.metrics and isinstance(wanted, int) and len(self.metrics) >= wanted:
            return "complete"
        return "unfinished"

    @property
    def ended(self) -> bool:
        """Whether it did all that it was to do."""
        return self.status in ("finished", "complete")

    @property
    def message(self) -> str:
        """What is to be said of a run that did not come to its end."""
        if self.status == "failed":
            return visible(self.events[-1].get("message", "no message was left"), 2000)
        return {
            "stopped": "stopped and saved; mppo resume goes on with it",
            "unfinished": "no end is recorded: it runs still, or was killed; mppo resume goes on",
            "complete": "all iterations are there; final.json is not",
        }.get(self.status, "")


def column(rows: Sequence[Row], key: str) -> np.ndarray:
    """One number of each row; not a number where there is none.

    >>> column([{"kl": 0.5}, {"kl": None}, {"kl": "x"}, {"kl": True}], "kl").tolist()
    [0.5, nan, nan, 1.0]
    """
    return _numbers([row.get(key) for row in rows])


def columns(rows: Sequence[Row], key: str, width: int) -> np.ndarray:
    """A list of numbers of each row as [rows, width]."""
    found = np.full((len(rows), width), np.nan)
    for into, row in zip(found, rows, strict=True):
        given = row.get(key)
        if isinstance(given, list):
            into[: len(given)] = _numbers(given[:width])
    return found


def find(directories: Sequence[str | Path]) -> list[tuple[Path, str]]:
    """The run directories among and below those given, each with the name to show for it."""
    found: dict[Path, tuple[Path, str]] = {}
    for given in directories:
        top = Path(given)
        if not top.is_dir():
            raise BadRequest(f'"{given}" is not a directory; give run directories or their parents')
        below = list(_runs_below(top, DEPTH))
        if not below:
            raise BadRequest(
                f'"{given}" holds no run (no run.json in it or up to {DEPTH} levels below)'
            )
        for path in below:
            found.setdefault(path.resolve(), (path, _shown(top, path)))
    return list(found.values())


def _runs_below(path: Path, depth: int) -> Iterator[Path]:
    if (path / "run.json").is_file():
        yield path
    elif depth:
        try:
            entries = sorted(path.iterdir())
        except OSError:
            return
        for entry in entries:
            hidden = entry.name.startswith(".") or is_aside(entry.name)  # the same run, begun twice
            if entry.is_dir() and not entry.is_symlink() and not hidden:
                yield from _runs_below(entry, depth - 1)


def _shown(top: Path, path: Path) -> str:
    """The last parts of a path: nothing above what was given is told."""
    given = top.parts[-2:] if not top.is_absolute() else top.parts[-1:]
    if not given or ".." in given:
        given = (top.resolve().name,)
    return "/".join([*given, *path.relative_to(top).parts])


def read(path: Path, name: str) -> RunRecord:
    """One run; what cannot be read is left out and noted. Raises where run.json is no run's."""
    notes: list[str] = []
    described = _json(path / "run.json", LARGEST_RUN, notes)
    if not isinstance(described, dict):
        raise BadRequest(f'"{name}": {notes[0] if notes else "run.json is not an object"}')
    if described.get("format") != FORMAT:
        notes.append(
            f"run.json is in format {visible(described.get('format'), 40)}; this version reads "
            f"format {FORMAT}, and shows what it understands"
        )
    logs = {
        log: _rows(path / f"{log}.jsonl", notes)
        for log in ("metrics", "evaluations", "timing", "events")
    }
    refused = sum(row.get("event") == "checkpoint refused" for row in logs["events"])
    if refused:
        notes.append(f"{refused} damaged checkpoint(s) refused when resuming")
    final, visits = (
        _json(path / file, LARGEST_FILE, notes) if (path / file).exists() else None
        for file in ("final.json", "visits.json")
    )
    folder = path / "fault"
    faults = tuple(sorted(f.name for f in folder.iterdir())) if folder.is_dir() else ()
    return RunRecord(
        name,
        described,
        **logs,
        visits=visits if isinstance(visits, dict) else None,
        final=final if isinstance(final, dict) else None,
        fault_files=faults,
        notes=notes,
    )


def _json(file: Path, largest: int, notes: list[str]) -> Any:
    try:
        if file.stat().st_size > largest:
            notes.append(f"{file.name} is too large ({file.stat().st_size:,} bytes)")
            return None
        return json.loads(file.read_bytes().decode("utf-8", "replace"))
    except OSError as error:
        notes.append(f"{file.name} cannot be read: {error.strerror}")
    except (ValueError, RecursionError) as error:
        notes.append(f"{file.name} is not JSON: {visible(error, 120)}")
    return None


def _rows(file: Path, notes: list[str]) -> list[Row]:
    """All rows that can be read; a torn last line is what a killed run leaves, and not noted."""
    if not file.exists():
        return []
    try:
        if file.stat().st_size > LARGEST_FILE:
            notes.append(f"{file.name} is too large ({file.stat().st_size:,} bytes)")
            return []
        text = file.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        notes.append(f"{file.name} cannot be read: {error.strerror}")
        return []
    found, bad = [], 0
    for line in text[: text.rfind("\n") + 1].split("\n"):
        if not line:
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict):
            found.append(row)
        else:
            bad += 1
    if bad:
        notes.append(f"{file.name}: {bad} row(s) could not be read and are left out")
    return found


def _numbers(values: list[Any]) -> np.ndarray:
    if {float, int}.issuperset(map(type, values)):  # nearly always
        with contextlib.suppress(OverflowError):
            found = np.array(values, dtype=float)
            return np.where(np.abs(found) < _LARGEST, found, np.nan)
    return np.array([_number(value) for value in values], dtype=float)


def _number(value: Any) -> float:
    if not isinstance(value, int | float):
        return math.nan
    try:
        number = float(value)
    except OverflowError:
        return math.nan
    return number if math.isfinite(number) and abs(number) < _LARGEST else math.nan
