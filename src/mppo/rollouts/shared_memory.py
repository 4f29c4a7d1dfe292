"""The batch of all environments in memory that processes share: nothing is sent but "done"."""

from __future__ import annotations

import contextlib
import shutil
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mppo.acting.spaces import Spaces
from mppo.errors import BadRequest
from mppo.rollouts.buffers import Buffers

_PLACE = Path("/dev/shm")  # where Linux keeps it
_LINE = 64  # bytes; no two arrays share a cache line


class Layout(NamedTuple):
    """The sizes from which both sides know where each array lies."""

    envs: int
    steps: int
    observation_size: int
    action_size: int

    def arrays(self) -> dict[str, tuple[tuple[int, ...], type]]:
        """The shape and type of each array."""
        rows = (self.envs, self.steps)
        return {
            "observations": ((*rows, self.observation_size), np.float32),
            "next_observations": ((*rows, self.observation_size), np.float32),
            "actions": ((*rows, self.action_size), np.float32),
            "rewards": (rows, np.float32),
            "terminated": (rows, np.bool_),
            "truncated": (rows, np.bool_),
            "beats": ((self.envs,), np.int64),
        }


def layout_of(spaces: Spaces, envs: int, steps: int) -> Layout:
    """The layout of a batch."""
    return Layout(envs, steps, spaces.observation_size, spaces.head.size)


def _require(size: int) -> None:
    """Raise where there is no room: the system would end whoever writes, without a word."""
    if _PLACE.is_dir() and (free := shutil.disk_usage(_PLACE).free) < size:
        raise BadRequest(
            f"worker processes need {size / 2**20:,.0f} MB of shared memory, and {_PLACE} has "
            f"{free / 2**20:,.0f} MB left; give it more (docker run --shm-size), or use --workers 1"
        )


class EnvironmentRows(Buffers):
    """The rows of one environment, as views [1, T, ...] of the arrays of all."""

    def __init__(self, arrays: dict[str, np.ndarray], e: int):
        for name in Buffers.__annotations__:
            setattr(self, name, arrays[name][e : e + 1])


class SharedBatch:
    """The arrays of a batch in one segment; who makes the segment gives it up at the end."""

    def __init__(self, layout: Layout, name: str | None = None):
        """Without a name a new segment is made; with one, that of another process is opened."""
        places, size = [], 0
        for key, (shape, kind) in layout.arrays().items():
            places.append((key, shape, kind, size))
            size += -(-int(np.prod(shape)) * np.dtype(kind).itemsize // _LINE) * _LINE
        self._made = name is None
        if self._made:
            _require(size)
        self._segment = SharedMemory(name, create=self._made, size=max(size, _LINE))
        self.arrays: dict[str, np.ndarray] = {
            key: np.ndarray(shape, kind, self._segment.buf, at) for key, shape, kind, at in places
        }

    @property
    def name(self) -> str:
        """By which another process opens it."""
        return self._segment.name

    def rows(self, e: int) -> Buffers:
        """The rows of one environment."""
        return EnvironmentRows(self.arrays, e)

    def close(self) -> None:
        """Give the memory back; the arrays must not be used afterwards."""
        self.arrays.clear()
        with contextlib.suppress(BufferError):  # a view is still held: it goes with its holder
            self._segment.close()
        if self._made:
            self._made = False
            with contextlib.suppress(FileNotFoundError):
                self._segment.unlink()
