"""One action at a time for environments that Python steps: network, noise and clipping in one call.

A call into Numba's own interface looks at the type of every argument, which takes longer than a
small network. Here the arguments lie in a table that is filled once for many steps.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numba
import numpy as np
from gymnasium import spaces

from mppo.acting import kernel
from mppo.acting.actor import Actor
from mppo.acting.kernel import Forward
from mppo.acting.spaces import CHOICE, FLOAT, Form, form_of
from mppo.algorithm.heads import options_of
from mppo.machine.compilers import address_of, as_pointer, native, types

CHOSEN, ODD, WARNED = 0, 1, 2
"""What a call says: an action was chosen; the observation must be looked at first; the simulator
met a bad number. In the last two cases nothing is written."""

_NUMBERS = ("inputs", "outputs", "layers", "weights", "widest", "filtered", "activation", "actions")
_NUMBERS += ("counters", "stride", "kind", "clips", "squashes", "first", "paid", "mask", "turns")
_PLACES = ("now", "low", "high", "warnings", "counted", "sizes", "mean", "inverse", "numbers")
_PLACES += ("work", "observations", "noise", "taken", "options", "scale", "least", "most", "given")
_PLACES += ("rewards",)
TABLE = np.dtype([("clip", "f8"), *((name, "i8") for name in (*_NUMBERS, *_PLACES))])

_numba: Any = numba
array: Any = _numba.carray


@native
def _inside(table: Any) -> bool:
    now = array(as_pointer(table.now), (table.inputs,), np.float32)
    low = array(as_pointer(table.low), (table.inputs,), np.float32)
    high = array(as_pointer(table.high), (table.inputs,), np.float32)
    inside = True
    for i in range(table.inputs):
        inside &= low[i] < now[i] < high[i]  # a NaN is not
    return inside


@native
def _allowed(table: Any, option: int) -> bool:
    """Whether the mask in the observation, if there is one, allows this of all options."""
    if table.mask < 0:
        return True
    now = array(as_pointer(table.now), (table.inputs,), np.float32)
    return now[table.mask + option] > np.float32(0.5)


@native
def _stuck(table: Any) -> bool:
    """Whether some choice has no option that is allowed."""
    if table.mask < 0:
        return False
    options, at = array(as_pointer(table.options), (table.actions,), np.int64), 0
    for count in options:
        free = False
        for k in range(count):
            free |= _allowed(table, at + k)
        if not free:
            return True
        at += count
    return False


@native
def _warned(table: Any) -> bool:
    counted = array(as_pointer(table.counted), (table.counters,), np.int64)
    warned = False
    for i in counted:
        warned |= array(as_pointer(table.warnings + table.stride * i), (1,), np.int32)[0] > 0
    return warned


@native
def _outputs(table: Any) -> np.ndarray:
    inputs = table.inputs
    net = Forward(
        table.filtered > 0,
        array(as_pointer(table.mean), (inputs,), np.float32),
        array(as_pointer(table.inverse), (inputs,), np.float32),
        table.clip,
        array(as_pointer(table.sizes), (table.layers,), np.int64),
        array(as_pointer(table.numbers), (table.weights,), np.float32),
        table.activation,
        table.turns > 0,
    )
    now = array(as_pointer(table.now), (inputs,), np.float32)
    return kernel.run(net, now, array(as_pointer(table.work), (2, table.widest), np.float32))


@native
def _score(table: Any, found: np.ndarray, noise: np.ndarray, option: int) -> np.float32:
    """The option with the largest one is chosen; what is not allowed never is."""
    if not _allowed(table, option):
        return np.float32(-np.inf)
    return found[option] + noise[option]


@native
def _take(table: Any, t: int, found: np.ndarray) -> None:
    """Keep the observation and the action: outputs plus noise, or the best of some options."""
    count, outputs = table.actions, table.outputs
    row = array(as_pointer(table.observations + 4 * t * table.inputs), (table.inputs,), np.float32)
    row[:] = array(as_pointer(table.now), (table.inputs,), np.float32)
    noise = array(as_pointer(table.noise + 4 * t * outputs), (outputs,), np.float32)
    taken = array(as_pointer(table.taken + 4 * t * count), (count,), np.float32)
    options = array(as_pointer(table.options), (count,), np.int64)
    scale = array(as_pointer(table.scale), (count,), np.float32)
    at = 0
    for n in range(count):
        if options[n] == 0:
            taken[n] = found[at] + noise[at] * scale[n]
            at += 1
            continue
        best, chosen = _score(table, found, noise, at), 0
        for k in range(1, options[n]):
            score = _score(table, found, noise, at + k)
            if best == best and not score <= best:  # a NaN counts as the largest
                best, chosen = score, k
        taken[n] = chosen
        at += options[n]


@native
def _give(table: Any, t: int) -> None:
    """Write the action once more, as the environment takes it."""
    count, kind = table.actions, table.kind
    taken = array(as_pointer(table.taken + 4 * t * count), (count,), np.float32)
    least = array(as_pointer(table.least), (count,), np.float64)
    most = array(as_pointer(table.most), (count,), np.float64)
    place = table.given + (t - table.first) * count * (4 if kind == FLOAT else 8)
    for n in range(count):
        value = np.float64(taken[n])
        if kind == CHOICE:
            whole = array(as_pointer(place), (count,), np.int64)
            whole[n] = np.int64(value) + np.int64(least[n])
            continue
        if table.squashes:
            value = kernel.squash(value, least[n], most[n])
        elif table.clips:
            if value < least[n]:
                value = least[n]
            elif value > most[n]:
                value = most[n]
        if kind == FLOAT:
            array(as_pointer(place), (count,), np.float32)[n] = np.float32(value)
        else:
            array(as_pointer(place), (count,), np.float64)[n] = value


def _choose(address: int, t: int, anyway: int) -> int:
    table = array(as_pointer(address), (1,), TABLE)[0]
    if _warned(table):
        return WARNED
    if not anyway and (not _inside(table) or _stuck(table)):
        return ODD
    _take(table, t, _outputs(table))
    if table.kind:
        _give(table, t)
    return CHOSEN


def _settle(address: int, start: int, stop: int) -> int:
    table = array(as_pointer(address), (1,), TABLE)[0]
    fine = _inside(table) and not _warned(table)
    for t in range(start, stop):
        place = as_pointer(table.rewards + table.paid * t)
        if table.paid == 4:
            fine &= np.isfinite(array(place, (1,), np.float32)[0])
        else:
            fine &= np.isfinite(array(place, (1,), np.float64)[0])
    return 0 if fine else 1


@lru_cache
def _functions() -> tuple[Callable[[int, int, int], int], ...]:
    whole = ctypes.c_int64  # called with the interpreter's lock: it takes a microsecond or two
    kind = ctypes.PYFUNCTYPE(whole, whole, whole, whole)
    signature = types.int64(types.int64, types.int64, types.int64)
    return kind(address_of(_choose, signature)), kind(address_of(_settle, signature))


class Chooser:
    """Actions of one policy for one environment: `choose(address, t, anyway)` writes row t.

    `now` [obs] is where the environment's observation stands; one outside of `low` ... `high`
    (ends not included) is ODD unless it is to be taken anyway. `settle(address, start, stop)` is
    not 0 if something has to be looked at: `now`, the counters, or a reward of these rows.
    """

    ROOM: int = 256  # actions that are made room for at once

    def __init__(
        self,
        space: spaces.Space | None,
        now: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        squash: bool = False,
    ) -> None:
        """Without a space it is up to the caller to make of a row what the environment takes."""
        self.form: Form = form_of(space)
        self.choose: Callable[[int, int, int], int]
        self.settle: Callable[[int, int, int], int]
        self.choose, self.settle = _functions()
        self._table = np.zeros(1, TABLE)
        self._first, self._clips = self._table["first"], self._table["clips"]  # views of it
        self._given, self._used = np.empty(0), self.ROOM
        self._kept: dict[str, Any] = {}  # what the table points to must not go away
        self._actor: Actor | None = None
        self.address: int = self._table.ctypes.data
        self._point(now=now, low=low, high=high, least=self.form.least, most=self.form.most)
        self._set(inputs=now.size, kind=self.form.kind, squashes=squash)

    def _point(self, **arrays: np.ndarray) -> None:
        for name, where in arrays.items():
            assert where.flags.c_contiguous or name == "warnings", name
            self._table[name] = where.ctypes.data
            self._kept[name] = where

    def _set(self, **numbers: float) -> None:
        for name, value in numbers.items():
            self._table[name] = value

    def watch(self, counters: np.ndarray, which: np.ndarray) -> None:
        """Look at these of a simulator's int32 counters before every action."""
        self._point(warnings=counters, counted=which)
        self._set(counters=which.size, stride=counters.strides[0])

    def use(self, actor: Actor) -> None:
        """Act by this policy from now on."""
        net = actor.network
        assert net is not None
        if actor is self._actor:
            return
        self._actor, widest = actor, int(net.sizes.max())
        options = options_of(actor.head)
        self._point(mean=net.mean, inverse=net.inverse, sizes=net.sizes, numbers=net.numbers)
        self._point(work=np.empty((2, widest), np.float32), options=options, scale=actor.scale)
        self._set(clip=net.clip, filtered=net.filtered, activation=net.activation, widest=widest)
        self._set(layers=net.sizes.size, weights=net.numbers.size, outputs=net.sizes[-1])
        self._set(actions=options.size, mask=actor.mask_at, turns=net.turns)

    def aim(
        self, noise: np.ndarray, observations: np.ndarray, taken: np.ndarray, rewards: np.ndarray
    ) -> None:
        """Read noise from these rows, write observations and actions to those, look at rewards."""
        kept = self._kept
        given = {"noise": noise, "observations": observations, "taken": taken, "rewards": rewards}
        if all(kept.get(name) is rows for name, rows in given.items()):
            return
        for rows in (noise, observations, taken):
            assert rows.dtype == np.float32
        self._point(**given)
        self._set(paid=rewards.itemsize)

    def room(self, start: int, stop: int, clips: bool) -> tuple[np.ndarray, int, int]:
        """Where the environment's actions of rows start ... stop - 1 go: rows, the row that comes
        first in them, and the row before which room ends. None is ever written twice: an
        environment may keep what it was given."""
        if self._used >= self.ROOM:
            self._given = np.empty((self.ROOM, *self.form.shape), self.form.dtype)
            self._used = 0
            self._point(given=self._given)
        first = start - self._used
        self._first[0], self._clips[0] = first, clips
        return self._given, first, min(stop, first + self.ROOM)

    def used(self, steps: int) -> None:
        """So many of these rows were written."""
        self._used += steps
