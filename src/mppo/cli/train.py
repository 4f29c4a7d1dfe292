"""`mppo train` and `mppo resume`: parse, call, print."""

from __future__ import annotations

import os
import re
import sys
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mppo.cli import fields
from mppo.cli.config import printed, with_config
from mppo.cli.naming import CODES, Shown, parser_of
from mppo.cli.parser import Parser, whole_number
from mppo.cli.runs import loggers_of
from mppo.errors import BadRequest
from mppo.training.options import Options

if TYPE_CHECKING:
    from mppo.algorithm.methods import Method
    from mppo.files.run_directory import RunDirectory
    from mppo.machine.signals import Interrupts
    from mppo.training.run import Run

RESUME = """\
Go on with an interrupted run. It ends with the same bits as if it had never
been interrupted. A finished run is left as it is, unless --steps makes it
longer. Where no checkpoint is good, nothing is changed; --from-scratch then
starts the same run anew."""
TAKEN = ("from_scratch", "checkpoint_every", "workers", "step_timeout", "engine", "address")
ALSO = ("tensorboard", "wandb", "trackio", "quiet", "allow_imports")
"""Options of `mppo train` that `mppo resume` takes."""


def train(words: list[str], interrupts: Interrupts) -> int:
    """Train one run."""
    sys.path.append(os.getcwd())  # so that module:Class and module:id find the user's own modules
    options, method, env_kwargs = parsed(words)
    if options.print_config:
        print(printed(options, method, env_kwargs), end="")
        return 0

    from mppo.envs.wrapping import imported_wrapper
    from mppo.files.run_directory import RunDirectory

    options.wrappers = [imported_wrapper(name) for name in options.wrappers]
    options.loggers = loggers_of(options)
    run = Options.among(vars(options)).run(method, options.env, env_kwargs)
    name = options.method
    directory = RunDirectory(options.out or _free_directory(run.task.name, name, options.seed))
    return _carry_out(run, directory, name, options, interrupts)


def parsed(words: list[str]) -> tuple[Any, Method, dict[str, Any]]:
    """The options, the method with its fields changed, and the environment's arguments."""
    words = with_config(_with_dashes(words))
    parser, name, method = parser_of(words)
    options = parser.parse_args(words)
    if options.method != name:
        raise BadRequest("it is not clear which word is METHOD; put METHOD and ENV first")
    given = vars(options)
    return options, fields.rebuild(method, given), fields.env_arguments(given)


def _with_dashes(words: list[str]) -> list[str]:
    """--batch_size is --batch-size; names of arguments to environments stay as they are."""
    end = words.index("--") if "--" in words else len(words)
    dashed = lambda found: found[0].replace("_", "-")
    return [re.sub(r"^--(?!env\.)[^=]*", dashed, word) for word in words[:end]] + words[end:]


def _carry_out(
    run: Run,
    directory: RunDirectory,
    method_name: str,
    options: Any,
    interrupts: Interrupts,
    longer: bool = False,
) -> int:
    """Train from the beginning or from where it was left, showing progress; `longer` than begun."""
    from mppo.cli.progress import Progress
    from mppo.training.loop import describe
    from mppo.training.start import begin

    try:
        if not options.from_scratch and not longer:
            directory.refuse_other(describe(run, method_name))
            if directory.finished:
                print(f"{directory.path} is finished already")
                return 0
        training = begin(run, directory, method_name, Options.among(vars(options)), longer)
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
    examples = ["mppo resume runs/maze", "mppo resume runs/maze --steps 2e6"]
    parser = Parser("resume", RESUME, examples, CODES)
    parser.add_argument("dir", metavar="DIR", help="the run directory")
    about = "Go on to so many steps in all. [as many as it was begun with]"
    parser.add_argument("--steps", type=whole_number, metavar="N", help=about)
    for option in (*fields.options_of(Options, *TAKEN), *fields.options_of(Shown, *ALSO)):
        fields.add_option(parser, option)
    options = parser.parse_args(words)

    from mppo.envs.recorded import recorded_source
    from mppo.files.atomic import asides
    from mppo.files.description import described
    from mppo.files.run_directory import RunDirectory
    from mppo.training.run import Run

    directory = RunDirectory(options.dir)
    found = directory.description_to_continue()
    if found is None:
        before = asides(Path(os.path.abspath(options.dir)))  # a new start was stopped too early
        hint = f'; "{before[-1]}" was moved aside from here' if before else ""
        raise BadRequest(f'"{options.dir}" holds no run (there is no run.json){hint}')
    if options.allow_imports:
        sys.path.append(os.getcwd())  # as `mppo train` did when it began
    old = described(found, options.allow_imports)
    options.steps = _in_all(options, old.steps)
    on = recorded_source(found, None, None, options.allow_imports)
    run = Run(
        *(old.method, on, options.steps, old.seed, old.evaluation),
        *(options.workers, old.unfinished, Options.among(vars(options))),
    )
    options.tensorboard |= (directory.path / "tensorboard").is_dir()  # curves without a gap
    options.loggers = loggers_of(options)
    longer = options.steps > old.steps
    return _carry_out(run, directory, old.method_name, options, interrupts, longer)


def _in_all(options: Any, begun: int) -> int:
    """After how many steps a run shall end that was begun for so many."""
    if options.steps is None:
        return begun
    if options.steps < begun:
        raise BadRequest(
            f"steps is {options.steps}, and the run was begun for {begun}; give more, or none"
        )
    if options.from_scratch and options.steps > begun:
        raise BadRequest("--steps makes a run longer, and --from-scratch begins it anew; give one")
    return options.steps
