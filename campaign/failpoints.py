"""Crashes and failed writes at every call that a run makes to the disk, one after the other.

`Calls` stands in for `os` where mppo writes files. It counts, and at one call it lets the process
die, or the call fail. A death inside this process is played by an exception that nothing catches
and after which no call has an effect; for the calls of one save real processes really die, too.
Two more beginnings are tried in the same way, up to their first save: a run that goes on from an
older checkpoint, since the newest is damaged, and one that is started from scratch.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from campaign import refusals
from campaign.ledger import Row
from campaign.small import Small, contents, differences, outcome, surroundings, unreadable
from mppo.cli import main
from mppo.files import atomic, checkpoints

WATCHED = ("open", "write", "pwrite", "ftruncate", "fsync", "close", "replace", "rename")
WATCHED += ("unlink", "mkdir")
OF_A_SAVE = ("write", "fsync", "replace")
ERRORS = ("ENOSPC", "EDQUOT", "EIO", "EACCES", "EROFS")
WAYS = ("crash", "short", *ERRORS)  # short: half of a write, then no space
RUN = Small("mp-trpo", "mppo/Maze-v0", "continue", iterations=3)
SAVES_BEFORE = 1  # real deaths happen within the save after these
BEGINNINGS = {"older": [], "scratch": ["--from-scratch"]}  # beside that of an empty directory
REPLACED_BEFORE = {"older": 0, "scratch": 1}  # renames of whole files before those of a save


class Death(BaseException):
    """Nothing that this process does afterwards has an effect."""


class Calls:
    """A stand-in for the module `os`: the call of that number goes wrong in that way."""

    def __init__(self, root: Path, at: int | None = None, way: str = ""):
        self.root, self.at, self.way = str(root), at, way
        self.made: list[str] = []
        self.dead = False
        self.files: dict[int, str] = {}

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        return partial(self.call, name, real) if name in WATCHED else real

    def call(self, name: str, real: Any, target: Any, *rest: Any, **options: Any) -> Any:
        """Do what the call asks for, unless it is the one that goes wrong."""
        file = self.files.get(target, "") if isinstance(target, int) else str(target)
        lock_is_let_go = Path(file).name == "lock" and name in ("ftruncate", "pwrite", "close")
        lock_is_let_go = lock_is_let_go and (name != "pwrite" or self.dead)
        if not file.startswith(self.root) or (lock_is_let_go and not self.dead):
            return real(target, *rest, **options)
        if self.dead:
            if name == "close":
                return real(target)
            if name == "ftruncate" or lock_is_let_go:
                return None
            raise Death
        self.made.append(name)
        if len(self.made) - 1 == self.at:
            self._go_wrong(name, real, target, rest)
        answer = real(target, *rest, **options)
        if name == "open":
            self.files[answer] = file
        return answer

    def _go_wrong(self, name: str, real: Any, target: Any, rest: tuple) -> None:
        if self.way == "exit":
            os._exit(137)
        if self.way == "crash":
            self.dead = True
            raise Death
        if self.way == "short" and name == "write":
            real(target, bytes(rest[0])[: len(rest[0]) // 2])
        if name == "close":
            real(target)  # the descriptor is gone, whatever close says
        number = errno.ENOSPC if self.way == "short" else getattr(errno, self.way)
        raise OSError(number, os.strerror(number), str(target))


@contextlib.contextmanager
def watched(calls: Calls) -> Iterator[None]:
    """Let mppo write through these calls."""
    unlink, mkdir = Path.unlink, Path.mkdir

    def unlinked(path: Path, missing_ok: bool = False) -> None:
        calls.call("unlink", lambda target: unlink(path, missing_ok), str(path))

    def made(path: Path, *arguments: Any, **options: Any) -> None:
        if not path.exists():
            calls.call("mkdir", lambda target: mkdir(path, *arguments, **options), str(path))

    atomic.os, Path.unlink, Path.mkdir = calls, unlinked, made  # type: ignore
    try:
        yield
    finally:
        atomic.os, Path.unlink, Path.mkdir = os, unlink, mkdir  # type: ignore


def trained(
    out: Path, at: int | None = None, way: str = "", more: tuple[str, ...] | list[str] = ()
) -> tuple[int | None, str, Calls]:
    """Train with one call gone wrong: exit code (None: died), message, and the calls made."""
    calls, said = Calls(out, at, way), io.StringIO()
    try:
        with contextlib.redirect_stderr(said), watched(calls):
            code = main([*RUN.words(out), *more])
    except Death:
        code = None
    return code, said.getvalue().replace(str(out), "DIR"), calls


class Prepared:
    """The calls of a run that nothing disturbs, and its outcome."""

    def __init__(self, folder: Path):
        self.folder = folder
        code, said, calls = trained(folder / "reference")
        if code != 0:
            raise RuntimeError(f"the reference failed: {said}")
        self.calls, self.outcome = calls.made, outcome(folder / "reference")
        self.begun = {name: self._beginning(name) for name in BEGINNINGS}

    def _beginning(self, name: str) -> list[str]:
        """The calls of a beginning: up to the first file of the first save."""
        out = self._left(name, "reference")
        code, said, calls = trained(out, more=BEGINNINGS[name])
        if code != 0 or differences(out, self.outcome):
            raise RuntimeError(f"the reference of {name} failed: {said}")
        renames = [k for k, call in enumerate(calls.made) if call == "replace"]
        return calls.made[: renames[REPLACED_BEFORE[name]] + 1]

    def _left(self, name: str, case: str) -> Path:
        """An interrupted run, for "older" with its newest checkpoint damaged."""
        source, out = self.folder / "interrupted", self.folder / f"{name}-{case}" / "run"
        if not source.exists():
            refusals.interrupted(source, RUN, after=2)
        shutil.copytree(source, out)
        if name == "older":
            file = out / "checkpoints" / "000000002.safetensors"
            file.write_bytes(file.read_bytes()[:-1])
        return out

    def cases(self) -> list[str]:
        """Every call of the run in every way, "12 ENOSPC", and real deaths, "12 exit"; then those
        of the other beginnings: "older 12 ENOSPC".
        """
        found = [f"{k} {way}" for k, name in enumerate(self.calls) for way in ways(name)]
        found += [f"{k} exit" for k in self.one_save()]
        return found + [
            f"{beginning} {k} {way}"
            for beginning, calls in self.begun.items()
            for k, name in enumerate(calls)
            for way in ways(name)
        ]

    def one_save(self) -> list[int]:
        """The calls of one whole save: from the fsync of the logs to what follows the renames."""
        renames = [k for k, name in enumerate(self.calls) if name == "replace"][1:]  # not run.json
        start = renames[2 * SAVES_BEFORE - 1] + 1
        stop = renames[2 * SAVES_BEFORE + 1] + 3
        return [k for k in range(start, stop) if self.calls[k] in OF_A_SAVE]

    def run(self, case: str) -> Row:
        """Let one call go wrong, look at what is left, and go on to the end."""
        *beginning, number, way = case.split()
        if beginning:
            return self._begin(beginning[0], int(number), way)
        out = self.folder / f"case-{number}-{way}"
        if way == "exit":
            words = [sys.executable, "-m", "campaign.failpoints", number, str(out)]
            answer = subprocess.run(words, env=surroundings(), capture_output=True, check=False)
            code, said = answer.returncode, ""
            told = code == 137
        else:
            code, said, _ = trained(out, int(number), way)
            told = was_told(code, said, way)
        found = unreadable(out) if out.exists() else []
        kept = checkpoints.numbers(out / "checkpoints")
        again = main(RUN.words(out))
        different = differences(out, self.outcome) if again == 0 else [f"resuming exits {again}"]
        shutil.rmtree(out)
        row: Row = {"call": self.calls[int(number)], "way": way, "kept": len(kept)}
        if not told:
            row["silent"] = code
        if found or different:
            row |= {"unreadable": found, "different": different}
        row["ok"] = told and not found and not different
        return row

    def _begin(self, name: str, number: int, way: str) -> Row:
        """The same at a beginning: of what lay there before, every byte must still be there."""
        out, call = self._left(name, f"{number}-{way}"), self.begun[name][number]
        files = {file for file, found in contents(out).items() if found is not None}
        if name == "older":  # what is refused; rows behind the older checkpoint are cut off
            files = {file for file in files if "000000002" in file}
        before = sorted(contents(out)[file] or b"" for file in files - {"lock"})
        code, said, _ = trained(out, number, way, BEGINNINGS[name])
        left = list(contents(out.parent).values())
        lost = sum(content not in left for content in before)
        again = main(RUN.words(out))
        different = differences(out, self.outcome) if again == 0 else [f"resuming exits {again}"]
        shutil.rmtree(out.parent)
        went_on = code == 0 and (call == "pwrite" or "left where it is" in said)
        told = was_told(code, said, way) or went_on  # a lock's old content is no loss
        row: Row = {"call": call, "way": way, "beginning": name}
        row |= {} if told else {"silent": code}
        row |= {"lost": lost, "different": different} if lost or different else {}
        return {**row, "ok": told and not lost and not different}


def ways(call: str) -> list[str]:
    """The ways in which a call can go wrong."""
    return [way for way in WAYS if way != "short" or call == "write"]


def was_told(code: int | None, said: str, way: str) -> bool:
    """Whether a run died, or stopped and said why."""
    if way == "crash":
        return code is None
    named = "ENOSPC" if way == "short" else way
    return code in (2, 74) and os.strerror(getattr(errno, named)) in said


if __name__ == "__main__":
    trained(Path(sys.argv[2]), int(sys.argv[1]), "exit")
