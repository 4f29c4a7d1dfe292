"""`mppo resume`: go on with a run that was interrupted."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mppo.cli.parser import Parser, number, whole_number
from mppo.cli.train import CODES
from mppo.errors import BadRequest
from mppo.files.description import described
from mppo.machine.signals import Interrupts

ABOUT = """\
Go on with an interrupted run. It ends with the same bits as if it had never
been interrupted. A finished run is left as it is. Where no checkpoint is good,
nothing is changed; --from-scratch then starts the same run anew."""


def main(command: str, words: list[str], interrupts: Interrupts) -> int:
    """Take up a run from its newest good checkpoint."""
    parser = Parser("resume", ABOUT, ["mppo resume runs/maze"], CODES)
    add = parser.add_argument
    add("dir", metavar="DIR", help="the run directory")
    add(
        "--from-scratch",
        action="store_true",
        help="start anew, finished or not: the run in DIR is moved to DIR.aside-1 (or -2, ...), "
        "never deleted",
    )
    add("--workers", type=whole_number, default=0, metavar="N", help="threads or processes [all]")
    add("--step-timeout", type=number, default=600.0, metavar="X", help="seconds of a step [600]")
    add("--engine", choices=("local", "ray"), default="local", help="workers here, or on Ray")
    add("--address", metavar="ADDR", help="of a Ray cluster (a local one is started)")
    add(
        "--checkpoint-every",
        type=whole_number,
        default=0,
        metavar="N",
        help="iterations between checkpoints [0: at most a minute is lost]",
    )
    add(
        "--allow-imports",
        action="store_true",
        help="import components and environments of other packages that the run names (runs their "
        "code)",
    )
    add(
        "--tensorboard",
        action="store_true",
        help="also write event files (a run that has some goes on writing them)",
    )
    add("--wandb", metavar="PROJECT", help="also log to Weights & Biases")
    add("--trackio", metavar="PROJECT", help="also log to Trackio")
    add("--quiet", action="store_true", help="print nothing but errors")
    options = parser.parse_args(words)

    from mppo.cli.train import carry_out, loggers_of
    from mppo.envs.source import recorded_source
    from mppo.files.atomic import asides
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
    return carry_out(run, directory, old.method_name, options, interrupts, loggers_of(options))
