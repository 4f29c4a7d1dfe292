"""What can go wrong, by whose fault, and the exit code that says so."""

from __future__ import annotations

import difflib
import traceback
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
    """A file is not what it should be; it was not used, and nothing was changed for its sake."""

    exit_code = 74


class WorkersLost(RuntimeError):
    """What steps environments elsewhere is gone, and nothing came in its place."""

    exit_code = 75


class PassedOver(UserWarning):
    """A run goes on, but from an older checkpoint than the newest: that one is not good."""


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
    WorkersLost,
)
"""What the command line answers with one line and the fault's exit code."""
_OF_SCREENS = ("display", "glfw", "x11", "opengl", "video device", "xcb")


def did_you_mean(word: str, known: Iterable[str], then: str = "") -> str:
    """A suggestion to append to an error message, or nothing.

    `then` is a sentence that follows in either case, with the stop that it needs before it.

    >>> did_you_mean("mp-trp", ["trpo", "mp-trpo"])
    '; did you mean "mp-trpo"?'
    >>> did_you_mean("x", ["trpo", "mp-trpo"], "Known: trpo, mp-trpo")
    '. Known: trpo, mp-trpo'
    """
    names = sorted(known)
    folded = {name.lower(): name for name in reversed(names)}
    close = difflib.get_close_matches(word.lower(), list(folded), 1, cutoff=0.5)
    if close:
        return f'; did you mean "{folded[close[0]]}"?' + (f" {then}" if then else "")
    return f". {then}" if then else ""


def in_words(error: BaseException) -> str:
    """An exception's type and message; one without a message says where it was raised instead.

    >>> in_words(ValueError("too wide"))
    'ValueError: too wide'
    """
    kind, said = type(error).__name__, str(error).strip()
    raised = traceback.extract_tb(error.__traceback__)
    if said or not raised:
        return f"{kind}: {said}" if said else kind
    where = raised[-1]
    return f"{kind} in {where.filename}, line {where.lineno}: {where.line}".removesuffix(": ")


def display_hint(error: BaseException) -> str:
    """The way out to append where an environment seems to have missed a screen, or nothing.

    >>> display_hint(RuntimeError("no such file"))
    ''
    """
    said = in_words(error).lower()
    if not any(word in said for word in _OF_SCREENS):
        return ""
    return (
        "; it seems to need a display: leave out render_mode, or draw without a screen "
        "(MUJOCO_GL=egl, SDL_VIDEODRIVER=dummy, xvfb-run)"
    )


def no_schedule(name: str, value: object) -> str:
    """What to add where a number was wanted and a schedule may have been meant.

    >>> no_schedule("learning_rate", "linear"), no_schedule("gamma", "high")
    (', and schedules are not supported', '')
    """
    meant = callable(value) or (name == "learning_rate" and isinstance(value, str))
    return ", and schedules are not supported" if meant else ""


def check_ranges(component: object, **ranges: tuple[float, float]) -> None:
    """Raise if a field of a component lies outside its range (ends included).

    >>> from types import SimpleNamespace
    >>> check_ranges(SimpleNamespace(alpha=2.0), alpha=(0, 1))
    Traceback (most recent call last):
    ValueError: alpha is 2.0; it must lie in 0 ... 1
    """
    for name, (low, high) in ranges.items():
        value = getattr(component, name)
        try:
            inside = low <= value <= high
        except TypeError:
            why = no_schedule(name, value)
            raise ValueError(f"{name} is {value!r}; it must be a number{why}") from None
        if not inside:
            raise ValueError(f"{name} is {value}; it must lie in {low} ... {high}")
