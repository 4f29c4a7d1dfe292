"""`mppo bench`: parse, measure, print."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from mppo.bench.joining import join
from mppo.bench.session import (
    PARTS,
    REPETITIONS,
    WITH_CASES,
    Options,
    empty_result,
    measure_parts,
)
from mppo.bench.show import markdown, text
from mppo.cli.parser import Parser, file_to_write, whole_number
from mppo.errors import BadRequest, did_you_mean
from mppo.files.run_directory import plain

ABOUT = """\
Measure this machine in one session: training against bare physics, cores,
peers, environments, paths, start-up and memory. Ratios first, with their
spread over repetitions."""


def parser() -> Parser:
    """What the command takes."""
    examples = ["mppo bench --quick", "mppo bench --peers --json bench.json"]
    examples += ["mppo bench --only environments --case CartPole --peers"]
    parser = Parser("bench", ABOUT, examples)
    add = parser.add_argument
    add("--json", metavar="FILE", help="write everything raw")
    add("--markdown", metavar="FILE", help="write the page docs/performance.md")
    add("--quick", action="store_true", help="a smoke test of every part in two minutes")
    add("--peers", action="store_true", help="measure Stable-Baselines3 and others as well")
    add("--peers-python", metavar="PATH", help="the interpreter that has them (this one)")
    about = f"of every comparison ({REPETITIONS}; 2 with --quick)"
    add("--repetitions", type=whole_number, metavar="N", help=about)
    add("--join", action="store_true", help="keep the other parts that --json FILE has already")
    add("--only", nargs="+", metavar="PART", help=f"of {', '.join(PARTS)}")
    about = f"of {', '.join(WITH_CASES)}: only what has this in its name"
    add("--case", default="", metavar="TEXT", help=about)
    return parser


def bench(words: list[str]) -> int:
    """Measure, print ratios first, and write what was asked for."""
    given = parser().parse_args(words)
    for file in (given.json, given.markdown):
        if file is not None:
            file_to_write(file)
    options = _options(given)
    if given.join and given.json is None:
        raise BadRequest("--join keeps parts of an earlier --json FILE; name that file")
    earlier = _earlier(Path(given.json), empty_result(options)) if given.join else None
    result, code = empty_result(options), 0
    whole = lambda: result if earlier is None else join(earlier, result, options.case)
    try:
        with closing(measure_parts(options, result)) as parts:
            for _ in parts:
                _write(whole(), given)  # an interruption loses one part at most
    except KeyboardInterrupt:
        _say("interrupted; what was measured until then:")
        code = 130
    _say("")
    print(text(whole()), end="")
    return code


def _earlier(file: Path, now: dict[str, Any]) -> dict[str, Any]:
    """The result to join; looked at before anything is measured."""
    try:
        before = json.loads(file.read_text(encoding="utf-8"))
        join(before, now)
    except OSError as error:
        raise BadRequest(f'cannot read "{file}": {error.strerror}') from error
    except BadRequest as error:
        raise BadRequest(f'cannot join "{file}": {error}') from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadRequest(f'"{file}" is no result of mppo bench') from error
    return before


def _options(given: argparse.Namespace) -> Options:
    for name in given.only or ():
        if name not in PARTS:
            hint = did_you_mean(name, PARTS) or f"; the parts are {', '.join(PARTS)}"
            raise BadRequest(f'unknown part "{name}"{hint}')
    if given.repetitions is not None and given.repetitions < 1:
        raise BadRequest(f"repetitions is {given.repetitions}; give at least 1 (5 for a verdict)")
    if given.peers_python is not None and shutil.which(given.peers_python) is None:
        raise BadRequest(f'"{given.peers_python}" is not an interpreter that can be run')
    if given.case and not set(given.only or ("",)) <= set(WITH_CASES):
        raise BadRequest(f"--case is for --only {', '.join(WITH_CASES)}; name such parts alone")
    wanted = set(given.only or Options().parts)
    if given.peers and "environments" not in (given.only or ()):  # it measures peers of its own
        wanted.add("peers")
    parts = tuple(name for name in PARTS if name in wanted)
    more = {"with_peers": given.peers, "case": given.case}
    return Options(given.quick, parts, given.repetitions, given.peers_python, _say, **more)


def _write(result: dict[str, Any], given: argparse.Namespace) -> None:
    if given.json is not None:
        data = json.dumps(plain(result), indent=1, allow_nan=False)
        Path(given.json).write_text(data + "\n", encoding="utf-8")
    if given.markdown is not None:
        Path(given.markdown).write_text(markdown(result), encoding="utf-8")


def _say(line: str) -> None:
    """Progress goes to stderr: on one line of a terminal, line by line into a file."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1
        print(f"\r{line[:width]:<{width}}", end="\r" if not line else "", file=sys.stderr)
        sys.stderr.flush()
    elif line:
        print(line, file=sys.stderr, flush=True)
