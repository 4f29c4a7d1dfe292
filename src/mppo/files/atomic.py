"""Files that are never half written, directories with one writer, no write that fails silently."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import itertools
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

from mppo.errors import BadRequest, CheckpointError, RunLocked, StorageFault

RESERVE = 100 << 20  # bytes that must stay free beside what a run is known to write
PATIENCE = 1.0  # seconds that the holder of a lock has to put itself down
_ASIDE = re.compile(r".+\.aside-\d+")


def require_space(path: Path, needed: int) -> None:
    """Raise unless so many bytes, and some in reserve, are free where this path is or will be."""
    there = next(p for p in (path.absolute(), *path.absolute().parents) if p.exists())
    with reported(path):
        found = os.statvfs(there)
    if not found.f_blocks:
        return  # no file system that counts its bytes: writing will tell
    free, wanted = found.f_bavail * found.f_frsize, needed + RESERVE
    if free < wanted:
        raise StorageFault(
            f'"{path}" has {free / 1e6:.0f} MB free, and a run needs {wanted / 1e6:.0f} MB (two '
            f"checkpoints and {RESERVE / 1e6:.0f} MB in reserve); make room, or choose another "
            "--out"
        )


@contextlib.contextmanager
def reported(path: Path) -> Iterator[None]:
    """Turn a failed write into a fault that names the file: a run must not go on without."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageFault(
            f'cannot write "{path}": {reason}; what was saved before is still good. Make room or '
            "mend the disk, then resume"
        ) from error


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file whole and durably: same directory, fsync, rename, fsync of the directory."""
    temporary = path.with_name(f".{path.name}.tmp")
    with reported(path):
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            try:
                view = memoryview(content)
                while view:
                    view = view[os.write(descriptor, view) :]
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            os.replace(temporary, path)
            sync_directory(path.parent)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise


def make_folder(path: Path, within: Path | None = None) -> None:
    """Make a directory; where that cannot be, BadRequest names it, or the one it is within."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadRequest(f'cannot write to "{within or path}": {error.strerror}') from error


def present(path: Path) -> bool:
    """Whether something has this name; where that cannot be told, CheckpointError is raised."""
    try:
        os.lstat(path)  # a link to what is not there is no reason to write over it
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise CheckpointError(f'cannot read "{path}": {error.strerror}') from error
    return True


def renamed_aside(directory: Path) -> Path:
    """Give a directory the next free of the names NAME.aside-1, -2, ...; nothing in it changes."""
    aside = directory.with_name(f"{directory.name}.aside-{len(asides(directory)) + 1}")
    with reported(directory):
        os.rename(directory, aside)
        sync_directory(directory.parent)
    return aside


def asides(directory: Path) -> list[Path]:
    """What was moved aside from here, the oldest first."""
    names = (directory.with_name(f"{directory.name}.aside-{n}") for n in itertools.count(1))
    return list(itertools.takewhile(os.path.lexists, names))


def is_aside(name: str) -> bool:
    """Whether this is the name of a directory that was moved aside.

    >>> is_aside("seed-0.aside-1"), is_aside("seed-0")
    (True, False)
    """
    return _ASIDE.fullmatch(name) is not None


def moved(files: list[Path], folder: Path) -> list[Path]:
    """Move files into a folder, where none is written over: a name that is taken gets a number."""
    folder.mkdir(mode=0o755, exist_ok=True)
    endings = itertools.chain([""], (f"-{n}" for n in itertools.count(2)))
    choices = ([folder / f"{file.stem}{end}{file.suffix}" for file in files] for end in endings)
    targets = next(paths for paths in choices if not any(map(os.path.lexists, paths)))
    for file, target in zip(files, targets, strict=True):
        os.rename(file, target)
    for place in {folder, *(file.parent for file in files)}:
        sync_directory(place)
    return targets


def sync_directory(path: Path) -> None:
    """Make a rename in this directory survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Appender:
    """An append-only file of lines; `offset` and `sha256` are what a checkpoint remembers."""

    def __init__(self, path: Path, offset: int | None = 0):
        """Go on at the offset; None is the end of the last line that is whole."""
        self.path = path
        self._hash = hashlib.sha256()
        with reported(path):
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                self._cut_to(offset)
            except BaseException:
                os.close(self._descriptor)
                raise

    def _cut_to(self, offset: int | None) -> None:
        """Forget what lies behind the offset: rows of iterations that are done again."""
        size = os.fstat(self._descriptor).st_size
        if offset is None:  # a line written behind a torn one would be lost with it
            offset = os.pread(self._descriptor, size, 0).rfind(b"\n") + 1
        if size < offset:
            raise CheckpointError(f'"{self.path}" is shorter than the checkpoint says')
        os.ftruncate(self._descriptor, offset)
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        while chunk := os.read(self._descriptor, 1 << 20):  # leaves the position at the end
            self._hash.update(chunk)

    @property
    def sha256(self) -> str:
        """Of all that is in the file."""
        return self._hash.hexdigest()

    @property
    def offset(self) -> int:
        """Bytes written so far."""
        return os.lseek(self._descriptor, 0, os.SEEK_CUR)

    def append(self, line: bytes) -> None:
        """Write one line in one call."""
        with reported(self.path):
            view = memoryview(line)
            while view:
                view = view[os.write(self._descriptor, view) :]
        self._hash.update(line)

    def sync(self) -> None:
        """Make all lines durable."""
        with reported(self.path):
            os.fsync(self._descriptor)

    def close(self) -> None:
        """Close the file."""
        with reported(self.path):
            os.close(self._descriptor)


class Lock:
    """One writer for a directory; the kernel releases it at the writer's death."""

    def __init__(self, directory: Path):
        self.path: Path = directory / "lock"
        self._before: bytes | None = None  # what was in the file, None where there was none
        known = os.path.lexists(self.path)
        with reported(self.path):
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            with reported(self.path):
                self._take(directory, known)
        except BaseException:
            os.close(self._descriptor)
            raise

    def _take(self, directory: Path, known: bool) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunLocked(
                f'"{directory}" is being written by another process ({self._holder()}); wait '
                "for it to end, or choose another --out"
            ) from error
        if not self._is_of(directory):  # moved aside after we opened it: it locks another place
            raise RunLocked(f'"{directory}" was moved by another process just now; try again')
        if known:
            self._before = os.pread(self._descriptor, os.fstat(self._descriptor).st_size, 0)
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"pid {os.getpid()} on {os.uname().nodename}\n".encode(), 0)

    def _is_of(self, directory: Path) -> bool:
        try:
            return os.path.samestat(os.stat(directory / "lock"), os.fstat(self._descriptor))
        except FileNotFoundError:
            return False

    def _holder(self) -> str:
        """Who holds it; a new holder needs a moment, and a dead one may have left its name."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            text = os.pread(self._descriptor, 200, 0).decode(errors="replace")
            named = re.fullmatch(r"pid (\d{1,10}) on (\S+)\n", text)
            known = named and named[2] == os.uname().nodename and os.path.exists("/proc/self")
            if named and (not known or os.path.exists(f"/proc/{int(named[1])}")):
                return text.strip()
            time.sleep(0.01)
        return "unknown"

    def release(self, as_found: bool = False) -> None:
        """Let others write; `as_found` leaves this file, too, as if nobody had been here."""
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, 0)  # the next holder is not to be taken for this one
            if as_found and self._before is not None:
                os.pwrite(self._descriptor, self._before, 0)
            elif as_found and self._is_of(self.path.parent):
                os.unlink(self.path)  # whoever has opened it meanwhile sees that it is gone
            os.close(self._descriptor)


def locked(directory: Path) -> bool:
    """Whether some process writes to a directory at this moment.

    To see that, the lock is shared for an instant; a writer that starts in this very instant is
    refused, and whoever starts writers by the dozen must be ready to look again.
    """
    try:
        descriptor = os.open(directory / "lock", os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


@contextlib.contextmanager
def turn(file: Path) -> Iterator[None]:
    """Wait for the turn of this process, and keep it; the kernel ends it at the process's death."""
    with reported(file):
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
