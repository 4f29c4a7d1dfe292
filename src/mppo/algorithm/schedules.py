"""Numbers that change while a run goes on, by the fraction of its budget that is left.

The fraction is 1 in the first iteration and 1/n in the last of n. Values are computed outside of
the compiled programs and enter them as arguments: one program serves a whole run, and a method
without schedules compiles to the same program as if there were none.
"""

from __future__ import annotations

import copy
import dataclasses
import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from mppo.errors import check_ranges, did_you_mean, in_words
from mppo.machine.lazy import jnp

if TYPE_CHECKING:
    from mppo.algorithm.methods import Method

Shape = Literal["linear", "cosine", "late"]
SHAPES = get_args(Shape)
POINTS = 17
"""Fractions at which the values of a callable are kept, so that another one is told from it."""
HOW = (
    "write a number, linear:START[:END], cosine:START[:END], late:START[:END], or module:function "
    "of your own"
)


@dataclass(frozen=True)
class Schedule:
    """From `start` to `end`: on a line, on half a wave of the cosine, or late, in the last quarter.

    >>> Schedule("linear", 0.5).value(0.25), Schedule("cosine", 0.5).value(1)
    (0.125, 0.5)
    >>> [Schedule("late", 0.5).value(left) for left in (0.9, 0.25, 0.125)]
    [0.5, 0.5, 0.25]
    """

    shape: Shape
    start: float
    """The value while all of the budget is left."""
    end: float = 0.0
    """The value when nothing is left."""

    def __post_init__(self) -> None:
        if self.shape not in SHAPES:
            hint = did_you_mean(str(self.shape), SHAPES, f"The shapes are: {', '.join(SHAPES)}")
            raise ValueError(f'unknown schedule "{self.shape}"{hint}')
        for name in ("start", "end"):
            value = getattr(self, name)
            if not (isinstance(value, int | float) and math.isfinite(value)):
                raise ValueError(f"the {name} of a schedule is {value!r}; it must be a number")
            if value < 0:
                raise ValueError(f"the schedule {self} goes below zero, to {value}")
            object.__setattr__(self, name, float(value))

    def __str__(self) -> str:
        """The words that `schedule` reads."""
        said = f"{self.shape}:{self.start}" + (f":{self.end}" if self.end else "")
        return said.replace("+", "")  # 1e16 says the same as 1e+16

    def value(self, left: Any) -> Any:
        """The value at a fraction of the budget that is left: a number, or one inside a program."""
        plain = isinstance(left, int | float)
        if self.shape == "linear":
            weight = left
        elif self.shape == "cosine":
            weight = 0.5 * (1 - (math.cos if plain else jnp.cos)(math.pi * left))
        else:
            weight = (min if plain else jnp.minimum)(4 * left, 1.0)
        return self.end + (self.start - self.end) * weight


@dataclass(frozen=True)
class Called:
    """A function of the fraction that is left; on disk its name, if it can be imported by one.

    Without the function itself, as a file gives it, a policy acts but cannot learn.
    """

    function: str
    """`module:name`, or nothing where no name leads to it."""
    values: tuple[float, ...]
    """What it gives from all to nothing left, at equal distances."""
    call: Callable[[float], Any] | None = field(
        default=None, compare=False, repr=False, metadata={"saved": False}
    )

    def __str__(self) -> str:
        return self.function or "a function from Python"

    @property
    def start(self) -> float:
        """The value while all of the budget is left."""
        return self.values[0]

    def value(self, left: float) -> float:
        """What the function says."""
        if self.call is None:
            way_out = "give it again from Python" if not self.function else "pass --allow-imports"
            more = f' ("{self.function}", code of another package)' if self.function else ""
            raise ValueError(
                f"a schedule of this run is a function{more}, which is not in its files: {way_out}"
            )
        return _checked(self.call, left)


Rate = float | Schedule | Called
"""The type of a field that may change while a run goes on."""


def schedule(value: Any) -> Rate:
    """What a user may give for a field of that type.

    >>> schedule("linear:3e-4"), schedule("constant:0.2")
    (Schedule(shape='linear', start=0.0003, end=0.0), 0.2)
    """
    if isinstance(value, str):
        return _read(value)
    if callable(value) and not isinstance(value, Schedule | Called):
        return _called(value)
    return value


def _read(text: str) -> Rate:
    name, *numbers = text.split(":")
    try:
        values = [float(number) for number in numbers]
        if not numbers:
            return float(name)
    except ValueError:
        values = []
    if name == "constant" and len(values) == 1:
        return values[0]
    if name in SHAPES and len(values) in (1, 2):
        return Schedule(name, *values)  # type: ignore
    if len(numbers) == 1 and not values and name not in (*SHAPES, "constant"):
        return _imported(text)
    hint = did_you_mean(name, (*SHAPES, "constant")) if name not in SHAPES else ""
    raise ValueError(f'"{text}" is neither a number nor a schedule{hint or f"; {HOW}"}')


def _imported(path: str) -> Called:
    module, _, name = path.partition(":")
    try:
        return _called(getattr(importlib.import_module(module), name), path)
    except Exception as error:  # importing runs code of the user's
        raise ValueError(f'cannot load the schedule "{path}": {in_words(error)}; {HOW}') from error


def from_name(found: Called) -> Called:
    """The schedule that a file names, with its function; that it gives the same is checked."""
    if not found.function:
        return found
    made = _imported(found.function)
    if made.values != found.values:
        raise ValueError(f'the schedule "{found.function}" gives other values than it did')
    return made


def _called(function: Callable[[float], Any], path: str = "") -> Called:
    values = [_checked(function, 1 - n / (POINTS - 1)) for n in range(POINTS)]
    return Called(path or _path(function), tuple(values), function)


def _path(function: Any) -> str:
    """The name by which it can be imported in another process; nothing where there is none."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if not module or not name or module == "__main__" or "<" in name or "." in name:
        return ""
    return f"{module}:{name}"


def _checked(function: Callable[[float], Any], left: float) -> float:
    try:
        value = float(function(left))
    except Exception as error:  # of the user's
        raise ValueError(
            f"a schedule fails at {left:g} of the budget: {in_words(error)}"
        ) from error
    if not math.isfinite(value) or value < 0:
        what = "goes below zero" if value < 0 else "is not finite"
        raise ValueError(f"a schedule {what}: it is {value} where {left:g} of the budget is left")
    return value


def settle(component: Any, **ranges: tuple[float, float]) -> None:
    """Make schedules of what was given for these fields, and raise where they begin out of range.

    The end of a schedule may be zero where a number must not be: nothing is done with it.
    """
    for name, (low, high) in ranges.items():
        try:
            value = schedule(getattr(component, name))
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
        object.__setattr__(component, name, value)
        if not isinstance(value, Schedule | Called):
            check_ranges(component, **{name: (low, high)})
        elif not low <= value.start <= high:
            raise ValueError(f"{name} begins at {value.start}; it must lie in {low} ... {high}")


def first(rate: Any) -> Any:
    """A number as it is, a schedule's value at the start."""
    return rate.start if isinstance(rate, Schedule | Called) else rate


def is_zero(rate: Any) -> bool:
    """Whether a field is off for the whole run; a value that enters a program is not."""
    return isinstance(rate, int | float) and rate == 0


def is_part(value: Any) -> bool:
    """Whether a value is a component with fields of its own; a schedule is one value."""
    plain = isinstance(value, type | Schedule | Called)
    return dataclasses.is_dataclass(value) and not plain


def schedules(component: Any, prefix: str = "") -> dict[str, Schedule | Called]:
    """All schedules inside a component, by the names of their fields with dots."""
    found: dict[str, Schedule | Called] = {}
    for one in dataclasses.fields(component):
        value = getattr(component, one.name)
        if isinstance(value, Schedule | Called):
            found[prefix + one.name] = value
        elif is_part(value):
            found |= schedules(value, f"{prefix}{one.name}.")
    return found


def rates(method: Method, left: Any) -> dict[str, Any]:
    """What the schedules of a method say now: the last argument of `learn`."""
    return {name: one.value(left) for name, one in schedules(method).items()}


def at(method: Method, now: dict[str, Any] | None) -> Method:
    """The method with these values in place of its schedules; itself if it has none."""
    names = schedules(method)
    if set(names) != set(now or {}):
        raise ValueError(
            f"the method has schedules of {', '.join(names) or 'nothing'}; learn takes their "
            "values, rates(method, left)"
        )
    for name, value in (now or {}).items():
        method = unchecked(method, name.split("."), value)
    return method


def unchecked(component: Any, path: list[str], value: Any) -> Any:
    """A copy with one field changed, without the checks that only numbers can pass."""
    changed = copy.copy(component)
    inner = value if len(path) == 1 else unchecked(getattr(component, path[0]), path[1:], value)
    object.__setattr__(changed, path[0], inner)
    return changed
