"""Every field of a method as a flag: the options of `mppo train`, made from the method named."""

from __future__ import annotations

import argparse
import ast
import copy
import dataclasses
import inspect
import textwrap
import types
import typing
import warnings
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from itertools import pairwise, takewhile
from typing import Any, Literal, NamedTuple, cast

from mppo.algorithm.methods import COMPONENTS, Method
from mppo.algorithm.schedules import SHAPES, Rate, is_part, schedule
from mppo.cli.parser import NotReadable, number, one_of, whole_number
from mppo.errors import BadRequest
from mppo.files import foreign_names
from mppo.files.settings import component_class, hints, kind_of


class Option(NamedTuple):
    """One flag: its name with underscores, its type, its default and its meaning."""

    name: str
    kind: Any
    default: Any
    text: str
    metavar: str | None = None


@lru_cache
def described(cls: type) -> dict[str, str]:
    """The docstring below each field of a dataclass.

    >>> described(Method)["gamma"]
    'Discount factor.'
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError):
        return {}
    found, body = {}, tree.body[0].body  # type: ignore
    for field, text in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            found[field.target.id] = ast.literal_eval(text.value)  # type: ignore
    return found


@cache
def options_of(cls: type, *names: str) -> tuple[Option, ...]:
    """An option for each of these fields of a dataclass, or for all of them."""
    fields = (field for field in dataclasses.fields(cls) if not names or field.name in names)
    return tuple(_option(cls, field, field.default) for field in fields)


def _option(cls: type, field: dataclasses.Field[Any], now: Any, prefix: str = "") -> Option:
    text = " ".join(described(cls).get(field.name, "").split())
    kind = hints(cls).get(field.name, type(now) if type(now) in (bool, int, float, str) else Any)
    return Option(prefix + field.name, kind, now, text, field.metadata.get("metavar"))


def add_option(group: Any, option: Option) -> None:
    """Add one flag to a parser or a group of it; a switch that is off needs no value."""
    flag, text = foreign_names.flag(option.name), option.text.replace("%", "%%")
    if option.kind is bool and option.default is False and "." not in option.name:
        group.add_argument(flag, dest=option.name, action="store_true", help=text)
        return
    if option.default is not None:
        default = cast(Any, option.default)
        shown = " ".join(map(str, default)) if _several(option.kind) else default
        text = f"{text} [{shown}]".strip()
    shared: dict[str, Any] = {"dest": option.name, "default": option.default, "help": text}
    if option.kind is bool:
        off = ".".join([*flag.split(".")[:-1], f"no-{flag.split('.')[-1]}"])
        group.add_argument(flag, off, nargs=0, action=_Switch, **shared)
        return
    reader, metavar = _reader(option.kind)
    nargs = "*" if _several(option.kind) else None
    group.add_argument(flag, type=reader, metavar=option.metavar or metavar, nargs=nargs, **shared)


class _Switch(argparse.Action):
    """`--critic.filtered` and `--critic.no-filtered`."""

    def __call__(self, parser, namespace, values, option_string=None) -> None:
        setattr(namespace, self.dest, option_string == self.option_strings[0])


def _several(kind: Any) -> bool:
    return typing.get_origin(kind) in (tuple, list)


def _reader(kind: Any) -> tuple[Callable[[str], Any], str]:
    """What reads a value of that type, and how the help writes it."""
    if kind == Rate:
        return _rate, "X"
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        inner = [part for part in typing.get_args(kind) if part is not type(None)]
        read, metavar = _reader(inner[0])
        return lambda text: None if text.lower() == "none" else read(text), metavar
    if typing.get_origin(kind) is Literal:
        words = typing.get_args(kind)
        return one_of(words), "{" + ",".join(map(str, words)) + "}"
    if _several(kind):
        return _reader(typing.get_args(kind)[0])
    plain = {int: (whole_number, "N"), float: (number, "X"), str: (str, "TEXT")}
    return plain.get(kind, (_literal, "VALUE"))


def _rate(text: str) -> Any:
    """A number, or a schedule."""
    try:
        return schedule(text) if ":" in text or text in SHAPES else number(text)
    except ValueError as error:
        raise NotReadable(str(error)) from None


def add_fields(parser: argparse.ArgumentParser, value: Any, prefix: str = "") -> None:
    """A flag for every field of a component, components inside it as groups of their own."""
    about = (type(value).__doc__ or "").strip().split("\n")[0]
    title = f"{prefix.rstrip('.')} ({kind_of(value)})" if prefix else "method"
    group = parser.add_argument_group(title, textwrap.fill(about, 76))
    parts = [(field, getattr(value, field.name)) for field in dataclasses.fields(value)]
    for field, now in parts:
        if not is_part(now):
            add_option(group, _option(type(value), field, now, prefix))
    for field, now in parts:
        if is_part(now) and dataclasses.fields(now):
            add_fields(parser, now, f"{prefix}{field.name}.")


def rebuild(value: Any, given: dict[str, Any], prefix: str = "") -> Any:
    """The component with the fields that the options give, by their names with dots."""
    changes = {}
    for field in dataclasses.fields(value):
        name, now = prefix + field.name, getattr(value, field.name)
        if is_part(now):
            changes[field.name] = rebuild(now, given, f"{name}.")
        elif name in given:
            found = given[name]
            changes[field.name] = tuple(found) if isinstance(found, list) else found
    try:
        return dataclasses.replace(value, **changes)
    except ValueError as error:
        raise BadRequest(str(error)) from error


def swapped(method: Method, swaps: Iterable[tuple[str, str]]) -> Method:
    """The method with other components; one that is of its kind already stays as it is.

    Whether they fit the other fields is not asked before `rebuild` has these as well.
    """
    made = copy.copy(method)
    for axis, kind in swaps:
        if kind_of(getattr(method, axis)) != kind:
            object.__setattr__(made, axis, component(axis, kind))
    return made


def add_swaps(parser: argparse.ArgumentParser) -> None:
    """`--picking KIND` and its like."""
    for axis in COMPONENTS:
        parser.add_argument(f"--{axis}", metavar="KIND", help=argparse.SUPPRESS)


def component(axis: str, kind: str) -> Any:
    """A component of that kind with its defaults."""
    cls = component_class(kind, allow_imports=True, among=COMPONENTS[axis])
    if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)) or cls.__hash__ is None:
        raise BadRequest(f'"{kind}" is not a frozen dataclass; write @dataclass(frozen=True)')
    try:
        made = cls()
        hash(made)
    except TypeError as error:
        raise BadRequest(
            f'"{kind}" needs a default for every field, and only values that can be hashed: {error}'
        ) from error
    except ValueError as error:
        raise BadRequest(f'"{kind}": {error}') from error
    return made


def env_flags(words: Iterable[str]) -> tuple[str, ...]:
    """The flags among the words that are arguments of the environment's constructor.

    >>> env_flags(["--env.gap", "3", "--paths", "2", "--env.layout=one-wall"])
    ('--env.gap', '--env.layout')
    """
    options = takewhile(lambda word: word != "--", words)
    flags = [word.partition("=")[0] for word in options if word.startswith("--env.")]
    for flag in flags:
        if not _env_name(flag).isidentifier():
            raise BadRequest(f'"{flag}" names no argument; write --env.NAME VALUE')
        if _env_name(flag) == "wrappers":
            raise BadRequest("the environment is wrapped with --wrappers module:callable")
    return tuple(dict.fromkeys(flags))


def add_env_flags(parser: argparse.ArgumentParser, flags: Iterable[str]) -> None:
    """`--env.NAME VALUE`, for those names that there are."""
    for flag in flags:
        name = f"env.{_env_name(flag)}"
        parser.add_argument(flag, dest=name, type=_literal, help=argparse.SUPPRESS)


def env_arguments(given: dict[str, Any]) -> dict[str, Any]:
    """What the flags gave, by the names of the arguments."""
    return {name.removeprefix("env."): value for name, value in given.items() if name[:4] == "env."}


def _env_name(flag: str) -> str:
    return flag.removeprefix("--env.").replace("-", "_")


def _literal(text: str) -> Any:
    try:
        with warnings.catch_warnings():  # of strange escapes in it
            warnings.simplefilter("ignore")
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return {"true": True, "false": False, "none": None}.get(text.lower(), text)
