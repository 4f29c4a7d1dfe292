"""Every field of a method as a flag: the options of `mppo train`, made from the method named."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
import typing
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Any

import tyro

from mppo.config import component_class, kind_of
from mppo.errors import BadRequest
from mppo.methods import COMPONENTS, Method


def whole_number(text: str) -> int:
    """A number of steps as people write it.

    >>> whole_number("1e6"), whole_number("1_000_000"), whole_number("5000")
    (1000000, 1000000, 5000)
    """
    try:
        value = float(text)
        if not value.is_integer():
            raise ValueError
    except (ValueError, OverflowError):
        raise ValueError(
            f'"{text}" is not a whole number; write for example 1000000, 1_000_000 or 1e6'
        ) from None
    return int(value)


Steps = Annotated[
    int,
    tyro.constructors.PrimitiveConstructorSpec(
        nargs=1,
        metavar="N",
        instance_from_str=lambda words: whole_number(words[0]),
        is_instance=lambda value: isinstance(value, int),
        str_from_instance=lambda value: [str(value)],
    ),
]


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


def as_options(value: Any, extra: list[tuple] | None = None) -> type:
    """A dataclass of flags with the present values as defaults; components become groups."""
    hints, texts = typing.get_type_hints(type(value)), described(type(value))
    fields: list[tuple] = list(extra or [])
    for field in dataclasses.fields(value):
        default = getattr(value, field.name)
        if dataclasses.is_dataclass(default):
            kind = as_options(default)
            if dataclasses.fields(kind):
                fields.append((field.name, kind, dataclasses.field(default_factory=kind)))
            continue
        help_text = texts.get(field.name, "")
        hint = Annotated[hints[field.name], tyro.conf.arg(help=help_text)]
        fields.append((field.name, hint, dataclasses.field(default=default)))
    options = dataclasses.make_dataclass(type(value).__name__, fields, frozen=True)
    options.__doc__ = (type(value).__doc__ or "").split("\n")[0]
    return options


def rebuild(value: Any, options: Any) -> Any:
    """The component with the fields that the options give."""
    changes = {}
    for field in dataclasses.fields(value):
        if not hasattr(options, field.name):
            continue  # a component without fields has no options
        given, now = getattr(options, field.name), getattr(value, field.name)
        changes[field.name] = rebuild(now, given) if dataclasses.is_dataclass(now) else given
    try:
        return dataclasses.replace(value, **changes)
    except ValueError as error:
        raise BadRequest(str(error)) from error


def swap_components(method: Method, words: list[str]) -> tuple[Method, list[str]]:
    """Take `--picking KIND` and its like out of the words: each puts another component in place."""
    rest: list[str] = []
    queue = list(words)
    while queue:
        word = queue.pop(0)
        flag, _, kind = word.partition("=")
        axis = flag.removeprefix("--")
        if not flag.startswith("--") or axis not in COMPONENTS:
            rest.append(word)
            continue
        if not kind:
            if not queue:
                known = ", ".join(COMPONENTS[axis])
                raise BadRequest(f"{flag} needs a kind: {known}, or module:Class of your own")
            kind = queue.pop(0)
        component = component_class(kind, allow_imports=True, among=COMPONENTS[axis])
        now = getattr(method, axis)
        if kind_of(now) != kind:
            method = dataclasses.replace(method, **{axis: component()})
    return method, rest


def take_env_arguments(words: list[str]) -> tuple[dict[str, Any], list[str]]:
    """Take `--env.NAME VALUE` out of the words: arguments of the environment's constructor."""
    found: dict[str, Any] = {}
    rest: list[str] = []
    queue = list(words)
    while queue:
        word = queue.pop(0)
        if not word.startswith("--env."):
            rest.append(word)
            continue
        name, equals, value = word.removeprefix("--env.").partition("=")
        if not equals:
            if not queue:
                raise BadRequest(f"{word} needs a value")
            value = queue.pop(0)
        found[name.replace("-", "_")] = _literal(value)
    return found, rest


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return {"true": True, "false": False, "none": None}.get(text.lower(), text)
