"""The arrays of a batch while it is filled, here or shared by processes; what it leaves open.

Episodes that a batch leaves unfinished have earned something, and those of a path stay somewhere.
"""

from __future__ import annotations

import contextlib
import shutil
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mppo.acting.spaces import Spaces
from mppo.algorithm.types import Earlier, Trajectories
from mppo.errors import BadRequest

_PLACE = Path("/dev/shm")  # where Linux keeps shared memory
_PARKED = "parked."  # of other paths than the present one
_LINE = 64  # bytes; no two arrays share a cache line

Arrays = dict[str, np.ndarray]


class Buffers(NamedTuple):
    """The arrays of one batch while it is filled: [E, T, ...], in the order of `Trajectories`."""

    observations: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    next_observations: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray

    def trajectories(self, earlier: Earlier, last: np.ndarray) -> Trajectories:
        """The finished batch; `last` [E, obs] is what was seen after the last step.

        Successors at episode ends are in place already; all others are the next row.
        """
        ended = self.terminated | self.truncated
        going = ~ended[:, :-1]
        self.next_observations[:, :-1][going] = self.observations[:, 1:][going]
        self.next_observations[:, -1][~ended[:, -1]] = last[~ended[:, -1]]
        return Trajectories(*self, earlier)

    def clear(self) -> None:
        """Make rows tell apart what is filled and what is not."""
        self.actions[:] = np.nan
        self.terminated[:] = self.truncated[:] = False

    def filled(self) -> int:
        """How many steps have been taken since they were cleared, while or after that happens."""
        return int(np.count_nonzero(~np.isnan(self.actions[..., 0])))


def _shapes(spaces: Spaces, envs: int, steps: int) -> list[tuple[tuple[int, ...], type]]:
    """The shape and type of each array of `Buffers`."""
    rows = (envs, steps)
    seen = (*rows, spaces.observation_size), np.float32
    acted = (*rows, spaces.head.size), np.float32
    return [seen, acted, (rows, np.float32), seen, (rows, np.bool_), (rows, np.bool_)]


def buffers(spaces: Spaces, envs: int, steps: int) -> Buffers:
    """New arrays, in which no episode has ended yet."""
    return Buffers(*(np.zeros(shape, kind) for shape, kind in _shapes(spaces, envs, steps)))


class SharedBatch:
    """The arrays of a batch in one segment; who makes the segment gives it up at the end."""

    def __init__(self, spaces: Spaces, envs: int, steps: int, name: str | None = None):
        """Without a name a new segment is made; with one, that of another process is opened."""
        places, size = [], 0
        for shape, kind in [*_shapes(spaces, envs, steps), ((envs,), np.int64)]:
            places.append((shape, kind, size))
            size += -(-int(np.prod(shape)) * np.dtype(kind).itemsize // _LINE) * _LINE
        self._made = name is None
        if self._made and _PLACE.is_dir() and (free := shutil.disk_usage(_PLACE).free) < size:
            raise BadRequest(  # the system would end whoever writes, without a word
                f"worker processes need {size / 2**20:,.0f} MB of shared memory, and {_PLACE} has "
                f"{free / 2**20:,.0f} MB left; give it more (docker run --shm-size), or use "
                "--workers 1"
            )
        self._segment = SharedMemory(name, create=self._made, size=max(size, _LINE))
        buffer = self._segment.buf
        self._arrays = [np.ndarray(shape, kind, buffer, at) for shape, kind, at in places]

    @property
    def name(self) -> str:
        """By which another process opens it."""
        return self._segment.name

    def rows(self, e: int) -> Buffers:
        """The rows of one environment, as views [1, T, ...] of the arrays of all."""
        return Buffers(*(array[e : e + 1] for array in self._arrays[:-1]))

    def beats(self, worker: int) -> np.ndarray:
        """Steps of evaluations that a worker has taken, as a view [1]."""
        return self._arrays[-1][worker : worker + 1]

    def close(self) -> None:
        """Give the memory back; the arrays must not be used afterwards."""
        self._arrays.clear()
        with contextlib.suppress(BufferError):  # a view is still held: it goes with its holder
            self._segment.close()
        if self._made:
            self._made = False
            with contextlib.suppress(FileNotFoundError):
                self._segment.unlink()


def as_arrays(parked: dict[int, Arrays]) -> Arrays:
    """The states that paths left, by path, in one dictionary, for a checkpoint."""
    return {
        f"{_PARKED}{path}.{name}": array
        for path, state in sorted(parked.items())
        for name, array in state.items()
    }


def taken_out(arrays: Arrays) -> tuple[dict[int, Arrays], Arrays]:
    """The states of paths out of the arrays of a checkpoint, and what is of the present path.

    >>> taken_out({"now": np.zeros(1), "parked.3.now": np.ones(1)})
    ({3: {'now': array([1.])}}, {'now': array([0.])})
    """
    parked: dict[int, Arrays] = {}
    for name, array in arrays.items():
        if name.startswith(_PARKED):
            path, _, own = name.removeprefix(_PARKED).partition(".")
            parked.setdefault(int(path), {})[own] = np.array(array)
    return parked, {name: arrays[name] for name in arrays if not name.startswith(_PARKED)}


def open_episodes(trajectories: Trajectories, earlier: Earlier, gamma: float) -> Earlier:
    """Return and length so far of the episodes that the batch leaves unfinished."""
    found = []
    for e in range(len(trajectories.rewards)):
        ends = np.flatnonzero(trajectories.terminated[e] | trajectories.truncated[e])
        open_rewards = trajectories.rewards[e, ends[-1] + 1 if len(ends) else 0 :]
        first = (0.0, 0.0, 0) if len(ends) else tuple(field[e] for field in earlier)
        powers = gamma ** (first[2] + np.arange(len(open_rewards)))
        discounted = first[1] + float(np.sum(powers * open_rewards))
        total = first[0] + float(np.sum(open_rewards))
        found.append((total, discounted, first[2] + len(open_rewards)))
    kinds = (np.float32, np.float32, np.int32)
    return Earlier(*map(np.array, zip(*found, strict=True), kinds))
