"""The command that runs a run again, from what run.json says, or why there is none.

What `mppo train` makes of the words is the run to the last type: `"1"` stays a string. Where that
cannot be promised no command is shown, because one that trains something else is worse than none.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import re
import shlex
from typing import Any

from mppo.algorithm.methods import COMPONENTS, METHODS
from mppo.errors import BadRequest
from mppo.files import settings
from mppo.files.changes import MISSING, Change, compare, env_flags, flags, nearest
from mppo.files.evaluation import Evaluation
from mppo.files.foreign_names import flag
from mppo.files.reader import Row
from mppo.report.read import RunRecord
from mppo.report.text import visible
from mppo.training.options import Options

_LONGEST = 100_000  # characters; Linux takes no argument of more than 131,072 bytes
_DEEPEST = 50  # lists in lists: Python reads no literal that is nested much deeper
_WORD = re.compile(r"[A-Za-z][\w./:-]*", re.ASCII)  # read as it stands, unless it means a value
_VALUES = ("true", "false", "none")
_WRAPPER = re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.]*")  # module:callable
_COMPONENT = re.compile(r"[^\W\d][\w.]*:[^\W\d]\w*")  # module:Class


class NoCommand(Exception):
    """Why no command repeats a run."""


def command_or_reason(run: RunRecord) -> tuple[str, str]:
    """The command at its full length, or the reason why there is none."""
    try:
        said = command(run)
        return visible(said, len(said)), ""
    except NoCommand as reason:
        return "", visible(reason, 600)


def command(run: RunRecord) -> str:
    """`mppo train ...` with every setting that is not the method's default."""
    described = run.described
    if described.get("env_from_python"):
        raise NoCommand(
            "its environment was given from Python, as a callable, as an object or with arguments "
            "that are no plain values, and run.json has only its name"
        )
    if not run.method:
        raise NoCommand("run.json does not say which method it was")
    name = described.get("method_name")
    base = name if isinstance(name, str) and name in METHODS else nearest(run.method)
    words = ["mppo", "train", base, _env(described.get("env"))]
    words += flags({key: _whole(described.get(key), key) for key in ("steps", "seed")})
    words += _settings(run.method, base)
    words += _env_arguments(_typed(described, "env_kwargs", dict))
    words += _evaluation(_typed(described, "evaluation", dict))
    words += _wrappers(_typed(described, "wrappers", list))
    said = shlex.join(words)
    if len(said) > _LONGEST:
        raise NoCommand(f"it would have {len(said):,} characters, more than a shell takes")
    return said


def _typed(described: Row, key: str, kind: type) -> Any:
    value = described.get(key, kind())
    if not isinstance(value, kind):
        raise NoCommand(f"{key} is {_shown(value)}")
    return value


def _env(value: Any) -> str:
    if not isinstance(value, str) or not value or not value.isprintable() or value[0] == "-":
        raise NoCommand(f"its environment is called {_shown(value)}")
    _refuse_main(value, "environment")
    return value


def _refuse_main(name: str, what: str) -> None:
    if name.startswith("__main__:"):
        raise NoCommand(f"the {what} {_shown(name)} was defined in the script that ran it")


def _whole(value: Any, what: str) -> int:
    if type(value) is not int or value < 0:
        raise NoCommand(f"{what} is {_shown(value)}")
    return value


def _evaluation(given: Row) -> list[str]:
    """The options of the evaluations that are not the usual ones."""
    usual = dataclasses.asdict(Options().evaluation)
    whole = dataclasses.asdict(Evaluation())  # of what a file does not say
    found = {n: _whole(given.get(n, now), f"evaluation.{n}") for n, now in whole.items()}
    return flags({f"eval_{n}": now for n, now in found.items() if now != usual[n]})


def _wrappers(names: list[Any]) -> list[str]:
    for name in names:
        if not isinstance(name, str) or not _WRAPPER.fullmatch(name):
            raise NoCommand(
                f"the wrapper {_shown(name)} cannot be imported as module:callable, which is all "
                "that a command can say"
            )
        _refuse_main(name, "wrapper")
    return ["--wrappers", *names] if names else []


def _env_arguments(given: Row) -> list[str]:
    """Values as Python literals; a word that can be nothing but a string needs no quotes."""
    written = {}
    for key, value in given.items():
        if not key.isidentifier():
            raise NoCommand(f"its environment has an argument {_shown(key)}")
        word = isinstance(value, str) and _WORD.fullmatch(value) and value.lower() not in _VALUES
        written[key] = value if word else _literal(value, key)
    return env_flags(written, str, joined=False)


def _literal(value: Any, key: str, depth: int = 0) -> str:
    if depth > _DEEPEST or (isinstance(value, float) and not math.isfinite(value)):
        raise NoCommand(f"the environment's argument {_shown(key)} cannot be written down")
    if isinstance(value, str):  # in the quotes that a shell's own need not avoid
        plain = "'" not in value and '"' not in value
        return f'"{repr(value)[1:-1]}"' if plain else repr(value)
    inside = lambda item: _literal(item, key, depth + 1)
    if isinstance(value, list):
        return f"[{', '.join(map(inside, value))}]"
    if isinstance(value, dict):
        pairs = (f"{inside(name)}: {inside(item)}" for name, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    return repr(value)


def _settings(method: dict[str, Any], base: str) -> list[str]:
    """The flags of all fields that are not as in the method of that name."""
    found = compare(settings.to_json(METHODS[base]), method)
    _refuse_keys(method)
    foreign: set[str] = set()
    for name, change in found.items():
        if change.drops or (change.old is MISSING and name.rpartition(".")[0] not in foreign):
            raise NoCommand(f"this version has no setting {_shown(name)}")
        if change.swaps and change.value not in [*COMPONENTS.get(name, ())]:
            kind = str(change.value)
            if name not in COMPONENTS or not _COMPONENT.fullmatch(kind):
                raise NoCommand(f"{flag(name)} cannot be {_shown(kind)} on a command line")
            _refuse_main(kind, name)
            foreign.add(name)
    return flags({name: _value(name, one, foreign) for name, one in found.items()})


def _refuse_keys(method: dict[str, Any]) -> None:
    for key, item in method.items():
        if not key.isidentifier():
            raise NoCommand(f"this version has no setting {_shown(key)}")
        if isinstance(item, dict):
            _refuse_keys(item)


def _value(name: str, change: Change, foreign: set[str]) -> Any:
    """The new value, each part of which must be a number or a word."""
    if change.swaps or isinstance(change.new, bool):
        return change.value
    if isinstance(change.new, dict):  # a schedule; a function has words if it can be imported
        said = change.value
        if not isinstance(said, str) or not _WORD.fullmatch(said):
            raise NoCommand(f"{flag(name)} follows a schedule that was given from Python")
        _refuse_main(said, "schedule")
        return said
    ours = name.rpartition(".")[0] not in foreign
    several = isinstance(change.new, list)
    return [_field(one, name, ours) for one in (change.new if several else [change.new])]


def _field(item: Any, name: str, ours: bool) -> Any:
    """A number or a word; other fields than ours are read by types that only their code knows."""
    if isinstance(item, int | float) and not isinstance(item, bool) and math.isfinite(item):
        return item
    if item is None and not ours:
        return None
    if isinstance(item, str) and _WORD.fullmatch(item) and (ours or item.lower() not in _VALUES):
        return item
    if name == "styles" and isinstance(item, dict):
        with contextlib.suppress(BadRequest):
            return settings.from_json(item)
    raise NoCommand(f"{flag(name)} cannot be {_shown(item)} on a command line")


def _shown(value: Any) -> str:
    return f'"{visible(value, 120)}"'
