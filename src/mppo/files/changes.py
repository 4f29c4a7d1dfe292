"""What tells configurations apart, and the flags that lead from one to the other.

A configuration is a component (a frozen dataclass) or what a file has of it (JSON with its kind).
A schedule is one value, told by the words that the command line takes.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from mppo.algorithm.methods import METHODS, Method
from mppo.algorithm.schedules import Called, Schedule, is_part
from mppo.algorithm.styles import Style
from mppo.errors import BadRequest
from mppo.files import settings
from mppo.files.settings import kind_of, overridden

MISSING: Any = type("Missing", (), {"__repr__": lambda self: "nothing"})()
"""In the place of a field that is not there."""
SCHEDULES = ("schedule", "called")
"""The kinds of values that are written like components and are none."""


class Change(NamedTuple):
    """A field that differs; of a component of another kind, both components."""

    old: Any
    new: Any

    @property
    def swaps(self) -> bool:
        """Whether a component takes the place of something else."""
        return _fields(self.new) is not None

    @property
    def drops(self) -> bool:
        """Whether a plain value, or a schedule, takes the place of a component."""
        return _fields(self.old) is not None and not self.swaps

    @property
    def value(self) -> Any:
        """The new value, of a component its kind."""
        return _told(self.new)

    @property
    def before(self) -> Any:
        """The old value, of a component its kind."""
        return _told(self.old)


def compare(old: Any, new: Any, afresh: bool = True, prefix: str = "") -> dict[str, Change]:
    """In what two configurations differ, by dotted names: the fields of the new one.

    The fields of a component that was swapped are compared with the defaults of its kind; if not
    `afresh`, with the fields of the old component that have the same names.

    >>> compare(METHODS["trpo"], METHODS["multi-trpo"])["paths"]
    Change(old=1, new=8)
    >>> compare(METHODS["trpo"], METHODS["multi-trpo"])["picking"].value
    'round-robin'
    """
    before, found = _fields(old) or {}, {}
    for field, value in (_fields(new) or {}).items():
        name, was = f"{prefix}{field}", before.get(field, MISSING)
        if _fields(value) is None:
            if was != value or isinstance(was, bool) is not isinstance(value, bool):
                found[name] = Change(was, value)
            continue
        if _fields(was) is None or _kind(was) != _kind(value):
            found[name] = Change(was, value)
            was = _by_default(value) if afresh else was
        found |= compare(was, value, afresh, f"{name}.")
    return found


def _fields(value: Any) -> dict[str, Any] | None:
    """The fields of a component; None of anything else."""
    if isinstance(value, dict):
        plain = {name: item for name, item in value.items() if name != "kind"}
        return None if value.get("kind") in SCHEDULES else plain
    if is_part(value):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
    return None


def _kind(value: Any) -> Any:
    """The kind of a component; any other value as it is."""
    if _fields(value) is None:
        return value
    return value.get("kind") if isinstance(value, dict) else kind_of(value)


def _told(value: Any) -> Any:
    """A component's kind, a schedule's or a style's words; a function without a name as it is."""
    if type(value) in (list, tuple):
        return type(value)(map(_told, value))
    found = value
    if isinstance(value, dict) and value.get("kind") in (*SCHEDULES, "style"):
        with contextlib.suppress(BadRequest):
            found = settings.from_json(value)
    named = isinstance(found, Schedule | Style) or (isinstance(found, Called) and found.function)
    return str(found) if named else _kind(value)


def _by_default(component: Any) -> Any:
    """A component of the same kind with its defaults; MISSING where these cannot be known."""
    try:
        if isinstance(component, dict):  # others' code is not run for the sake of a file
            return settings.to_json(settings.component_class(str(component.get("kind")))())
        return type(component)()
    except (BadRequest, TypeError, ValueError):
        return MISSING


def differences(old: Any, new: Any) -> dict[str, Any]:
    """The overrides that turn one configuration into the other, components by their kinds.

    >>> differences(METHODS["trpo"], METHODS["multi-trpo"])
    {'paths': 8, 'picking': 'round-robin'}
    """
    return {name: change.value for name, change in compare(old, new).items()}


def differing(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names under which several flat configurations do not all say the same.

    Fields of unlike components are left out.

    >>> differing([{"paths": "4", "gamma": "1"}, {"paths": "8", "gamma": "1"}])
    ['paths']
    """
    names = dict.fromkeys(name for row in rows for name in row)
    unlike = [name for name in names if len({row.get(name, MISSING) for row in rows}) > 1]
    owners = lambda name: {name[:place] for place, letter in enumerate(name) if letter == "."}
    return [name for name in unlike if not owners(name) & set(unlike)]


def nearest(method: dict[str, Any]) -> str:
    """The named method with the fewest settings other than these."""
    known = {name: settings.to_json(named) for name, named in METHODS.items()}
    both = lambda a, b: compare(a, b, afresh=False).keys() | compare(b, a, afresh=False).keys()
    return min(METHODS, key=lambda name: len(both(known[name], method)))


def flags(changes: Mapping[str, Any]) -> list[str]:
    """Changes as the words of `mppo train` that make them.

    >>> flags({"paths": 4, "critic.filtered": False, "network.hidden": (8, 8)})
    ['--paths', '4', '--critic.no-filtered', '--network.hidden', '8', '8']
    """
    words: list[str] = []
    for name, value in changes.items():
        group, dot, last = name.replace("_", "-").rpartition(".")
        if isinstance(value, bool):
            words.append(f"--{group}{dot}{'' if value else 'no-'}{last}")
        else:
            several = value if isinstance(value, list | tuple) else [value]
            words += [f"--{group}{dot}{last}", *map(_word, several)]
    return words


def env_flags(
    arguments: Mapping[str, Any], write: Callable[[Any], str] = repr, joined: bool = True
) -> list[str]:
    """Arguments of an environment as the words of `mppo train` that give them.

    >>> env_flags({"gap": 3, "goal_x": "left"}), env_flags({"gap": 3}, joined=False)
    (['--env.gap=3', "--env.goal-x='left'"], ['--env.gap', '3'])
    """
    found = [(f"--env.{name.replace('_', '-')}", write(arguments[name])) for name in arguments]
    return [word for pair in found for word in (["=".join(pair)] if joined else pair)]


def _word(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, Called) and not value.function:
        raise BadRequest("a schedule that was given from Python has no words on a command line")
    negative = isinstance(value, float) and value < 0
    # a parser may take -1e-05 for a flag, and never -0.00001
    return f"{Decimal(str(value)):f}" if negative else str(value)


def changes(name: str, method: Method) -> list[tuple[str, str]]:
    """What differs from the method of that name, as the command line writes it.

    >>> changes("mp-trpo", dataclasses.replace(METHODS["mp-trpo"], paths=4, batch_size=200))
    [('paths', '4'), ('batch-size', '200')]
    """
    found = differences(METHODS.get(name, Method()), method)
    text = lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return [(field.replace("_", "-"), text(value)) for field, value in found.items()]


def changes_that_hold(name: str, method: Method) -> list[tuple[str, str]]:
    """The changes, after a look whether the method of that name with them is this method."""
    named = METHODS.get(name, Method())
    found = {field: change.new for field, change in compare(named, method).items()}
    if overridden(named, found) != method:
        raise BadRequest(
            f'the settings cannot be told as changes of the method "{name}": these do not lead to '
            f"them, {changes(name, method)}; this is a fault of mppo, or of a component that is "
            "not equal to a copy of itself"
        )
    return changes(name, method)
