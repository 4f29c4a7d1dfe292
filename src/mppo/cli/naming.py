"""Which method the words of `mppo train` name: found by argparse, before the method is known.

Whether a word is METHOD or the value of an option depends on how many values the option takes, and
which options there are depends on METHOD. So a first parser knows the options of all methods and
components, those of the user's own that the words name included, by their number of values alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from mppo.algorithm.methods import COMPONENTS, METHODS
from mppo.cli import fields
from mppo.cli.parser import Parser
from mppo.errors import BadRequest
from mppo.files import foreign_names
from mppo.files.settings import unknown_method

USUAL = "mp-trpo"
"""The method whose fields `mppo train --help` shows."""


class Named(NamedTuple):
    """What must be known before all options can be."""

    method: str
    swaps: tuple[tuple[str, str], ...]  # axis and kind
    env: tuple[str, ...]  # flags of arguments of the environment's constructor


def named(words: Sequence[str], own: tuple[fields.Option, ...]) -> Named:
    """The method, the components that are swapped and the environment's flags; `own` are options
    that are no fields of a method.
    """
    swaps, env = swaps_of(words), fields.env_flags(words)
    parser = _knowing_all(own, _foreign(swaps), env)
    found, rest = parser.parse_known_args(words)
    if found.method in METHODS:
        return Named(found.method, swaps, env)
    if found.method is None and found.help:
        return Named(USUAL, swaps, env)
    raise _why_not(parser, found, list(words), rest)


def places(
    words: Sequence[str], own: tuple[fields.Option, ...], swaps: tuple[tuple[str, str], ...] = ()
) -> tuple[str | None, str | None]:
    """The words that stand in the places of METHOD and ENV; `swaps` are made elsewhere."""
    parser = _knowing_all(own, _foreign((*swaps, *swaps_of(words))), fields.env_flags(words))
    found, _ = parser.parse_known_args(words)
    return found.method, found.env


def _foreign(swaps: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return tuple((axis, kind) for axis, kind in swaps if ":" in kind)


def swaps_of(words: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """`--picking KIND` and its like, the last of each axis."""
    found, _ = _knowing_swaps().parse_known_args(words)
    given = {axis: kind for axis, kind in vars(found).items() if kind is not None}
    for axis, kind in given.items():
        if not kind:
            known = ", ".join(COMPONENTS[axis])
            raise BadRequest(f"--{axis} needs a kind: {known}, or module:Class of your own")
    return tuple(given.items())


@lru_cache
def _knowing_swaps() -> Parser:
    parser = Parser("train", "", (), add_help=False)
    for axis in COMPONENTS:
        parser.add_argument(f"--{axis}", nargs="?", const="")
    return parser


@lru_cache
def _knowing_all(
    own: tuple[fields.Option, ...], foreign: tuple[tuple[str, str], ...], env: tuple[str, ...]
) -> Parser:
    parser = Parser("train", "", (), add_help=False)
    parser.conflict_handler = "resolve"  # the last one counts: what the words name
    parser.add_argument("-h", "--help", action="store_true")
    for option in own:
        fields.add_option(parser, option)
    fields.add_fields(parser, METHODS[USUAL])
    for axis, kinds in COMPONENTS.items():
        for kind in kinds:
            fields.add_fields(parser, fields.component(axis, kind), f"{axis}.")
    for axis, kind in foreign:
        fields.add_fields(parser, fields.component(axis, kind), f"{axis}.")
    fields.add_swaps(parser)
    fields.add_env_flags(parser, env)
    for action in parser._actions:
        action.type = None  # what a value must be, the parser of the method says
    for place in ("method", "env"):
        parser.add_argument(place).required = False
    return parser


def _why_not(parser: Parser, found: Any, words: list[str], rest: list[str]) -> BadRequest:
    """Why none of the methods is named, in the words that help most."""
    for action in parser._actions:
        values = getattr(found, action.dest, None)
        taken = [word for word in values if word in METHODS] if isinstance(values, list) else []
        if taken:
            flag = action.option_strings[0]
            return BadRequest(
                f'{flag} takes all words up to the next option, "{taken[0]}" too; put METHOD and '
                f"ENV first: mppo train {taken[0]} ENV {flag} ..."
            )
    before = words[: words.index(found.method)] if found.method in words else words
    options = [word for word in rest if word.startswith("-") and word in before]
    if options:  # its value was taken for METHOD
        meant = next((word for word in words if word in METHODS), USUAL)
        return parser.unknown(
            options[0], lambda name: foreign_names.answer(name, METHODS[meant], foreign_names.flag)
        )
    if found.method is None:
        return BadRequest(f"which method? Give one of {', '.join(METHODS)}")
    return unknown_method(found.method)
