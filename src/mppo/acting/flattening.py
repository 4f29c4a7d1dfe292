"""Observations of any space as flat vectors, by a plan that is made once for each space.

`gymnasium.spaces.flatten` finds out anew for every observation what its space is made of, and
makes an array for each part. A plan knows where each part goes and writes it there; the numbers
are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from gymnasium.spaces.utils import flatdim, flatten
from gymnasium.vector.utils import batch_space, iterate

Write = Callable[[Any, np.ndarray], None]  # an observation, where it goes [size]


class Part(NamedTuple):
    """A simple space inside another: how to get there, and which numbers are its own."""

    keys: tuple[Any, ...]
    space: Any
    start: int
    stop: int


class Plan:
    """How the elements of one space become float32 vectors of `size` numbers."""

    size: int
    parts: tuple[Part, ...]

    def __init__(self, space: spaces.Space) -> None:
        self.space = space
        self.parts = tuple(_parts(space, (), 0))
        self.size = self.parts[-1].stop if self.parts else 0
        common = np.result_type(*(part.space.dtype or np.float64 for part in self.parts))
        self._writers = [(part.keys, _writer(part, common)) for part in self.parts]
        self._stacked = [(part.keys, _stack_writer(part, common)) for part in self.parts]
        self._cleared = any(_is_choice(part.space) for part in self.parts)
        self.write: Write = self._write_one()

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process makes it anew from the space: functions within functions cannot go."""
        return Plan, (self.space,)

    def _write_one(self) -> Write:
        """The function that writes one observation: all that can be settled before is settled."""
        writers, cleared = self._writers, self._cleared
        if len(writers) == 1 and not cleared and not writers[0][0]:
            return writers[0][1]
        flat = all(len(keys) == 1 for keys, _ in writers)
        pairs = [(keys[0] if flat else keys, each) for keys, each in writers]

        def write(observation: Any, row: np.ndarray) -> None:
            if cleared:
                row[:] = 0
            if flat:
                for key, each in pairs:
                    each(observation[key], row)
            else:
                for keys, each in pairs:
                    each(inside(observation, keys), row)

        return write

    def write_stack(self, observations: Any, rows: np.ndarray) -> None:
        """A stack of observations as a vector environment gives it, into `rows` [count, size]."""
        if self._cleared:
            rows[:] = 0
        for keys, each in self._stacked:
            each(inside(observations, keys), rows)


def inside(value: Any, keys: tuple[Any, ...]) -> Any:
    """The part of an observation, or of a stack of them, that these keys lead to."""
    for key in keys:
        value = value[key]
    return value


def _is(space: spaces.Space, *kinds: Any) -> bool:
    """Whether Gymnasium flattens a space as it flattens one of these; subclasses may differ."""
    how = flatten.dispatch(type(space))
    return any(how is flatten.dispatch(kind) for kind in kinds)


def _is_choice(space: spaces.Space) -> bool:
    return _is(space, spaces.Discrete, spaces.MultiDiscrete)


def _parts(space: Any, keys: tuple[Any, ...], start: int) -> list[Part]:
    if not _is(space, spaces.Dict, spaces.Tuple):
        return [Part(keys, space, start, start + int(flatdim(space)))]
    inside = space.spaces.items() if isinstance(space, spaces.Dict) else enumerate(space.spaces)
    found: list[Part] = []
    for key, part in inside:
        found += _parts(part, (*keys, key), found[-1].stop if found else start)
    return found


def _writer(part: Part, common: np.dtype) -> Write:
    _, space, start, stop = part
    if _is(space, spaces.Box, spaces.MultiBinary):
        return _numbers(part, common)
    if _is(space, spaces.Discrete):
        first = int(space.start)

        def choice(value: Any, row: np.ndarray) -> None:
            row[start:stop][value - first] = 1

        return choice
    if _is(space, spaces.MultiDiscrete):
        offsets, first = _offsets(space), space.start

        def choices(value: Any, row: np.ndarray) -> None:
            row[start:stop][offsets + (value - first).reshape(-1)] = 1

        return choices

    def other(value: Any, row: np.ndarray) -> None:
        row[start:stop] = flatten(space, value)

    return other


def _numbers(part: Part, common: np.dtype) -> Write:
    """One array, or a stack of them: large integers beside floats are rounded to their type first,
    as where all parts become one array."""
    _, space, start, stop = part
    dtype = space.dtype
    through = dtype.kind in "iu" and dtype.itemsize > 4 and common.kind == "f"

    def numbers(value: Any, row: np.ndarray) -> None:
        array = np.asarray(value, dtype).reshape(*row.shape[:-1], -1)
        row[..., start:stop] = array.astype(common) if through else array

    return numbers


def _offsets(space: Any) -> np.ndarray:
    """Where each choice's options begin."""
    return np.concatenate([[0], np.cumsum(space.nvec.ravel())[:-1]]).astype(np.int64)


def _stack_writer(part: Part, common: np.dtype) -> Write:
    _, space, start, stop = part
    if _is(space, spaces.Box, spaces.MultiBinary):
        return _numbers(part, common)
    if _is_choice(space):
        offsets = _offsets(space) if _is(space, spaces.MultiDiscrete) else np.zeros(1, np.int64)
        first = np.asarray(space.start).reshape(-1)

        def choices(stack: Any, rows: np.ndarray) -> None:
            at = offsets + (np.asarray(stack).reshape(len(rows), -1) - first)
            rows[:, start:stop][np.arange(len(rows))[:, None], at] = 1

        return choices
    batched: dict[int, Any] = {}  # of each size, for Gymnasium copies the space to make one

    def others(stack: Any, rows: np.ndarray) -> None:
        count = len(rows)
        if count not in batched:
            batched[count] = batch_space(space, count)
        for row, value in zip(rows, iterate(batched[count], stack), strict=True):
            row[start:stop] = flatten(space, value)

    return others
