"""Run directories as a report reads them: whatever is there is taken, whatever is not is noted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mppo.errors import BadRequest
from mppo.files import reader
from mppo.files.reader import DEEPEST, FORMAT, LARGEST, LARGEST_RUN, Row, State
from mppo.report.text import visible

MOST_PATHS = 64
_LARGEST = 1e300  # beyond it a chart cannot calculate


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
    failure: str = ""  # as a grid noted it

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
    def status(self) -> State:
        """How it stands, by what could be read."""
        if self.final is not None:
            return State.FINISHED
        found = reader.state_without_end(self.failure, self.events)
        wanted = self.described.get("iterations")
        whole = self.metrics and isinstance(wanted, int) and len(self.metrics) >= wanted
        return State.COMPLETE if whole and found is State.UNFINISHED else found

    @property
    def ended(self) -> bool:
        """Whether it did all that it was to do."""
        return self.status in (State.FINISHED, State.COMPLETE)

    @property
    def message(self) -> str:
        """What is to be said of a run that did not come to its end."""
        if self.status is State.FAILED:
            said = self.failure or self.events[-1].get("message", "no message was left")
            return visible(said, 2000)
        return {
            State.STOPPED: "stopped and saved; mppo resume goes on with it",
            State.UNFINISHED: "no end is recorded: it runs still, or was killed; mppo resume goes "
            "on",
            State.COMPLETE: "all iterations are there; final.json is not",
        }.get(self.status, "")


def column(rows: Sequence[Row], key: str) -> np.ndarray:
    """One number of each row; not a number where there is none.

    >>> column([{"kl": 0.5}, {"kl": None}, {"kl": "x"}, {"kl": True}], "kl").tolist()
    [0.5, nan, nan, 1.0]
    """
    return numbers([row.get(key) for row in rows])


def numbers(values: Any) -> np.ndarray:
    """The items of a list that a chart can draw, others as not a number; none of what is no list.

    >>> numbers([0.5, None, 10**400]).tolist(), numbers("x").tolist()
    ([0.5, nan, nan], [])
    """
    usable = lambda value: isinstance(value, (int, float)) and abs(value) < _LARGEST
    given = values if isinstance(values, list) else []
    return np.array([value if usable(value) else math.nan for value in given], float)


def columns(rows: Sequence[Row], key: str, width: int) -> np.ndarray:
    """A list of numbers of each row as [rows, width]."""
    found = np.full((len(rows), width), np.nan)
    for into, row in zip(found, rows, strict=True):
        given = numbers(row.get(key))[:width]
        into[: len(given)] = given
    return found


def find(directories: Sequence[str | Path]) -> list[tuple[Path, str]]:
    """The run directories among and below those given, each with the name to show for it."""
    found: dict[Path, tuple[Path, str]] = {}
    for given in directories:
        top = Path(given)
        if not top.is_dir():
            raise BadRequest(f'"{given}" is not a directory; give run directories or their parents')
        below = list(reader.runs_below(top))
        if not below:
            raise BadRequest(
                f'"{given}" holds no run (no run.json in it or up to {DEEPEST} levels below)'
            )
        above = top.parts[-1:] if top.is_absolute() else top.parts[-2:]
        if not above or ".." in above:
            above = (top.resolve().name,)
        for path in below:  # nothing above what was given is told
            name = "/".join([*above, *path.relative_to(top).parts])
            found.setdefault(path.resolve(), (path, name))
    return list(found.values())


def read(path: Path, name: str) -> RunRecord:
    """One run; what cannot be read is left out and noted. Raises where run.json is no run's."""
    notes: list[str] = []
    described = reader.json_object(path / "run.json", LARGEST_RUN, notes)
    if described is None:
        raise BadRequest(f'"{name}": {notes[0]}')
    if described.get("format") != FORMAT:
        notes.append(
            f"run.json is in format {visible(described.get('format'), 40)}; this version reads "
            f"format {FORMAT}, and shows what it understands"
        )
    events = reader.rows(path, "events.jsonl", notes)
    refused = sum(row.get("event") == "checkpoint refused" for row in events)
    if refused:
        notes.append(f"{refused} damaged checkpoint(s) refused when resuming")
    folder = path / "fault"
    return RunRecord(
        name,
        described,
        **reader.history(path, notes)._asdict(),
        events=events,
        visits=reader.json_object(path / "visits.json", LARGEST, notes),
        final=reader.json_object(path / "final.json", LARGEST, notes),
        fault_files=tuple(sorted(f.name for f in folder.iterdir())) if folder.is_dir() else (),
        notes=notes,
        failure=reader.noted_failure(path),
    )
