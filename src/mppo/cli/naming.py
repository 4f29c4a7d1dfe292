"""Which method the words of `mppo train` name, and the parser of its options.

Whether a word is METHOD or the value of an option depends on how many values the option takes, and
which options there are depends on METHOD. So a first parser knows the options of all methods and
components, those of the user's own that the words name included, by their number of values alone.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

from mppo.algorithm.methods import COMPONENTS, METHODS, Method
from mppo.cli import fields
from mppo.cli.parser import WIDEST, Parser
from mppo.errors import BadRequest
from mppo.files.foreign_names import answer, flag
from mppo.files.settings import unknown_method
from mppo.training.options import Options

USUAL = "mp-trpo"
"""The method whose fields `mppo train --help` shows."""
TRAIN = """\
Train METHOD on ENV. Every field of the method is a flag; the defaults shown, in
brackets, are those of {name}: `mppo train ppo --help` shows others.

METHOD  {methods}
ENV     a Gymnasium id; `mppo envs` lists the tasks of the paper;
        module:id imports a module first

METHOD and ENV may also stand in the file of --config.

An option of several values takes all words up to the next option: put METHOD
and ENV before it, or after --.

--env.NAME VALUE passes an argument to the environment's constructor. These swap
a component; KIND may also be module:Class of your own, found from here:

{swaps}
"""
EXAMPLES = (
    "mppo train mp-trpo mppo/Maze-v0 --steps 1e6 --seed 0 --out runs/maze",
    "mppo train mp-trpo mppo/SparseHopper-v0 --paths 4 --picking.alpha 0.5",
    "mppo train ppo CartPole-v1 --steps 1e5 --network.hidden 32 32",
    "mppo train ppo LunarLander-v3 --tuned",
    "mppo train ppo CartPole-v1 --print-config > run.toml",
    "mppo train --config run.toml --seed 1",
)
CODES = """\
0 done; 2 a request that cannot be met as it stands; 65 a fault of the
environment; 70 an error of mppo, or an update that was not finite;
73 another process writes there; 74 a file cannot be written, or no checkpoint
is good; 75 all workers are gone and none came; 130, 143 stopped by a signal
and saved"""
Swaps = tuple[tuple[str, str], ...]
"""Axes and kinds of components."""


@dataclass(frozen=True)
class Shown:
    """What `mppo train` takes beside the options of a training; `mppo resume` takes some of it."""

    tensorboard: bool = False
    """Also write event files, to DIR/tensorboard; a run that has some goes on writing them."""
    wandb: str | None = field(default=None, metadata={"metavar": "PROJECT"})
    """Also log to this project of Weights & Biases."""
    trackio: str | None = field(default=None, metadata={"metavar": "PROJECT"})
    """Also log to this project of Trackio."""
    quiet: bool = False
    """Print nothing but errors."""
    config: str | None = field(default=None, metadata={"metavar": "FILE"})
    """Settings from a file: TOML, or run.json of an earlier run; flags stand above it."""
    tuned: bool = False
    """Settings known to work on this task, which `mppo zoo` lists; flags stand above them."""
    fast: bool = False
    """A cheaper update of TRPO, with level returns (decision 0021); flags stand above it."""
    print_config: bool = False
    """Print the settings as such a file, and do no more."""
    allow_imports: bool = False
    """Import code of other packages that the file or the run names (runs their code)."""


OWN = (
    *(option for option in fields.options_of(Options) if option.name != "loggers"),
    *fields.options_of(Shown),
)
"""The options that are not fields of a method."""


def parser_of(words: Sequence[str]) -> tuple[Parser, str, Method]:
    """The parser of all options of the method that the words name, its name, and the method with
    the components that they swap.
    """
    swaps = swaps_of(words)
    first, found, rest = _look(words, swaps)
    name = USUAL if found.method is None and found.help else found.method
    if name not in METHODS:
        raise _why_not(first, found, list(words), rest)
    method = fields.swapped(METHODS[name], swaps)
    return parser_for(method, name, fields.env_flags(words)), name, method


@lru_cache
def parser_for(method: Method, name: str, env: tuple[str, ...] = ()) -> Parser:
    """A parser of all flags of a method, and of these of the environment."""
    fill = partial(textwrap.fill, break_on_hyphens=False)
    methods = fill(", ".join(METHODS), subsequent_indent=" " * 8, width=WIDEST - 8)
    lines = [f"  {f'--{axis} KIND':<20} {', '.join(kinds)}" for axis, kinds in COMPONENTS.items()]
    swaps = "\n".join(fill(line, width=WIDEST, subsequent_indent=" " * 23) for line in lines)
    parser = Parser("train", TRAIN.format(name=name, methods=methods, swaps=swaps), EXAMPLES, CODES)
    parser.usage = "mppo train METHOD ENV [options]"
    parser.elsewhere = partial(answer, method=method, spelt=flag)
    for metavar in ("METHOD", "ENV"):
        parser.add_argument(metavar.lower(), metavar=metavar, help=argparse.SUPPRESS)
    run = parser.add_argument_group("run")
    for option in OWN:
        fields.add_option(run, option)
    fields.add_swaps(parser)
    fields.add_env_flags(parser, env)
    fields.add_fields(parser, method)
    return parser


def places(words: Sequence[str], swaps: Swaps = ()) -> tuple[str | None, str | None]:
    """The words that stand in the places of METHOD and ENV; `swaps` are made elsewhere."""
    _, found, _ = _look(words, (*swaps, *swaps_of(words)))
    return found.method, found.env


def swaps_of(words: Sequence[str]) -> Swaps:
    """`--picking KIND` and its like, the last of each axis."""
    parser = Parser("train")
    for axis in COMPONENTS:
        parser.add_argument(f"--{axis}", nargs="?", const="")
    found, _ = parser.parse_known_args(words)
    given = {axis: kind for axis, kind in vars(found).items() if kind is not None}
    for axis, kind in given.items():
        if not kind:
            known = ", ".join(COMPONENTS[axis])
            raise BadRequest(f"--{axis} needs a kind: {known}, or module:Class of your own")
    return tuple(given.items())


def _look(words: Sequence[str], swaps: Swaps) -> tuple[Parser, Any, list[str]]:
    """What can be read before the method is known: the first parser, its options, the rest."""
    foreign = tuple((axis, kind) for axis, kind in swaps if ":" in kind)
    parser = _knowing_all(foreign, fields.env_flags(words))
    return parser, *parser.parse_known_args(words)


@lru_cache
def _knowing_all(foreign: Swaps, env: tuple[str, ...]) -> Parser:
    parser = Parser("train")
    parser.conflict_handler = "resolve"  # the last one counts: what the words name
    parser.add_argument("-h", "--help", action="store_true")
    for option in OWN:
        fields.add_option(parser, option)
    fields.add_fields(parser, METHODS[USUAL])
    ours = ((axis, kind) for axis, kinds in COMPONENTS.items() for kind in kinds)
    for axis, kind in (*ours, *foreign):
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
            option = action.option_strings[0]
            return BadRequest(
                f'{option} takes all words up to the next option, "{taken[0]}" too; put METHOD and '
                f"ENV first: mppo train {taken[0]} ENV {option} ..."
            )
    before = words[: words.index(found.method)] if found.method in words else words
    options = [word for word in rest if word.startswith("-") and word in before]
    if options:  # its value was taken for METHOD
        meant = next((word for word in words if word in METHODS), USUAL)
        parser.elsewhere = partial(answer, method=METHODS[meant], spelt=flag)
        return parser.unknown(options[0])
    if found.method is None:
        return BadRequest(f"which method? Give one of {', '.join(METHODS)}")
    return unknown_method(found.method)
