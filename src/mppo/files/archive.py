"""The archive of a grid: all its runs in one compressed file of JSON lines.

`runs.jsonl.gz` is read by anything that reads gzip and JSON (`zcat`, `pandas.read_json(...,
lines=True)`). A line is an object: `kind` is "request", "run" or "failure", `id` its name. A run
has `run` and `final` as in run.json and final.json, `evaluations` and `metrics` as lists of rows,
and `visits` on a Maze. Every line is a gzip member of its own, in the order of kind and name: when
runs are added, the bytes of all others stay as they are, and a version control keeps the
difference alone.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from mppo.errors import CheckpointError
from mppo.files.atomic import write_atomically
from mppo.files.checkpoints import read_bytes, refuse_constant

FILE = "runs.jsonl.gz"
LARGEST_FILE = 1 << 28  # bytes, compressed
LARGEST = 1 << 30  # bytes of all lines
KINDS = ("request", "run", "failure")
"""Of lines, in the order of `Archive`."""
PARTS = {"run": dict, "final": dict, "evaluations": list, "metrics": list, "visits": dict}
"""What a line of a run may hold; `run` must be there."""

Line = dict[str, Any]


class Archive(NamedTuple):
    """What an archive holds, by name."""

    requests: dict[str, Line]
    """Label and runs of everything that was asked for."""
    runs: dict[str, Line]
    """The parts of each run."""
    failures: dict[str, Line]
    """How the last attempt of a run failed."""


NOTHING = Archive({}, {}, {})
"""What a folder without an archive holds."""


def read(folder: Path) -> Archive:
    """The archive in a folder, empty where there is none; a damaged one is refused by name."""
    file = folder / FILE
    try:
        found = file.stat()
    except OSError:
        return NOTHING
    return _read(file, found.st_mtime_ns, found.st_size, found.st_ino)


@lru_cache(maxsize=32)  # one for each folder of results
def _read(file: Path, *version: int) -> Archive:
    archive = Archive({}, {}, {})
    by_kind = dict(zip(KINDS, archive, strict=True))
    for number, text in enumerate(_content(file).splitlines(), 1):
        try:
            line = json.loads(text, parse_constant=refuse_constant)
            kind, name = line.pop("kind"), line.pop("id")
            _check(kind, name, line)
            if name in by_kind[kind]:
                raise ValueError(f'the {kind} "{name}" stands twice')
        except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
            why = f"no field {error}" if isinstance(error, KeyError) else str(error)
            raise CheckpointError(f'"{file}", line {number}: {why}') from error
        by_kind[kind][name] = line
    return archive


def _content(file: Path) -> bytes:
    compressed = read_bytes(file, LARGEST_FILE)
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(compressed)) as opened:
            content = opened.read(LARGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise CheckpointError(f'"{file}" is damaged: {error}') from error
    if len(content) > LARGEST:
        raise CheckpointError(f'"{file}" holds more than {LARGEST} bytes')
    return content


def _check(kind: Any, name: Any, line: Line) -> None:
    """Raise unless this is a line of that kind."""
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}")
    if not isinstance(name, str) or Path(name).name != name or name.startswith("."):
        raise ValueError(f"id is {name!r}, which names nothing in a folder")
    if kind == "run":
        if "run" not in line:
            raise KeyError("run")
        for part, content in line.items():
            if part not in PARTS or not isinstance(content, PARTS[part]):
                raise ValueError(f'"{part}" is no part of a run, or not of its type')


def write(folder: Path, archive: Archive) -> int:
    """Write an archive whole and durably; returns its bytes. The same content is the same bytes."""
    into = io.BytesIO()
    for kind, lines in zip(KINDS, archive, strict=True):
        for name in sorted(lines):
            line = {"kind": kind, "id": name, **lines[name]}
            text = json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n"
            # compressed by itself, without the time and place at which that happened
            with gzip.GzipFile("", "wb", 9, into, mtime=0) as opened:
                opened.write(text.encode())
    write_atomically(folder / FILE, into.getvalue())
    return len(into.getvalue())
