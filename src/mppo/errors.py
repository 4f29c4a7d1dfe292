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


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A suggestion to append to an error message, or nothing.

    >>> did_you_mean("mp-trp", ["trpo", "mp-trpo"])
    '; did you mean "mp-trpo"?'
    """
    names = sorted(known)
    folded = {name.lower(): name for name in reversed(names)}
    close = difflib.get_close_matches(word.lower(), list(folded), 1, cutoff=0.5)
    return f'; did you mean "{folded[close[0]]}"?' if close else ""
