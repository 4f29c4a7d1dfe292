"""`mppo train` and `mppo resume`: parse, call, print."""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
import sys
import textwrap
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mppo.algorithm.methods import COMPONENTS, METHODS, Method
from mppo.cli import fields
from mppo.cli.config import printed, with_config
from mppo.cli.naming import Named, named
from mppo.cli.parser import WIDEST, Parser
from mppo.cli.runs import loggers_of
from mppo.errors import BadRequest
from mppo.files.foreign_names import answer, flag
from mppo.machine.signals import Interrupts
from mppo.training.options import Options

if TYPE_CHECKING:
    from mppo.files.run_directory import RunDirectory
    from mppo.loggers import Logger
    from mppo.training.run import Run

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
RESUME = """\
Go on with an interrupted run. It ends with the same bits as if it had never
been interrupted. A finished run is left as it is. Where no checkpoint is good,
nothing is changed; --from-scratch then starts the same run anew."""
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


@dataclass(frozen=True)
class Shown:
    """What `mppo train` and `mppo resume` take beside the options of a training."""

    tensorboard: bool = False
    """Also write event files, to DIR/tensorboard; a run that has some goes on writing them."""
    wandb: str | None = field(default=None, metadata={"metavar": "PROJECT"})
    """Also log to this project of Weights & Biases."""
    trackio: str | None = field(default=None, metadata={"metavar": "PROJECT"})
    """Also log to this project of Trackio."""
    allow_imports: bool = False
    """Import components and environments of other packages that the run names (runs their code)."""
    quiet: bool = False
    """Print nothing but errors."""


@dataclass(frozen=True)
class FromFile:
    """Settings from a file, which `mppo train` takes as well."""

    config: str | None = field(default=None, metadata={"metavar": "FILE"})
    """Settings from a file: TOML, or run.json of an earlier run; flags stand above it."""
    tuned: bool = False
    """Settings known to work on this task, which `mppo zoo` lists; flags stand above them."""
    print_config: bool = False
    """Print the settings as such a file, and do no more."""
    allow_imports: bool = False
    """Import code of other packages that the file names (runs their code)."""


def train(words: list[str], interrupts: Interrupts) -> int:
    """Train one run."""
    sys.path.append(os.getcwd())  # so that module:Class and module:id find the user's own modules
    options, method, env_kwargs = parsed(words)
    if options.print_config:
        print(printed(options, method, env_kwargs, _own_fields()), end="")
        return 0

    from mppo.envs.wrapping import imported_wrapper
    from mppo.files.run_directory import RunDirectory

    options.wrappers = [imported_wrapper(name) for name in options.wrappers]
    loggers = loggers_of(options)
    run = Options.among(vars(options)).run(method, options.env, env_kwargs)
    name = options.method
    directory = RunDirectory(options.out or _free_directory(run.task.name, name, options.seed))
    return _carry_out(run, directory, name, options, interrupts, loggers)


def parsed(words: list[str]) -> tuple[Any, Method, dict[str, Any]]:
    """The options, the method with its fields changed, and the environment's arguments."""
    own = _own_fields()
    words = with_config(_with_dashes(words), own, lambda some: _parser(named(some, own))[0])
    found = named(words, own)
    parser, method = _parser(found)
    options = parser.parse_args(words)
    if options.method != found.method:
        raise BadRequest("it is not clear which word is METHOD; put METHOD and ENV first")
    given = vars(options)
    return options, fields.rebuild(method, given), fields.env_arguments(given)


def _parser(found: Named) -> tuple[Parser, Method]:
    """The parser of what the words name, and the method with its components swapped."""
    method = fields.swapped(METHODS[found.method], found.swaps)
    return parser_for(method, found.method, found.env), method


@lru_cache
def parser_for(method: Method, name: str, env: tuple[str, ...] = ()) -> Parser:
    """A parser of all flags of a method, and of these of the environment."""
    parser = Parser("train", _help(name), EXAMPLES, CODES)
    parser.usage = "mppo train METHOD ENV [options]"
    parser.elsewhere = partial(answer, method=method, spelt=flag)
    for metavar in ("METHOD", "ENV"):
        parser.add_argument(metavar.lower(), metavar=metavar, help=argparse.SUPPRESS)
    run = parser.add_argument_group("run")
    for option in _own_fields():
        fields.add_option(run, option)
    fields.add_swaps(parser)
    fields.add_env_flags(parser, env)
    fields.add_fields(parser, method)
    return parser


def _with_dashes(words: list[str]) -> list[str]:
    """--batch_size is --batch-size; names of arguments to environments stay as they are."""
    end = words.index("--") if "--" in words else len(words)
    found = []
    for word in words[:end]:
        start, equals, value = word.partition("=")
        if word.startswith("--") and not word.startswith("--env."):
            start = start.replace("_", "-")
        found.append(start + equals + value)
    return found + words[end:]


def _own_fields() -> tuple[fields.Option, ...]:
    """The options that are not fields of a method."""
    mine = [field.name for field in dataclasses.fields(Options) if field.name != "loggers"]
    shown = ("tensorboard", "wandb", "trackio", "quiet")
    return (
        *fields.options_of(Options, *mine),
        *fields.options_of(Shown, *shown),
        *fields.options_of(FromFile),
    )


def _help(name: str) -> str:
    fill = partial(textwrap.fill, break_on_hyphens=False)
    swaps = [
        fill(
            f"  {f'--{axis} KIND':<20} {', '.join(kinds)}", width=WIDEST, subsequent_indent=" " * 23
        )
        for axis, kinds in COMPONENTS.items()
    ]
    methods = fill(", ".join(METHODS), subsequent_indent=" " * 8, width=WIDEST - 8)
    return TRAIN.format(name=name, methods=methods, swaps="\n".join(swaps))


def _carry_out(
    run: Run,
    directory: RunDirectory,
    method_name: str,
    options: Any,
    interrupts: Interrupts,
    loggers: list[Logger],
) -> int:
    """Train from the beginning or from where it was left, showing progress."""
    from mppo.cli.progress import Progress
    from mppo.training.loop import describe
    from mppo.training.start import begin

    try:
        if not options.from_scratch:
            directory.refuse_other(describe(run, method_name))
            if directory.finished:
                print(f"{directory.path} is finished already")
                return 0
        asked = Options.among(vars(options) | {"loggers": loggers})
        training = begin(run, directory, method_name, asked)
        if directory.aside is not None and not options.quiet:
            print(f"the run that was there is now {directory.aside}")
        if directory.passed_over:
            print(f"mppo: {directory.passed_over}", file=sys.stderr)
        with Progress(run, method_name, directory.path, quiet=options.quiet) as progress:
            training.to_the_end(progress, interrupts)
        if directory.finished:
            return 0
        if not options.quiet:
            print(f"stopped and saved; go on with: mppo resume {directory.path}")
        return interrupts.exit_code
    finally:
        directory.close()
        run.close()


def _free_directory(env: str, method: str, seed: int) -> Path:
    """runs/ENV/METHOD/seed-S, or the next free name after it."""
    name = re.sub(r"[^A-Za-z0-9._-]", "-", env.removeprefix("mppo/"))
    base = Path("runs") / name / method / f"seed-{seed}"
    later = (base.with_name(f"{base.name}-{n}") for n in count(2))
    return next(path for path in chain([base], later) if not path.exists())


def resume(words: list[str], interrupts: Interrupts) -> int:
    """Take up a run from its newest good checkpoint."""
    parser = Parser("resume", RESUME, ["mppo resume runs/maze"], CODES)
    parser.add_argument("dir", metavar="DIR", help="the run directory")
    taken = ("from_scratch", "checkpoint_every", "workers", "step_timeout", "engine", "address")
    for option in (*fields.options_of(Options, *taken), *fields.options_of(Shown)):
        fields.add_option(parser, option)
    options = parser.parse_args(words)

    from mppo.envs.recorded import recorded_source
    from mppo.files.atomic import asides
    from mppo.files.description import described
    from mppo.files.run_directory import RunDirectory
    from mppo.training.run import Run
    from mppo.training.workers import WorkerOptions

    directory = RunDirectory(options.dir)
    found = directory.description_to_continue()
    if found is None:
        before = asides(Path(os.path.abspath(options.dir)))  # a new start was stopped too early
        hint = f'; "{before[-1]}" was moved aside from here' if before else ""
        raise BadRequest(f'"{options.dir}" holds no run (there is no run.json){hint}')
    if options.allow_imports:
        sys.path.append(os.getcwd())  # as `mppo train` did when it began
    old = described(found, options.allow_imports)
    on = recorded_source(found, None, None, options.allow_imports)
    workers = WorkerOptions(options.step_timeout, options.engine, options.address)
    run = Run(
        old.method,
        on,
        old.steps,
        old.seed,
        old.evaluation,
        options.workers,
        old.unfinished,
        workers,
    )
    options.tensorboard |= (directory.path / "tensorboard").is_dir()  # curves without a gap
    return _carry_out(run, directory, old.method_name, options, interrupts, loggers_of(options))
