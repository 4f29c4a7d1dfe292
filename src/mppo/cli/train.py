"""`mppo train`: parse, call, print."""

from __future__ import annotations

import dataclasses
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from mppo.cli import fields
from mppo.config import method_named
from mppo.errors import BadRequest
from mppo.interrupts import Interrupts
from mppo.methods import COMPONENTS, METHODS, Method

if TYPE_CHECKING:
    from mppo.loggers import Logger
    from mppo.run import Run
    from mppo.store import RunDirectory

HELP = """Train METHOD on ENV.

METHOD is one of: {methods}.
ENV is a Gymnasium id; `mppo envs` lists the tasks of the paper, `module:id` imports a module first.
--env.NAME VALUE passes an argument to the environment's constructor.
{swaps}

example:
  mppo train mp-trpo mppo/SparseHopper-v0 --steps 2e6 --seed 1 --picking.alpha 0.5 --paths 4
"""


def main(command: str, words: list[str], interrupts: Interrupts) -> int:
    """Train one run."""
    sys.path.append(os.getcwd())  # so that module:Class and module:id find the user's own modules
    method = _named_first(words)
    env_kwargs, rest = fields.take_env_arguments(words)
    method, rest = fields.swap_components(method, rest)
    options = tyro.cli(
        fields.as_options(method, _own_fields()),
        args=rest,
        prog="mppo train",
        description=_help(),
    )
    return _train(options, fields.rebuild(method, options), env_kwargs, interrupts)


def _positional(name: str, text: str) -> Any:
    return Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar=name, help=text)]


def _own_fields() -> list[tuple]:
    """The options that are not fields of a method."""

    def field(name: str, kind: Any, default: Any, text: str) -> tuple:
        return name, Annotated[kind, tyro.conf.arg(help=text)], dataclasses.field(default=default)

    flag = tyro.conf.FlagCreatePairsOff[bool]
    return [
        ("method", _positional("METHOD", "Name of the method; mppo methods lists them.")),
        ("env", _positional("ENV", "Gymnasium id; mppo envs lists the tasks of the paper.")),
        field(
            "steps", fields.Steps, 1_000_000, "Environment steps (whole batches: at least this)."
        ),
        field("seed", int, 0, "Seed of everything random."),
        field("out", str | None, None, "Run directory; by default a new one under runs/."),
        field("eval_every", fields.Steps, 10_000, "Steps between evaluations; 0 is never."),
        field("eval_episodes", int, 10, "Episodes of an evaluation, with sampled actions."),
        field(
            "eval_deterministic_episodes",
            int | None,
            None,
            "Episodes with the most likely actions, logged beside; by default as many.",
        ),
        field(
            "checkpoint_every",
            int,
            0,
            "Iterations between checkpoints; 0: often enough to lose a minute at most.",
        ),
        field("workers", int, 0, "Threads that step environments; 0: all cores."),
        field(
            "wrappers",
            tuple[str, ...],
            (),
            "module:callable, from environment to environment, in this order.",
        ),
        field("tensorboard", flag, False, "Also write event files, to OUT/tensorboard."),
        field("wandb", str | None, None, "Also log to this project of Weights & Biases."),
        field("trackio", str | None, None, "Also log to this project of Trackio."),
        field("quiet", flag, False, "Print nothing but errors."),
    ]


def _help() -> str:
    swaps = [
        f"--{axis} KIND swaps a component: {', '.join(kinds)}, or module:Class of your own."
        for axis, kinds in COMPONENTS.items()
    ]
    return HELP.format(methods=", ".join(METHODS), swaps="\n".join(swaps))


def _named_first(words: list[str]) -> Method:
    """The method that the words name: its fields decide which options there are."""
    named = next((word for word in words if word in METHODS), None)
    if named is not None:
        return METHODS[named]
    first = next((word for word in words if not word.startswith("-")), None)
    if first is None:
        if any(word in ("-h", "--help") for word in words):
            return METHODS["mp-trpo"]
        raise BadRequest(f"which method? Give one of {', '.join(METHODS)}")
    return method_named(first)


def _train(options: Any, method: Method, env_kwargs: dict[str, Any], interrupts: Interrupts) -> int:
    from mppo.envs.wrapping import imported_wrapper
    from mppo.evaluation import Evaluation
    from mppo.run import Run
    from mppo.store import RunDirectory
    from mppo.tasks import task

    beside = options.eval_deterministic_episodes
    evaluation = Evaluation(
        options.eval_every,
        options.eval_episodes,
        options.eval_episodes if beside is None else beside,
    )
    wrappers = [imported_wrapper(name) for name in options.wrappers]
    on = task(options.env, wrappers=wrappers, **env_kwargs)
    loggers = loggers_of(options)
    run = Run(method, on, options.steps, options.seed, evaluation, options.workers)
    directory = RunDirectory(options.out or _free_directory(on.name, options.method, options.seed))
    return carry_out(run, directory, options.method, options, interrupts, loggers)


def loggers_of(options: Any) -> list[Logger]:
    """Where else the numbers go; a missing extra is said before anything is begun."""
    from mppo.loggers import TensorBoard, Trackio, WandB

    loggers: list[Logger] = [TensorBoard()] if options.tensorboard else []
    loggers += [WandB(options.wandb)] if options.wandb else []
    return loggers + ([Trackio(options.trackio)] if options.trackio else [])


def carry_out(
    run: Run,
    directory: RunDirectory,
    method_name: str,
    options: Any,
    interrupts: Interrupts,
    loggers: Sequence[Logger] = (),
) -> int:
    """Train from the beginning or from where it was left, showing progress."""
    from mppo.cli.progress import Progress
    from mppo.train import begin, describe

    try:
        directory.refuse_other(describe(run, method_name))
        if directory.finished:
            print(f"{directory.path} is finished already")
            return 0
        training = begin(run, directory, method_name, options.checkpoint_every, loggers)
        for reason in directory.refused:
            print(f"mppo: passed over a checkpoint: {reason}", file=sys.stderr)
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
    n, path = 1, base
    while path.exists():
        n += 1
        path = base.with_name(f"{base.name}-{n}")
    return path
