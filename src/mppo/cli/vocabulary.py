"""All words that the command line knows, read off the help of every command."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
from dataclasses import dataclass, field

from mppo.cli import COMMANDS

_FLAG = re.compile(r"^  (?:-\w(?: \S+)?, )?(--[\w.-]+)(?:, --[\w.-]+)?(?: \[?([^\s\]]+))?")
_FILES = ("FILE", "DIR", "FOLDER", "PATH")


@dataclass
class Words:
    """The flags of one command with the values each takes: None for a file, [] for anything."""

    flags: dict[str, list[str] | None] = field(default_factory=dict)
    switches: set[str] = field(default_factory=set)  # flags without a value


def read_help(text: str) -> Words:
    """The flags in a help text.

    >>> read_help("  --value {shared,independent}\\n  --json    for programs")
    Words(flags={'--value': ['shared', 'independent'], '--json': []}, switches={'--json'})
    """
    words = Words()
    for line in text.splitlines():
        found = _FLAG.match(line)
        if found is None:
            continue
        flag, value = found[1], found[2] or ""
        choices = re.fullmatch(r"\{(.+)\}", value)
        words.flags[flag] = choices[1].split(",") if choices else None if value in _FILES else []
        if not re.match(r"[A-Z{\[]", line[found.end(1) :].removeprefix(" ").removeprefix("[")):
            words.switches.add(flag)
    return words


def of_commands() -> dict[str, Words]:
    """The flags of every command but `train`."""
    found = {}
    for name, command in COMMANDS.items():
        if name == "train":
            continue
        said = io.StringIO()
        module = importlib.import_module(command.module)
        more = (None,) if command.stops_at_boundaries else ()
        with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
            module.main(name, ["--help"], *more)
        found[name] = read_help(said.getvalue())
    return found


def of_methods() -> dict[str, Words]:
    """The flags of `train` for every method, those that swap a component included."""
    from mppo.algorithm.methods import COMPONENTS, METHODS
    from mppo.cli.train import parser_for

    swaps = {f"--{axis}": list(kinds) for axis, kinds in COMPONENTS.items()}
    found = {}
    for name, method in METHODS.items():
        words = read_help(parser_for(method, name).format_help())
        words.flags |= swaps
        found[name] = words
    return found


def tasks() -> list[str]:
    """The tasks of the paper, by their ids."""
    from mppo.envs import TASKS

    return [task.id for task in TASKS]
