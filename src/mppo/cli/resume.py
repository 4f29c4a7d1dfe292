"""`mppo resume`: go on with a run that was interrupted."""

from __future__ import annotations

import argparse
import os
import sys

from mppo.described import described
from mppo.errors import BadRequest
from mppo.interrupts import Interrupts


def main(command: str, words: list[str], interrupts: Interrupts) -> int:
    """Take up a run from its newest good checkpoint."""
    parser = argparse.ArgumentParser(
        "mppo resume",
        description="Go on with an interrupted run. It ends with the same bits as if it had never "
        "been interrupted. A finished run is left as it is.",
        epilog="example: mppo resume runs/maze",
    )
    parser.add_argument("dir", metavar="DIR", help="the run directory")
    parser.add_argument("--workers", type=int, default=0, help="threads for stepping (all cores)")
    parser.add_argument(
        "--checkpoint-every", type=int, default=0, help="iterations between checkpoints (auto)"
    )
    parser.add_argument(
        "--allow-imports",
        action="store_true",
        help="import components and environments of other packages that the run names (runs their "
        "code)",
    )
    parser.add_argument(
        "--tensorboard",
        action="store_true",
        help="also write event files (a run that has some goes on writing them)",
    )
    parser.add_argument("--wandb", metavar="PROJECT", help="also log to Weights & Biases")
    parser.add_argument("--trackio", metavar="PROJECT", help="also log to Trackio")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    options = parser.parse_args(words)

    from mppo.cli.train import carry_out, loggers_of
    from mppo.run import Run
    from mppo.store import RunDirectory
    from mppo.tasks import recorded_task

    directory = RunDirectory(options.dir)
    found = directory.description()
    if found is None:
        raise BadRequest(f'"{options.dir}" holds no run (there is no run.json)')
    if options.allow_imports:
        sys.path.append(os.getcwd())  # as `mppo train` did when it began
    old = described(found, options.allow_imports)
    on = recorded_task(found, None, None, options.allow_imports)
    run = Run(old.method, on, old.steps, old.seed, old.evaluation, options.workers)
    options.tensorboard |= (directory.path / "tensorboard").is_dir()  # curves without a gap
    return carry_out(run, directory, old.method_name, options, interrupts, loggers_of(options))
