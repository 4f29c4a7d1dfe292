"""The run directory: what it holds and how it is written."""

from __future__ import annotations

import contextlib
import json
import math
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from mppo import checkpoint
from mppo.checkpoint import Checkpoint, check_format, hash_of, read_json
from mppo.errors import BadRequest, CheckpointError
from mppo.storage import Appender, Lock, reported, write_atomically

FORMAT = 1
LOGS = ("metrics.jsonl", "evaluations.jsonl", "timing.jsonl")
LARGEST_RUN = 1 << 20  # bytes of run.json
_ENVIRONMENT = ("env", "env_kwargs", "wrappers", "envs")
IDENTITY = ("format", "method", *_ENVIRONMENT, "seed", "steps", "evaluation", "unfinished")
"""The fields of run.json that make two runs the same run."""


def plain(value: Any) -> Any:
    """JSON data of arrays and numbers; what is not finite becomes null.

    >>> plain({"kl": np.float32(0.1), "J": np.array([1.0, np.nan])})
    {'kl': 0.1, 'J': [1.0, None]}
    """
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value] if value.ndim else plain(value[()])
    if isinstance(value, bool | np.bool):
        return bool(value)
    if isinstance(value, np.integer | int):
        return int(value)
    if isinstance(value, np.float32):  # type: ignore
        value = float(str(value))  # the shortest decimal that reads back to the same bits
    if isinstance(value, np.floating | float):  # type: ignore
        return float(value) if math.isfinite(value) else None
    return value


class RunDirectory:
    """One run's files: `run.json` first, rows appended as they come, `final.json` last."""

    path: Path

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self._lock: Lock | None = None
        self._logs: dict[str, Appender] = {}
        self._events: Appender | None = None
        self.refused: list[str] = []  # why newer checkpoints were passed over

    @property
    def checkpoints(self) -> Path:
        """Where the checkpoints are."""
        return self.path / "checkpoints"

    @property
    def finished(self) -> bool:
        """Whether a run has come to its end here."""
        return (self.path / "final.json").exists()

    def description(self) -> dict[str, Any] | None:
        """What `run.json` says, or None where there is no run; one that was changed is refused."""
        file = self.path / "run.json"
        if not file.exists():
            return None
        found = read_json(file, LARGEST_RUN)
        if "format" in found:
            check_format(file, found, FORMAT)
        claimed = found.get("sha256")
        rest = {name: value for name, value in found.items() if name != "sha256"}
        if claimed != hash_of(rest) and ("format" in found or claimed is not None):
            raise CheckpointError(
                f'"{file}" does not match its hash: it was changed after it was written'
            )
        return found

    def begin(self, run: dict[str, Any]) -> Checkpoint | None:
        """Start this run here, or take up the same one where it was left.

        Returns the newest good checkpoint, None if it starts from the beginning. A directory with
        anything else in it is refused and left as it is.
        """
        self.refuse_other(run)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadRequest(f'cannot write to "{self.path}": {error.strerror}') from error
        self._lock = Lock(self.path)
        self.refuse_other(run)  # it may have come about while we waited
        if not (self.path / "run.json").exists():
            self._write_description(run)  # before any other file: alone they would look foreign
        self._events = Appender(self.path / "events.jsonl", None)
        found = self._newest_good()
        offsets = found.data["offsets"] if found is not None else dict.fromkeys(LOGS, 0)
        for name in LOGS:
            self._logs[name] = Appender(self.path / name, offsets[name])
        how = "resume" if found is not None else "start"
        self.event(how, iteration=found.data["iteration"] if found is not None else 0)
        return found

    def reopen(self, run: dict[str, Any]) -> None:
        """Let a run that has begun here go on for longer than `run.json` says."""
        (self.path / "final.json").unlink(missing_ok=True)  # first: it speaks of the shorter run
        self._write_description(run)

    def _write_description(self, run: dict[str, Any]) -> None:
        self.write("run.json", {**run, "sha256": hash_of(plain(run))})

    def newest(self) -> Checkpoint:
        """The newest checkpoint that verifies, for those who only read."""
        refused: list[str] = []
        for number in checkpoint.numbers(self.checkpoints):
            try:
                return checkpoint.load(self.checkpoints, number)
            except CheckpointError as error:
                refused.append(str(error))
        if refused:
            raise CheckpointError(f'"{self.path}" has no good checkpoint: {"; ".join(refused)}')
        raise BadRequest(
            f'"{self.path}" has no checkpoint yet; the first one is saved after a minute of '
            "training, and when a run stops or ends"
        )

    def refuse_other(self, run: dict[str, Any]) -> None:
        """Raise unless this run may be written here."""
        # Listed before it is read: what another process begins meanwhile is no foreign file.
        listed = self._entries()
        there = self.description()
        if there is not None:
            wanted = json.loads(json.dumps(plain(run)))
            differs = [name for name in IDENTITY if there.get(name) != wanted.get(name)]
            if differs:
                way_out = "choose another --out or remove it"
                if differs == ["unfinished"]:  # begun by a version that let cut episodes go
                    way_out = f"mppo resume {self.path} goes on with it; or {way_out}"
                raise BadRequest(
                    f'"{self.path}" holds another run ({_describe(there)}; '
                    f"{', '.join(differs)} differ); {way_out}"
                )
        elif any(name != "lock" and not name.startswith(".") for name in listed):
            raise BadRequest(f'"{self.path}" is not an empty directory; choose another --out')

    def _entries(self) -> list[str]:
        if not self.path.exists():
            return []
        if not self.path.is_dir():
            raise BadRequest(f'"{self.path}" is not a directory; choose another --out')
        try:
            return os.listdir(self.path)
        except OSError as error:
            raise BadRequest(f'cannot read "{self.path}": {error.strerror}') from error

    def _newest_good(self) -> Checkpoint | None:
        """The newest checkpoint that verifies and whose logs are all there."""
        for number in checkpoint.numbers(self.checkpoints):
            try:
                return self._fitting(checkpoint.load(self.checkpoints, number), number)
            except (CheckpointError, OSError) as error:
                self.refused.append(str(error))
                self.event("checkpoint refused", number=number, reason=str(error))
        return None

    def _fitting(self, found: Checkpoint, number: int) -> Checkpoint:
        """The checkpoint, if it is of its iteration and the logs are those that it remembers."""
        offsets = found.data.get("offsets")
        if type(found.data.get("iteration")) is not int or found.data["iteration"] != number:
            raise CheckpointError(f'"{found.path}" is not of iteration {number}')
        if not isinstance(offsets, dict) or any(type(offsets.get(n)) is not int for n in LOGS):
            raise CheckpointError(f'"{found.path}" does not say how far the logs had come')
        for name in LOGS:
            offset, file = offsets[name], self.path / name
            before = file.read_bytes()[:offset] if 0 <= offset <= file.stat().st_size else b""
            if len(before) != offset or (before and not before.endswith(b"\n")):
                raise CheckpointError(f'"{file}" does not reach as far as checkpoint {number} says')
            if name == "metrics.jsonl" and before and not _ends_before(before, number):
                raise CheckpointError(f'"{file}" does not end with the iteration before {number}')
        return found

    def save(self, number: int, arrays: dict[str, np.ndarray], data: dict[str, Any]) -> None:
        """Write a checkpoint that remembers how far the logs had come."""
        for log in self._logs.values():
            log.sync()
        offsets = {name: log.offset for name, log in self._logs.items()}
        with reported(self.checkpoints):
            checkpoint.save(self.checkpoints, number, arrays, {**plain(data), "offsets": offsets})

    def write(self, name: str, data: dict[str, Any], indent: int | None = 2) -> None:
        """Write a JSON file whole: readers see the old one or the new one."""
        text = json.dumps(plain(data), indent=indent, allow_nan=False) + "\n"
        write_atomically(self.path / name, text.encode())

    def append(self, name: str, row: dict[str, Any]) -> None:
        """Add one row to a log."""
        line = json.dumps(plain(row), allow_nan=False, separators=(",", ":")) + "\n"
        self._logs[name].append(line.encode())

    def event(self, what: str, **details: Any) -> None:
        """Note in `events.jsonl` that something happened: the only file with the time of day."""
        assert self._events is not None, "an event of a run that has not begun"
        row = {"time": round(time.time(), 3), "event": what, "pid": os.getpid(), **details}
        self._events.append((json.dumps(plain(row), separators=(",", ":")) + "\n").encode())

    def close(self) -> None:
        """Close all files and let others write."""
        with contextlib.ExitStack() as stack:  # all of them, even if one cannot be closed
            if self._lock is not None:
                stack.callback(self._lock.release)
            for log in (*self._logs.values(), self._events):
                if log is not None:
                    stack.callback(log.close)
            self._logs, self._events, self._lock = {}, None, None


def _ends_before(lines: bytes, number: int) -> bool:
    """Whether the last row is of the iteration before; a run may have learnt elsewhere at first."""
    try:
        return json.loads(lines.splitlines()[-1]).get("iteration", number - 1) == number - 1
    except (ValueError, AttributeError, RecursionError):
        return False


def rows(path: str | os.PathLike[str], name: str) -> list[dict[str, Any]]:
    """All complete rows of a JSON-lines file; a torn last line is left out."""
    file = Path(path) / name
    if not file.exists():
        return []
    content = file.read_bytes()
    found = []
    for number, line in enumerate(content[: content.rfind(b"\n") + 1].splitlines(), 1):
        try:
            found.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise CheckpointError(f'"{file}", line {number}, is not valid JSON: {error}') from error
    return found


def _describe(run: dict[str, Any]) -> str:
    words = (run.get(name, "?") for name in ("method_name", "env", "seed"))
    return "{} on {}, seed {}".format(*words)
