"""What a method changes of the one it is named after: what makes its name true."""

from __future__ import annotations

import dataclasses
from typing import Any

from mppo.algorithm.methods import METHODS, Method
from mppo.algorithm.schedules import is_part
from mppo.errors import BadRequest
from mppo.files.settings import kind_of, overridden

_NOTHING = object()


def changes(name: str, method: Method) -> list[tuple[str, str]]:
    """What differs from the method of that name, as the command line writes it.

    >>> changes("mp-trpo", dataclasses.replace(METHODS["mp-trpo"], paths=4, batch_size=200))
    [('paths', '4'), ('batch-size', '200')]
    """
    found = differences(METHODS.get(name, Method()), method)
    return [(field.replace("_", "-"), _written(value)) for field, value in found.items()]


def _written(value: Any) -> str:
    if is_part(value):
        return kind_of(value)
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def changes_that_hold(name: str, method: Method) -> list[tuple[str, str]]:
    """The changes, after a look whether the method of that name with them is this method."""
    named = METHODS.get(name, Method())
    if overridden(named, differences(named, method)) != method:
        raise BadRequest(
            f'the settings cannot be told as changes of the method "{name}": these do not lead to '
            f"them, {changes(name, method)}; this is a fault of mppo, or of a component that is "
            "not equal to a copy of itself"
        )
    return changes(name, method)


def differences(base: Any, changed: Any, prefix: str = "") -> dict[str, Any]:
    """The overrides that turn one component into the other; a swap is the new one as it is made.

    >>> differences(METHODS["trpo"], METHODS["multi-trpo"])
    {'paths': 8, 'picking': RoundRobin()}
    """
    found: dict[str, Any] = {}
    for field in dataclasses.fields(changed):
        name, new = f"{prefix}{field.name}", getattr(changed, field.name)
        old = getattr(base, field.name, _NOTHING)
        if is_part(new):
            if type(old) is not type(new):
                old = _by_default(type(new))
                found[name] = new if old is _NOTHING else old
            found |= differences(old, new, f"{name}.")
        elif field.init and old != new:
            found[name] = new
    return found


def _by_default(cls: type) -> Any:
    try:
        return cls()
    except (TypeError, ValueError):
        return _NOTHING  # of somebody else, without a default for every field
