"""Files that are never half written, directories with one writer, no write that fails silently."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from mppo.errors import CheckpointError, RunLocked, StorageFault


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


def sync_directory(path: Path) -> None:
    """Make a rename in this directory survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Appender:
    """An append-only file of lines; `offset` is what a checkpoint remembers."""

    def __init__(self, path: Path, offset: int = 0):
        self.path = path
        with reported(path):
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            self._cut_to(offset)

    def _cut_to(self, offset: int) -> None:
        """Forget what lies behind the offset: rows of iterations that are done again."""
        if os.fstat(self._descriptor).st_size < offset:
            raise CheckpointError(f'"{self.path}" is shorter than the checkpoint says')
        os.ftruncate(self._descriptor, offset)
        os.lseek(self._descriptor, offset, os.SEEK_SET)

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

    def sync(self) -> None:
        """Make all lines durable."""
        with reported(self.path):
            os.fsync(self._descriptor)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


class Lock:
    """One writer for a directory; the kernel releases it at the writer's death."""

    def __init__(self, directory: Path):
        self.path = directory / "lock"
        with reported(self.path):
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(self._descriptor, 200).decode(errors="replace").strip()
            os.close(self._descriptor)
            raise RunLocked(
                f'"{directory}" is being written by another process ({holder or "unknown"}); wait '
                "for it to end, or choose another --out"
            ) from error
        with reported(self.path):
            os.ftruncate(self._descriptor, 0)
            os.pwrite(
                self._descriptor, f"pid {os.getpid()} on {socket.gethostname()}\n".encode(), 0
            )

    def release(self) -> None:
        """Let others write."""
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
