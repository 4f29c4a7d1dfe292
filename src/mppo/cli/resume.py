"""`mppo resume`: go on with a run that was interrupted."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mppo.cli import fields
from mppo.cli.parser import Parser
from mppo.cli.train import CODES, Shown, carry_out, loggers_of, options_given
from mppo.errors import BadRequest
from mppo.files.description import described
from mppo.machine.signals import Interrupts
from mppo.training.options import Options

ABOUT = """\
Go on with an interrupted run. It ends with the same bits as if it had never
been interrupted. A finished run is left as it is. Where no checkpoint is good,
nothing is changed; --from-scratch then starts the same run anew."""


def main(command: str, words: list[str], interrupts: Interrupts) -> int:
    """Take up a run from its newest good checkpoint."""
    parser = Parser("resume", ABOUT, ["mppo resume runs/maze"], CODES)
    parser.add_argument("dir", metavar="DIR", help="the run directory")
    taken = ("from_scratch", "checkpoint_every", "workers", "step_timeout", "engine", "address")
    for option in (*fields.options_of(Options, *taken), *fields.options_of(Shown)):
        fields.add_option(parser, option)
    options = parser.parse_args(words)

    from mppo.envs.recorded import recorded_source
    from mppo.files.atomic import asides
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
    on = recorded_source(found, None, None, options.allow_imports)
    run = Run(
        old.method,
        on,
        old.steps,
        old.seed,
        old.evaluation,
        options.workers,
        old.unfinished,
        options_given(options),
    )
    options.tensorboard |= (directory.path / "tensorboard").is_dir()  # curves without a gap
    return carry_out(run, directory, old.method_name, options, interrupts, loggers_of(options))
