"""`mppo zoo`: the tuned settings, listed, measured anew, and their returns written down."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mppo.cli.grids import CODES, add_engine_options, canonical, carry_out, usable, workers
from mppo.cli.parser import Parser, file_to_write, whole_number
from mppo.errors import BadRequest

if TYPE_CHECKING:
    from mppo.files.tuned import Tuned

ABOUT = """\
The settings that `mppo train METHOD ENV --tuned` takes. Without a job, they are
listed with their returns, steps and command. JOB is one of

  run         measure them anew, as a grid of runs; the same call goes on
  update DIR  write the returns of such a grid into the package's tuned.toml
  page        all of it beside published returns, as a page (--out FILE)

--only takes METHOD, ENV or METHOD/ENV, several of them if you like."""
EXAMPLES = (
    "mppo zoo --only CartPole-v1",
    "mppo zoo run --only ppo/CartPole-v1 trpo --seeds 3 --out runs/zoo",
    "mppo zoo update runs/zoo",
    "mppo zoo page --out docs/results/zoo.md",
)


def zoo(words: list[str]) -> int:
    """List, run, update or write a page."""
    parser = Parser("zoo", ABOUT, EXAMPLES, CODES)
    parser.usage = "mppo zoo [JOB] [DIR] [options]"
    add = parser.add_argument
    add("job", nargs="?", default="list", metavar="JOB", help="(list)")
    add("dir", nargs="?", metavar="DIR", help="of update: what run made")
    add("--only", nargs="*", default=[], metavar="NAME", help="these alone")
    add("--settings", action="store_true", help="of the list: with the settings")
    add("--json", action="store_true", help="of the list: all, for programs")
    add("--seeds", type=whole_number, default=3, metavar="N", help="of run: seeds from 0 [3]")
    add("--print", action="store_true", help="of update: write nothing, print")
    add_engine_options(parser, needs_out=False)
    options = parser.parse_args(words)

    from mppo.experiments.zoo import chosen
    from mppo.files.tuned import entries

    if options.job not in JOBS:
        raise BadRequest(f'JOB is "{options.job}"; it must be one of {", ".join(JOBS)}')
    if (options.dir is None) == (options.job == "update"):
        raise BadRequest("update, and only update, takes a DIR: mppo zoo update DIR")
    return JOBS[options.job](options, chosen(entries(), options.only))


def _list(options: Any, those: Sequence[Tuned]) -> int:
    from mppo.files.tuned import NOT_MEASURED, published, settings_line, shown

    if options.json:
        theirs = lambda one: [other._asdict() for other in published(one)]
        more = lambda one: {"command": one.command, "published": theirs(one)}
        print(json.dumps([{**one._asdict(), **more(one)} for one in those], indent=2))
        return 0
    for env in dict.fromkeys(one.id for one in those):
        print(env)
        for one in (one for one in those if one.id == env):
            took = f", {one.seconds:.0f} s" if one.returns else ""
            print(f"    {one.method:<8} {one.steps:>10,} steps{took}: {_returns(one.returns)}")
            if one.deterministic:
                print(f"{'':13}most likely actions: {_returns(one.deterministic)}")
            for other in published(one):
                seeds = f"{other.seeds} seeds" if other.seeds > 1 else "1 run"
                theirs = f"{shown(other.mean)} ({other.steps:,} steps, {seeds})"
                _wrapped(f"{other.peer}, {other.task}: {theirs}")
            _wrapped(f"settings: {one.source}")
            if options.settings:
                _wrapped(settings_line(one))
            print(f"{'':13}{one.command}")
    print("\nour returns beside published ones, with their sources: mppo zoo page")
    if not all(one.returns for one in those):
        print(f'"{NOT_MEASURED}": mppo zoo run measures, mppo zoo update writes it down')
    return 0


def _returns(returns: Sequence[float]) -> str:
    """The mean and the range of the seeds."""
    from mppo.files.tuned import NOT_MEASURED, shown

    if not returns:
        return NOT_MEASURED
    mean = sum(returns) / len(returns)
    seeds = f"{len(returns)} seeds" if len(returns) > 1 else "1 seed"
    least, most = (shown(one, mean) for one in (min(returns), max(returns)))
    return f"{shown(mean)} ({seeds}, {least} ... {most})"


def _wrapped(text: str) -> None:
    print(textwrap.fill(text, 80, initial_indent=" " * 13, subsequent_indent=" " * 15))


def _page(options: Any, those: Sequence[Tuned]) -> int:
    from mppo.files.atomic import write_atomically
    from mppo.report.zoo import page

    text = page(those).render("md")
    if options.out is None:
        print(text, end="")
    else:
        write_atomically(file_to_write(options.out), text.encode())
    return 0


def _run(options: Any, those: Sequence[Tuned]) -> int:
    from mppo.experiments.grid import Grid, distinct
    from mppo.experiments.zoo import measured, run_of

    if options.out is None:
        raise BadRequest("--out is missing; give the directory of the runs: --out runs/zoo")
    if options.seeds < 1:
        raise BadRequest(f"--seeds is {options.seeds}; it must be at least 1")
    runs = distinct(run_of(one, seed, _canonical) for seed in range(options.seeds) for one in those)
    grid, on = Grid(usable(options.out)), workers(options)
    grid.remember("zoo", runs)
    code = carry_out(grid, runs, on)
    for known, one in zip(those, measured(grid.root, those, _canonical), strict=True):
        if one is not known:
            print(f"{one.method} on {one.id}: {_returns(one.returns)}; {_beside(known, one)}")
    print(f"write the returns down: mppo zoo update {grid.root}")
    return code


def _beside(known: Tuned, now: Tuned) -> str:
    """How returns stand to those of the package's file, seed by seed."""
    seeds = min(len(known.returns), len(now.returns))
    if seeds and known.returns[:seeds] == now.returns[:seeds]:
        return "as in the list"
    return f"in the list: {_returns(known.returns)}"


def _update(options: Any, those: Sequence[Tuned]) -> int:
    from mppo.experiments.zoo import measured
    from mppo.files import tuned
    from mppo.files.atomic import write_atomically

    found = measured(Path(options.dir), those, _canonical)
    news = [new for old, new in zip(those, found, strict=True) if new != old]
    for one in news:
        print(f"{one.method} on {one.id}: {_returns(one.returns)}, {one.seconds:.0f} s")
    if not news:
        print(f"{options.dir} has no returns that are not known already")
    elif not options.print:
        by_key = {(one.method, one.id): one for one in found}
        every = [by_key.get((one.method, one.id), one) for one in tuned.entries()]
        write_atomically(tuned.FILE, tuned.written(every).encode())
        tuned.entries.cache_clear()
        print(f"{len(news)} entries written to {tuned.FILE}")
    return 0


def _canonical(one: Tuned) -> str:
    return canonical(one.env, one.env_kwargs, one.wrappers)


JOBS = {"list": _list, "run": _run, "update": _update, "page": _page}
