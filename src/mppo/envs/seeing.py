"""What an environment shows, checked and made flat in one go: cheap enough for every step.

Types and shapes are looked at for every part. That numbers lie within their bounds is left to
compiled code, which compares the flat float32 vector with bounds that err on the safe side; what
it calls odd is looked at again with `precise`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces

from mppo.acting.flattening import Part, Plan
from mppo.envs.checked import CheckedEnv

_ARRAY = np.ndarray
_INTS = frozenset((int, np.int64))
EXACT = 2**24  # whole numbers below it are exact in float32


class Sight:
    """The observation of one environment as a flat vector `now`, always the same array."""

    now: np.ndarray
    low: np.ndarray  # an observation between these (ends not included) needs no further look
    high: np.ndarray

    def __init__(self, checked: CheckedEnv, plan: Plan) -> None:
        self._checked, self._plan = checked, plan
        self.now = np.zeros(plan.size, np.float32)
        self.low, self.high = (np.full(plan.size, b, np.float32) for b in (-np.inf, np.inf))
        self.take: Callable[[Any], None] = self._whole
        space = checked.space
        if checked.is_box:
            if len(plan.parts) == 1 and space.dtype.kind in "fiub":
                self.take = self._box(space)
            return
        for part in plan.parts:
            low, high = _safe_bounds(part.space)
            self.low[part.start : part.stop] = low
            self.high[part.start : part.stop] = high
        pairs = [(part.keys, _part(part, self.now)) for part in plan.parts]
        flat = all(fast is not None and len(keys) == 1 for keys, fast in pairs)
        if not pairs[0][0] and pairs[0][1] is not None:
            self.take = self._alone(pairs[0][1])
        elif flat and isinstance(space, spaces.Dict | spaces.Tuple):
            kind = dict if isinstance(space, spaces.Dict) else tuple
            keyed = [(keys[0], fast) for keys, fast in pairs]
            boxes = all(type(part.space) is spaces.Box for part in plan.parts)
            self.take = self._boxes(kind) if boxes else self._composite(kind, keyed)

    def precise(self, observation: Any) -> None:
        """Raise if it is none of the space, or holds numbers that are not finite."""
        self._checked.observation(observation)
        if not np.isfinite(self.now).all():  # in single precision
            self._checked.fault("observation", observation)

    def _whole(self, observation: Any) -> None:
        """Any observation of any space: slowly."""
        seen = self._checked.observation(observation)
        if self._checked.is_box:
            self.now[:] = np.asarray(seen, np.float32).reshape(-1)
        else:
            self._plan.write(seen, self.now)

    def _box(self, space: Any) -> Callable[[Any], None]:
        shape, dtype, view, whole = space.shape, space.dtype, self.now.reshape(space.shape), self

        def take(seen: Any) -> None:
            if type(seen) is _ARRAY and seen.dtype is dtype and seen.shape == shape:
                view[...] = seen
            else:
                whole._whole(seen)

        return take

    def _alone(self, fast: Callable[[Any], bool]) -> Callable[[Any], None]:
        def take(seen: Any) -> None:
            if not fast(seen):
                self._whole(seen)

        return take

    def _boxes(self, kind: type) -> Callable[[Any], None]:
        """Goals and the like: several arrays, by far the commonest; no call for each of them."""
        views = [(part, self.now[part.start : part.stop]) for part in self._plan.parts]
        parts = [
            (part.keys[0], view.reshape(part.space.shape), part.space.dtype, part.space.shape)
            for part, view in views
        ]
        count, whole = len(parts), self

        def take(seen: Any) -> None:
            try:
                if type(seen) is kind and len(seen) == count:
                    for key, view, dtype, shape in parts:
                        value = seen[key]
                        if type(value) is not _ARRAY or value.dtype is not dtype:
                            break
                        if value.shape != shape:
                            break
                        view[...] = value
                    else:
                        return
            except KeyError:
                pass
            whole._whole(seen)

        return take

    def _composite(self, kind: type, keyed: list[tuple[Any, Any]]) -> Callable[[Any], None]:
        count, whole = len(keyed), self

        def take(seen: Any) -> None:
            try:
                if type(seen) is kind and len(seen) == count:
                    for key, fast in keyed:
                        if not fast(seen[key]):
                            break
                    else:
                        return
            except KeyError:
                pass
            whole._whole(seen)

        return take


def _part(part: Part, now: np.ndarray) -> Callable[[Any], bool] | None:
    """A function that writes a part if it is of the usual type; None if there is no such type."""
    space, row = part.space, now[part.start : part.stop]
    if type(space) in (spaces.Box, spaces.MultiBinary):
        shape, dtype, view = space.shape, space.dtype, row.reshape(space.shape)
        if dtype.kind in "iu" and dtype.itemsize > 4:
            return None

        def numbers(value: Any) -> bool:
            if type(value) is _ARRAY and value.dtype is dtype and value.shape == shape:
                view[...] = value
                return True
            return False

        return numbers
    if type(space) is spaces.Discrete and space.dtype == np.int64:
        first, options = int(space.start), int(space.n)

        def choice(value: Any) -> bool:
            if type(value) in _INTS and 0 <= value - first < options:
                row[:] = 0
                row[value - first] = 1
                return True
            return False

        return choice
    return None


def _safe_bounds(space: Any) -> tuple[Any, Any]:
    """Bounds in float32: whatever lies between them is an element, and finite."""
    dtype: Any = space.dtype
    if type(space) is spaces.MultiBinary:
        return -1.0, 2.0  # of whole numbers just 0 and 1
    if type(space) is not spaces.Box or space.dtype.kind == "b":
        return -np.inf, np.inf  # choices were looked at one by one
    low, high = space.low.reshape(-1), space.high.reshape(-1)
    if space.dtype.kind in "iu":
        limits = np.iinfo(dtype)
        small = (np.abs(low.astype(float)) < EXACT) & (np.abs(high.astype(float)) < EXACT)
        below, above = np.where(small, low - 1.0, low), np.where(small, high + 1.0, high)
        below = np.where(low == limits.min, -np.inf, below)
        return below, np.where(high == limits.max, np.inf, above)
    low, high = low.astype(np.float32), high.astype(np.float32)
    if space.dtype.itemsize <= 4:  # what is at the bound is still inside
        return np.nextafter(low, np.float32(-np.inf)), np.nextafter(high, np.float32(np.inf))
    return low, high
