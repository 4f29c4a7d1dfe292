"""What can go wrong, by whose fault, and the exit code that says so."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class BadRequest(ValueError):
    """The request cannot be carried out as it stands; the message says how to change it."""

    exit_code = 2


class EnvironmentFault(RuntimeError):
    """An environment broke its contract; the run stops where it happened."""

    exit_code = 65


class RunLocked(RuntimeError):
    """Another process is writing to the run directory."""

    exit_code = 73


class StorageFault(RuntimeError):
    """A file could not be written; the run stops, what was saved before stays good."""

    exit_code = 74


class LearningFault(RuntimeError):
    """An update gave numbers that are not finite; it was not saved."""

    exit_code = 70


class CheckpointError(ValueError):
    """A file is not what it should be; it was not used."""

    exit_code = 74


class SettingsWarning(UserWarning):
    """Something can only be done otherwise than one may expect; the message says how it is."""


class SlowPath(UserWarning):
    """Something works, but takes much longer than it would have to."""


FAULTS = (
    BadRequest,
    EnvironmentFault,
    RunLocked,
    StorageFault,
    LearningFault,
    CheckpointError,
)
"""What the command line answers with one line and the fault's exit code."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A suggestion to append to an error message, or nothing.

    >>> did_you_mean("mp-trp", ["trpo", "mp-trpo"])
    '; did you mean "mp-trpo"?'
    """
    names = sorted(known)
    folded = {name.lower(): name for name in reversed(names)}
    close = difflib.get_close_matches(word.lower(), list(folded), 1, cutoff=0.5)
    return f'; did you mean "{folded[close[0]]}"?' if close else ""


def check_ranges(component: object, **ranges: tuple[float, float]) -> None:
    """Raise if a field of a component lies outside its range (ends included).

    >>> from types import SimpleNamespace
    >>> check_ranges(SimpleNamespace(alpha=2.0), alpha=(0, 1))
    Traceback (most recent call last):
    ValueError: alpha is 2.0; it must lie in 0 ... 1
    """
    for name, (low, high) in ranges.items():
        value = getattr(component, name)
        if not low <= value <= high:
            raise ValueError(f"{name} is {value}; it must lie in {low} ... {high}")
