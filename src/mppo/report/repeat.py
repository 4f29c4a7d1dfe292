"""The command that runs a run again, from what run.json says, or why there is none.

What `mppo train` makes of the words is the run to the last type: `"1"` stays a string. Where that
cannot be promised no command is shown, because one that trains something else is worse than none.
"""

from __future__ import annotations

import math
import re
import shlex
from decimal import Decimal
from typing import Any

from mppo.algorithm.methods import COMPONENTS, METHODS
from mppo.errors import BadRequest
from mppo.files import settings
from mppo.files.evaluation import Evaluation
from mppo.report.compare import nearest
from mppo.report.read import RunRecord
from mppo.report.text import escaped, tag, visible

_LONGEST = 100_000  # characters; Linux takes no argument of more than 131,072 bytes
_DEEPEST = 50  # lists in lists: Python reads no literal that is nested much deeper
_WORD = re.compile(r"[A-Za-z][\w./:-]*", re.ASCII)  # read as it stands, unless it means a value
_VALUES = ("true", "false", "none")
_WRAPPER = re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.]*")  # module:callable
_COMPONENT = re.compile(r"[^\W\d][\w.]*:[^\W\d]\w*")  # module:Class
_MISSING = object()


class NoCommand(Exception):
    """Why no command repeats a run."""


def section(run: RunRecord) -> str:
    """The command as markup, or the reason why there is none."""
    try:
        said = command(run)
        shown = tag("pre", tag("code", escaped(said, len(said))))
    except NoCommand as reason:
        shown = tag("p", f"No command repeats this run: {escaped(reason, 600)}.")
    return tag("h3", "The command to repeat it") + shown


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
    for key in ("steps", "seed"):
        words += [f"--{key}", _whole(described.get(key), key)]
    words += _flags(run.method, settings.to_json(METHODS[base]), "")
    words += _env_arguments(described.get("env_kwargs", {}))
    words += _evaluation(described.get("evaluation", {}))
    words += _wrappers(described.get("wrappers", []))
    said = shlex.join(words)
    if len(said) > _LONGEST:
        raise NoCommand(f"it would have {len(said):,} characters, more than a shell takes")
    return said


def _env(value: Any) -> str:
    if not isinstance(value, str) or not value or not value.isprintable() or value[0] == "-":
        raise NoCommand(f"its environment is called {_shown(value)}")
    _refuse_main(value, "environment")
    return value


def _refuse_main(name: str, what: str) -> None:
    if name.startswith("__main__:"):
        raise NoCommand(f"the {what} {_shown(name)} was defined in the script that ran it")


def _whole(value: Any, what: str) -> str:
    if type(value) is not int or value < 0:
        raise NoCommand(f"{what} is {_shown(value)}")
    return str(value)


def _evaluation(given: Any) -> list[str]:
    """The options of the evaluations that are not the usual ones."""
    if not isinstance(given, dict):
        raise NoCommand(f"evaluation is {_shown(given)}")
    usual = Evaluation()
    every = _whole(given.get("every", usual.every), "evaluation.every")
    episodes = _whole(given.get("episodes", usual.episodes), "evaluation.episodes")
    beside = given.get("deterministic_episodes", usual.deterministic_episodes)
    beside = _whole(beside, "evaluation.deterministic_episodes")
    words = ["--eval-every", every] if every != str(usual.every) else []
    words += ["--eval-episodes", episodes] if episodes != str(usual.episodes) else []
    return words + (["--eval-deterministic-episodes", beside] if beside != episodes else [])


def _wrappers(names: Any) -> list[str]:
    if not isinstance(names, list):
        raise NoCommand(f"wrappers is {_shown(names)}")
    for name in names:
        if not isinstance(name, str) or not _WRAPPER.fullmatch(name):
            raise NoCommand(
                f"the wrapper {_shown(name)} cannot be imported as module:callable, which is all "
                "that a command can say"
            )
        _refuse_main(name, "wrapper")
    return ["--wrappers", *names] if names else []


def _env_arguments(given: Any) -> list[str]:
    if not isinstance(given, dict):
        raise NoCommand(f"env_kwargs is {_shown(given)}")
    words: list[str] = []
    for key, value in given.items():
        if not key.isidentifier():
            raise NoCommand(f"its environment has an argument {_shown(key)}")
        words += [f"--env.{key.replace('_', '-')}", _python(value, key)]
    return words


def _python(value: Any, key: str) -> str:
    """The value as a Python literal; a word that can be nothing but a string needs no quotes."""
    if isinstance(value, str) and _WORD.fullmatch(value) and value.lower() not in _VALUES:
        return value
    return _literal(value, key)


def _literal(value: Any, key: str, depth: int = 0) -> str:
    if depth > _DEEPEST or (isinstance(value, float) and not math.isfinite(value)):
        raise NoCommand(f"the environment's argument {_shown(key)} cannot be written down")
    if isinstance(value, str):  # in the quotes that a shell's own need not avoid
        plain = "'" not in value and '"' not in value
        return f'"{repr(value)[1:-1]}"' if plain else repr(value)
    if isinstance(value, list):
        return f"[{', '.join(_literal(item, key, depth + 1) for item in value)}]"
    if isinstance(value, dict):
        pairs = (
            f"{_literal(name, key)}: {_literal(item, key, depth + 1)}"
            for name, item in value.items()
        )
        return f"{{{', '.join(pairs)}}}"
    return repr(value)


def _flags(value: dict[str, Any], usual: dict[str, Any], prefix: str, ours=True) -> list[str]:
    """The fields that are not as usual, those of components inside included."""
    words: list[str] = []
    for key, item in value.items():
        expected = usual.get(key, _MISSING)
        if key == "kind" or (item == expected and type(item) is type(expected)):
            continue
        name = f"{prefix}{key.replace('_', '-')}"
        unlike = isinstance(expected, dict) and not isinstance(item, dict)
        if not key.isidentifier() or unlike or (ours and expected is _MISSING):
            raise NoCommand(f"this version has no setting {_shown(prefix + key)}")
        if isinstance(item, dict) and item.get("kind") in ("schedule", "called"):
            words += [f"--{name}", _schedule(item, name)]
        elif isinstance(item, dict):
            words += _component(name, item, expected)
        elif isinstance(item, bool):
            words.append(f"--{prefix}{'' if item else 'no-'}{key.replace('_', '-')}")
        else:
            items = item if isinstance(item, list) else [item]
            words += [f"--{name}", *(_field(one, name, ours) for one in items)]
    return words


def _component(name: str, item: dict[str, Any], usual: Any) -> list[str]:
    """The kind of a component where it is another, and its fields."""
    kind = item.get("kind")
    if isinstance(usual, dict) and usual.get("kind") == kind:
        return _flags(item, usual, f"{name}.")
    ours = isinstance(kind, str) and kind in COMPONENTS.get(name, {})
    if not ours and not (name in COMPONENTS and _COMPONENT.fullmatch(str(kind))):
        raise NoCommand(f"--{name} cannot be {_shown(kind)} on a command line")
    _refuse_main(str(kind), name)
    return [f"--{name}", str(kind), *_flags(item, _defaults(kind), f"{name}.", ours)]


def _schedule(item: dict[str, Any], name: str) -> str:
    """The words of a schedule; a function has some if it can be imported."""
    said = item.get("function")
    if item["kind"] == "schedule":
        try:
            said = str(settings.from_json(item))
        except BadRequest:
            said = None
    if not isinstance(said, str) or not _WORD.fullmatch(said):
        raise NoCommand(f"--{name} follows a schedule that was given from Python")
    _refuse_main(said, "schedule")
    return said


def _field(item: Any, name: str, ours: bool) -> str:
    """A number or a word; other fields than ours are read by types that only their code knows."""
    if isinstance(item, int | float) and not isinstance(item, bool) and math.isfinite(item):
        text = repr(item)
        # argparse takes -1e-05 for a flag, and -0.00001 for a number
        return f"{Decimal(text):f}" if text.startswith("-") and "e" in text else text
    if item is None and not ours:
        return "none"
    if isinstance(item, str) and _WORD.fullmatch(item) and (ours or item.lower() not in _VALUES):
        return item
    raise NoCommand(f"--{name} cannot be {_shown(item)} on a command line")


def _defaults(kind: Any) -> dict[str, Any]:
    """The fields of a kind of ours; of others' nothing is known without running their code."""
    try:
        return settings.to_json(settings.component_class(str(kind))())
    except (BadRequest, TypeError):
        return {}


def _shown(value: Any) -> str:
    return f'"{visible(value, 120)}"'
