"""TensorBoard, Weights & Biases and Trackio; the x-axis is environment steps."""

# pyright: strict
from __future__ import annotations

import importlib
import json
import struct
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from mppo.errors import BadRequest
from mppo.files.atomic import write_atomically
from mppo.files.reader import PathLike, Row

EVENTS = "events.out.tfevents.*"


class TensorBoard:
    """Writes to `folder`, by default `tensorboard` in the run directory.

    After an interruption a new event file continues the old ones. It begins with the last step
    that they and the rows share, and with the mark at which TensorBoard drops what older files say
    of that step and later ones: a curve has every step once, also after kill -9.
    """

    def __init__(self, folder: PathLike | None = None):
        self.folder = None if folder is None else Path(folder)
        self._writer: Any = None
        try:  # a missing extra is said now, not after hours
            self._library: Any = importlib.import_module("tensorboardX")
        except ImportError as error:
            needs = "TensorBoard events need tensorboardX"
            raise BadRequest(f'{needs}: pip install "mppo[tensorboard]"') from error

    def start(self, described: Row, folder: Path | None, steps: int) -> int:
        """Continue the event files that are there."""
        if self.folder is None:
            if folder is None:
                raise BadRequest(
                    "TensorBoard(folder) needs a folder, or a run with a directory (out=...)"
                )
            self.folder = folder / "tensorboard"
        files = list(self.folder.glob(EVENTS))
        written = max((step for file in files for step in _steps(file)), default=None)
        first = min(written, steps) if written is not None else 0
        purge = None if written is None else first
        # names hold the time in seconds: two files of one second would be one without the number
        self._writer = self._library.SummaryWriter(
            str(self.folder), purge_step=purge, filename_suffix=f".{len(files):05d}"
        )
        return first

    def log(self, steps: int, numbers: dict[str, float]) -> None:
        """One event for each number."""
        for name, value in numbers.items():
            self._writer.add_scalar(name, value, steps)
        self._writer.flush()  # so that a curve can be watched, and little is said twice

    def close(self) -> None:
        """Close the file."""
        self._writer.close()


def folder_below(parent: PathLike, out: PathLike | None, method: str) -> Path:
    """One folder for each run: named as the run directory, or the method with the next number."""
    if out is not None:
        return Path(parent) / Path(out).name
    numbered = (Path(parent) / f"{method}_{n}" for n in count(1))
    return next(path for path in numbered if not path.exists())


def _steps(file: Path) -> Iterator[int]:
    """Steps of all whole events with a number; a torn end is left out.

    The format: length (8 bytes), its checksum (4), the event, its checksum (4).
    """
    event_of: Any = importlib.import_module("tensorboardX.proto.event_pb2").Event.FromString
    content, at = file.read_bytes(), 0
    while at + 12 <= len(content):
        (length,) = struct.unpack_from("<Q", content, at)
        end = at + 12 + length
        if end + 4 > len(content):
            return
        event: Any = event_of(content[at + 12 : end])
        if event.HasField("summary"):
            yield int(event.step)
        at = end + 4


class _Tracker(ABC):
    """`init`, `log` and `finish` of a module; how far it was told is kept in the run directory.

    Steps told before are not told again after a resume: they would be the same numbers.
    """

    module_name = ""

    def __init__(self, project: str, name: str | None = None, **init: Any):
        self.project, self.name, self.init = project, name, init
        try:
            self._module: Any = importlib.import_module(self.module_name)
        except ImportError as error:
            needs = f"{type(self).__name__} needs {self.module_name}"
            raise BadRequest(f'{needs}: pip install "mppo[track]"') from error
        self._mark: Path | None = None

    def start(self, described: Row, folder: Path | None, steps: int) -> int:
        """Begin the tracked run, or take it up again."""
        name = self.name or "{method_name}-{env}-seed-{seed}".format(**described).replace("/", "-")
        self._mark = None if folder is None else folder / f"{self.module_name}.json"
        known: Row = {}
        with suppress(FileNotFoundError, ValueError, TypeError):
            known = {} if self._mark is None else dict(json.loads(self._mark.read_text()))
        if (known.get("project"), known.get("name")) != (self.project, name):
            known = {}  # of another tracked run
        told = int(known.get("steps", -1))
        self._state: Row = {"project": self.project, "name": name, "steps": told}
        self._begin(name, described, folder, known)
        return told + 1

    @abstractmethod
    def _begin(self, name: str, described: Row, folder: Path | None, known: Row) -> None:
        """Begin, or go on with what is known of an earlier part."""

    def log(self, steps: int, numbers: dict[str, float]) -> None:
        """One call for all numbers of an iteration."""
        self._module.log(numbers, step=steps)
        self._state["steps"] = steps
        if self._mark is not None:
            write_atomically(self._mark, json.dumps(self._state).encode())

    def close(self) -> None:
        """End the tracked run."""
        self._module.finish()


class WandB(_Tracker):
    """Weights & Biases; `init` takes whatever `wandb.init` does (mode="offline", tags, ...)."""

    module_name = "wandb"

    def _begin(self, name: str, described: Row, folder: Path | None, known: Row) -> None:
        given = {"project": self.project, "name": name, "config": described, "resume": "allow"}
        given |= {"id": known.get("id"), "dir": None if folder is None else str(folder)}
        self._state["id"] = self._module.init(**{**given, **self.init}).id


class Trackio(_Tracker):
    """Trackio, local and without an account; `init` takes whatever `trackio.init` does."""

    module_name = "trackio"

    def _begin(self, name: str, described: Row, folder: Path | None, known: Row) -> None:
        how = "must" if known else "never"
        given = {"project": self.project, "name": name, "config": described, "resume": how}
        self._module.init(**{**given, **self.init})
