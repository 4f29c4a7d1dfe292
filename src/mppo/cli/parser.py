"""The parser of every command: help that fits 80 columns, errors of one line with a suggestion."""

from __future__ import annotations

import argparse
import math
import re
import shutil
import textwrap
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

from mppo.errors import BadRequest, did_you_mean

WIDEST = 80
CODES = "0 done; 2 a request that cannot be met as it stands; 70 an error of mppo"
_NEGATIVE = re.compile(r"-(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][-+]?\d+)?$")


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Descriptions as written, options beside or above their meaning, never wider than 80."""

    def __init__(self, prog: str):
        width = min(shutil.get_terminal_size().columns, WIDEST)
        super().__init__(prog, max_help_position=28, width=width)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


class HelpShown(SystemExit):
    """The end of a command that showed its help, with the parser that did."""

    def __init__(self, parser: Parser):
        super().__init__(0)
        self.parser = parser


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are BadRequests: one line, exit code 2.

    One without examples only looks at the words, and has no help.
    """

    elsewhere: Callable[[str], str]
    """What to answer to a name of another library's; nothing where there is none."""

    def __init__(
        self, command: str, about: str = "", examples: Sequence[str] = (), codes: str = CODES
    ):
        shown = "\n".join(f"  {example}" for example in examples)
        super().__init__(
            f"mppo {command}",
            description=about,
            epilog=f"example:\n{shown}\n\nexit codes:\n{textwrap.indent(codes, '  ')}",
            formatter_class=_Formatter,
            allow_abbrev=False,
            add_help=bool(examples),
        )
        self.elsewhere = lambda name: ""
        # -1e-3 is a number as well as -0.001: argparse of Python 3.14 knows it, earlier ones do not
        self._negative_number_matcher = _NEGATIVE

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The options, or a refusal that names the first word that is none."""
        found, unknown = self.parse_known_args(args, namespace)
        unknown = [word for word in unknown if word != "--"]
        options = [word for word in unknown if word.startswith("-")]
        if options:
            raise self.unknown(options[0])
        if unknown:
            raise BadRequest(f'"{unknown[0]}" is one word too many; see {self.prog} --help')
        return found

    @property
    def options(self) -> dict[str, argparse.Action]:
        """All options that there are; `nargs` says how many values one takes: None is one."""
        return self._option_string_actions

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Called by argparse once it has shown the help; what is wrong goes to `error`."""
        raise HelpShown(self)

    def unknown(self, word: str) -> BadRequest:
        """The refusal of a word that looks like an option and is none."""
        flag = word.partition("=")[0]
        answer = self.elsewhere(flag.removeprefix("--").replace("-", "_"))
        if answer:
            return BadRequest(f'unknown option "{flag}"; {answer}')
        hint = did_you_mean(flag, self.options)
        return BadRequest(f'unknown option "{flag}"{hint or f"; see {self.prog} --help"}')

    def error(self, message: str) -> NoReturn:
        """Called by argparse for what it finds wrong."""
        names = message.removeprefix("the following arguments are required: ")
        if names != message:
            raise BadRequest(f"{names} is missing; see {self.prog} --help")
        message = message.removeprefix("argument ")
        flag, _, what = message.partition(": ")
        if what == "expected one argument":
            message = f"{flag} needs a value; one that starts with a dash is written {flag}=VALUE"
        raise BadRequest(message)


class NotReadable(argparse.ArgumentTypeError, ValueError):
    """A value that is not of its kind; argparse shows the message."""


def whole_number(text: str) -> int:
    """A whole number as people write it, to the last digit.

    >>> whole_number("1e6"), whole_number("1_000_000"), whole_number("5000")
    (1000000, 1000000, 5000)
    >>> whole_number("9007199254740993")
    9007199254740993
    """
    try:
        if not math.isfinite(float(text)):  # it decides what is a number; too large is none either
            raise ValueError
        value = Decimal(text)  # where float would round beyond 2^53
        if value != value.to_integral_value():
            raise ValueError
    except (ValueError, ArithmeticError):
        raise NotReadable(
            f'"{text}" is not a whole number; write for example 5000, 1_000_000 or 1e6'
        ) from None
    return int(value)


def number(text: str) -> float:
    """A number.

    >>> number("1e-3")
    0.001
    """
    try:
        value = float(text)
        if not math.isfinite(value):
            raise ValueError
    except ValueError:
        raise NotReadable(f'"{text}" is not a number; write for example 0.5 or 1e-3') from None
    return value


def one_of(words: Sequence[Any]) -> Callable[[str], Any]:
    """A reader of one of these words.

    >>> one_of(("self", "worst"))("worst")
    'worst'
    """
    by_text = {str(word): word for word in words}

    def read(text: str) -> Any:
        if text not in by_text:
            hint = did_you_mean(text, by_text)
            raise NotReadable(f'"{text}" is not one of {", ".join(by_text)}{hint}') from None
        return by_text[text]

    return read


def file_to_write(name: str, suffixes: Sequence[str] = ()) -> Path:
    """The path of a file that can be written, refused before any work is done for it."""
    path = Path(name)
    if suffixes and path.suffix.lower() not in suffixes:
        raise BadRequest(f'--out is "{name}"; its name must end in {" or ".join(suffixes)}')
    if path.is_dir():
        raise BadRequest(f'cannot write "{name}": it is a directory; give a file name')
    if not path.absolute().parent.is_dir():
        where = "its directory does not exist; give a file name in one that does"
        raise BadRequest(f'cannot write "{name}": {where}')
    return path
