"""`mppo train --config FILE`, `--tuned`, `--fast`: settings as words before the others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from mppo.algorithm.methods import COMPONENTS, METHODS
from mppo.cli import fields
from mppo.cli.naming import OWN, parser_of, places, swaps_of
from mppo.cli.parser import Parser
from mppo.errors import BadRequest
from mppo.files.changes import env_flags
from mppo.files.foreign_names import flag
from mppo.files.settings import kind_of, unknown_method

NOT_IN_FILES = ("config", "tuned", "fast", "print_config", "allow_imports", "help")
"""Options that a file cannot have: it is read because of the first, and may not allow itself more
than it was allowed."""
_FLAG = re.compile(r"--([\w.-]+)")


def with_config(words: Sequence[str]) -> list[str]:
    """The words of the command line after those that their file stands for.

    Flags stand above the file: of two, the last one counts. A component that a flag swaps takes
    nothing of what the file says of another kind. METHOD and ENV are those of the file where the
    words do not name them.
    """
    parser = Parser("train")
    parser.add_argument("--config", nargs="?", const="")
    for names in (["--allow-imports"], ["--tuned"], ["--fast"], ["-h", "--help"]):
        parser.add_argument(*names, action="store_true")
    asked, _ = parser.parse_known_args(words)
    if asked.config == "":
        raise BadRequest("--config needs a file: settings as TOML, or the run.json of a run")
    if asked.tuned and asked.config is not None:
        raise BadRequest("--tuned and --config both give settings; leave out one of them")
    found = _with_settings(words, asked)
    if asked.fast and not asked.help:
        from mppo.files.tuned import fast_settings

        parser, _, method = parser_of(found)
        fast = fast_settings(fields.rebuild(method, vars(parser.parse_args(found))))
        flags = [f"{flag(name)}={value}" for name, value in fast.items()]
        return _with_settings([*flags, *words], asked)
    return found


def _with_settings(words: Sequence[str], asked: Any) -> list[str]:
    if asked.tuned and not asked.help:
        return _with_tuned(words)
    return list(words) if asked.config is None else _with_file(words, asked)


def _with_file(words: Sequence[str], asked: Any) -> list[str]:
    from mppo.files import config_file

    config = config_file.read(asked.config, asked.allow_imports)
    swaps = swaps_of(words)
    given = _without_swapped(config.settings, dict(swaps))
    swapping = tuple((axis, str(given[axis])) for axis in COMPONENTS if axis in given)
    method, env = _named(places(words, swapping), config.method, asked.config)
    chosen = method or config.method or _missing(asked.config, "method")
    try:
        if chosen not in METHODS:
            raise unknown_method(chosen)
        kinds = [f"--{axis}={kind}" for axis, kind in (*swapping, *swaps)]
        arguments = env_flags(config.env_kwargs)
        start = [chosen, config.env or "ENV", *kinds, *arguments]
        parser = parser_of(start)[0]
        said = _as_words(given, parser) + arguments
        parser.parse_args([*start, *said, "--quiet"])
    except BadRequest as error:
        why = str(error).replace("unknown option", "unknown key")  # in the words of a file
        why = _FLAG.sub(lambda found: found[1].replace("-", "_"), why)
        raise BadRequest(f'"{asked.config}": {why}') from error
    said.append(f"--config={asked.config}")  # ends an option of several values
    place = [] if env is not None else [config.env or _missing(asked.config, "env")]
    if method is None:
        return [chosen, *place, *said, *words]
    end = ["--"] if place and "--" not in words else []
    return [*said, *words, *end, *place]


def _with_tuned(words: Sequence[str]) -> list[str]:
    """The words after those that the tuned settings of their METHOD and ENV stand for."""
    from mppo.files import tuned

    method, env = places(words)
    if method is None or env is None:
        raise BadRequest("--tuned needs METHOD and ENV: mppo train METHOD ENV --tuned")
    parser = Parser("train")
    fields.add_env_flags(parser, fields.env_flags(words))
    arguments = fields.env_arguments(vars(parser.parse_known_args(words)[0]))
    found = tuned.as_config(tuned.find(method, env, arguments))
    swaps = dict(swaps_of(words))
    kinds = {axis: kind_of(getattr(METHODS[method], axis)) for axis in swaps}
    given = _without_swapped(kinds | found.settings, swaps)
    start = [method, env, *(f"--{axis}={kind}" for axis, kind in swaps.items())]
    own = {name: given[name] for name in given if name not in kinds}
    said = _as_words(own, parser_of(start)[0])
    return [*said, "--tuned", *words]  # a switch ends an option of several values


def _named(
    words: tuple[str | None, str | None], usual: str | None, file: str
) -> tuple[str | None, str | None]:
    """METHOD and ENV; a word alone is ENV if it is not the name of a method."""
    method, env = words
    if env is None and method is not None and method not in METHODS and usual is not None:
        method, env = None, method
    if method is not None and usual is not None and method != usual:
        raise BadRequest(
            f'METHOD is "{method}", and "{file}" holds settings of "{usual}"; leave METHOD out, or '
            f'delete the line "method" and what is only of {usual} from the file'
        )
    return method, env


def _missing(file: str, name: str) -> str:
    raise BadRequest(f'{name.upper()} is missing: neither the words nor "{file}" name it')


def _without_swapped(settings: dict[str, Any], swaps: dict[str, str]) -> dict[str, Any]:
    """What is left of a file's settings where flags swap components."""
    gone = {axis for axis, kind in swaps.items() if settings.get(axis, kind) != kind}
    return {name: value for name, value in settings.items() if name.split(".")[0] not in gone}


def _as_words(settings: dict[str, Any], parser: Parser) -> list[str]:
    words: list[str] = []
    for name, value in settings.items():
        if name in NOT_IN_FILES:
            raise BadRequest(f'"{name}" cannot be set in a file; give it as {flag(name)}')
        words += _option(name, value, parser)
    return words


def _option(name: str, value: Any, parser: Parser) -> list[str]:
    """One setting as the words of its flag."""
    option = flag(name)
    action = parser.options.get(option)
    takes = None if action is None else action.nargs
    if action is not None and takes == 0:
        if not isinstance(value, bool):
            raise BadRequest(f"{option} is {value!r}; it must be true or false")
        on, *off = action.option_strings
        return [on] if value else off
    if isinstance(value, list) and takes == "*":
        items = [str(item) for item in value]
        dashes = [item for item in items if item.startswith("--")]
        if dashes:
            raise BadRequest(f"{option} holds {dashes[0]!r}, which looks like an option")
        return [option, *items]
    if isinstance(value, list | dict):
        raise BadRequest(f"{option} is {value!r}; it must be one value")
    return [f"{option}={str(value).lower() if isinstance(value, bool) else value}"]


def printed(options: Any, method: Any, env_kwargs: dict[str, Any]) -> str:
    """The file that leads to the same run."""
    from mppo.files.config_file import Config, settings_of, written

    left_out = (*NOT_IN_FILES, "quiet", "from_scratch")
    given = {one.name: getattr(options, one.name) for one in OWN if one.name not in left_out}
    unset = lambda value: value is None or value is False or value in ((), [])
    run = {name: value for name, value in given.items() if not unset(value)}
    return written(Config(options.method, options.env, env_kwargs, run | settings_of(method)))
