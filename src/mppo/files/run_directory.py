"""The run directory as it is written; `files/reader.py` reads it."""

from __future__ import annotations

import contextlib
import json
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mppo.errors import BadRequest, CheckpointError, StorageFault
from mppo.files import atomic, checkpoints, reader, recovery, settings
from mppo.files.atomic import Appender, Lock, make_folder, present, reported, write_atomically
from mppo.files.checkpoints import Checkpoint, hash_of, read_json
from mppo.files.reader import LARGEST_RUN, LOGS

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

    def __init__(self, path: str | os.PathLike[str]):
        self.path: Path = Path(path)
        self._lock: Lock | None = None
        self._logs: dict[str, Appender] = {}
        self._events: Appender | None = None
        self.refused: list[str] = []  # why newer checkpoints were passed over
        self._left: list[int] = []  # those of them that could not be moved out of the way
        self.passed_over = ""  # the same in one line, for people
        self.aside: Path | None = None  # where the run is that was here before

    @property
    def finished(self) -> bool:
        """Whether a run has come to its end here."""
        return reader.finished(self.path)

    def description_to_continue(self) -> dict[str, Any] | None:
        """The same for those who are about to write: a refusal says what can be done."""
        try:
            return reader.description(self.path)
        except CheckpointError as error:
            raise CheckpointError(
                f"{error}. Nothing was changed. Put the file back as it was and try again; or "
                f"start anew with: mppo train METHOD ENV --out {self.path} --from-scratch (in "
                "Python: from_scratch=True), which moves this directory aside and deletes nothing"
            ) from error

    def begin(
        self, run: dict[str, Any], restore: Callable[[Checkpoint], Any] = lambda found: None
    ) -> Checkpoint | None:
        """Start this run here, or take up the same one where it was left.

        Returns the checkpoint that it goes on from: the newest that is good and that `restore`
        accepts; None if it starts from the beginning. A directory with anything else in it is
        refused and left as it is, and so is one of whose checkpoints none is good.
        """
        self.refuse_other(run)
        make_folder(self.path)
        lock = Lock(self.path)
        try:
            self.refuse_other(run)  # it may have come about while we waited
            choice = recovery.choose(self.path, LOGS, restore)
            if choice.found is None and self.finished:
                raise recovery.none_good(self.path, "the run is finished, and has no checkpoint")
        except BaseException:
            lock.release(as_found=True)
            raise
        self._lock = lock
        if not (self.path / "run.json").exists():
            self._write_description(run)  # before any other file: alone they would look foreign
        self._events = Appender(self.path / "events.jsonl", None)
        self._go_on_from(choice)
        return choice.found

    def _go_on_from(self, choice: recovery.Choice) -> None:
        """Put out of the way what is refused, and cut the logs back to what is not."""
        done = 0 if choice.found is None else choice.found.data["iteration"]
        for number, reason in choice.refused.items():
            place = None
            try:
                place = recovery.set_aside(self.path, number)
            except (StorageFault, CheckpointError):  # it stays, since it cannot be moved now
                self._left.append(number)
            self.event("checkpoint refused", number=number, reason=reason, moved_to=place)
        if choice.found is not None and choice.refused:
            self.refused = list(choice.refused.values())
            where = "left where it is" if self._left else "moved to checkpoints/refused"
            self.passed_over = (
                f'"{self.path}" goes on from checkpoint {done}; passed over and {where}: '
                + "; ".join(self.refused)
            )
        if self.finished:
            end: Any = None  # of the run as `final.json` says, if that can be read
            with contextlib.suppress(CheckpointError):
                end = read_json(self.path / "final.json", LARGEST_RUN).get("iterations")
            if end != done:
                with reported(self.path / "final.json"):
                    (self.path / "final.json").unlink()  # first: its rows are cut off now
        offsets = dict.fromkeys(LOGS, 0) if choice.found is None else choice.found.data["offsets"]
        for name in LOGS:
            self._logs[name] = Appender(self.path / name, offsets[name])
        before = {} if self.aside is None else {"before": self.aside.name}
        self.event("start" if choice.found is None else "resume", iteration=done, **before)

    def move_aside(self) -> Path | None:
        """Make room for a run from the beginning: the one that is here gets another name.

        Returns where it is then, None where there was none. What is no run is refused, and so is
        one that another process writes.
        """
        if not present(self.path / "run.json"):
            self.refuse_other({})
            return None
        lock, where = Lock(self.path), Path(os.path.abspath(self.path))
        within = Path.cwd().is_relative_to(where)
        try:
            self.aside = atomic.renamed_aside(where)
        finally:
            lock.release(as_found=True)
        if within:
            self.path = where  # a relative path would follow the old run to its new name
        return self.aside

    def reopen(self, run: dict[str, Any]) -> None:
        """Let a run that has begun here go on for longer than `run.json` says."""
        (self.path / "final.json").unlink(missing_ok=True)  # first: it speaks of the shorter run
        self._write_description(run)

    def _write_description(self, run: dict[str, Any]) -> None:
        self.write("run.json", {**run, "sha256": hash_of(plain(run))})

    def refuse_other(self, run: dict[str, Any]) -> None:
        """Raise unless this run may be written here."""
        # Listed before it is read: what another process begins meanwhile is no foreign file.
        listed = self._entries()
        there = self.description_to_continue()
        if there is not None:
            wanted = json.loads(json.dumps(plain(run)))
            older = {**there, "method": settings.completed(there.get("method"))}
            differs = [name for name in IDENTITY if older.get(name) != wanted.get(name)]
            if differs:
                way_out = "choose another --out, or --from-scratch, which moves it aside"
                if differs == ["steps"]:
                    way_out = f"mppo resume {self.path} --steps N makes it longer; or {way_out}"
                if differs == ["unfinished"]:  # begun by a version that let cut episodes go
                    way_out = f"mppo resume {self.path} goes on with it; or {way_out}"
                method, env, seed = (there.get(n, "?") for n in ("method_name", "env", "seed"))
                raise BadRequest(
                    f'"{self.path}" holds another run ({method} on {env}, seed {seed}; '
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

    def save(self, number: int, arrays: dict[str, np.ndarray], data: dict[str, Any]) -> None:
        """Write a checkpoint that remembers how far the logs had come."""
        if number in self._left:  # the last chance: nothing is written over
            recovery.set_aside(self.path, number)
            self._left.remove(number)
        for log in self._logs.values():
            log.sync()
        remembered = {
            "offsets": {name: log.offset for name, log in self._logs.items()},
            "logs_sha256": {name: log.sha256 for name, log in self._logs.items()},
        }
        folder = self.path / "checkpoints"
        with reported(folder):
            checkpoints.save(folder, number, arrays, {**plain(data), **remembered})

    def write(self, name: str, data: dict[str, Any], indent: int | None = 2) -> None:
        """Write a JSON file whole: readers see the old one or the new one."""
        text = json.dumps(plain(data), indent=indent, allow_nan=False) + "\n"
        write_atomically(self.path / name, text.encode())

    def append(self, name: str, row: dict[str, Any]) -> None:
        """Add one row of plain values to a log."""
        line = json.dumps(row, allow_nan=False, separators=(",", ":")) + "\n"
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
