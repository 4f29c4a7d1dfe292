"""`mppo resume`: go on with a run that was interrupted."""

from __future__ import annotations

import argparse
import os
import sys

from mppo.config import from_json
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
        help="import components of other packages that the run names (runs their code)",
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

    sys.path.append(os.getcwd())  # as in `mppo train`; used only with --allow-imports

    directory = RunDirectory(options.dir)
    described = directory.description()
    if described is None:
        raise BadRequest(f'"{options.dir}" holds no run (there is no run.json)')
    try:
        imports = options.allow_imports
        method = from_json(described["method"], imports)
        evaluation = from_json(described["evaluation"])
        name, on = described["method_name"], recorded_task(described, None, None, imports)
        steps, seed = described["steps"], described["seed"]
        run = Run(method, on, steps, seed, evaluation, options.workers)
    except (KeyError, TypeError, AttributeError) as error:
        raise BadRequest(f'"{options.dir}/run.json" is not complete: {error}') from error
    options.tensorboard |= (directory.path / "tensorboard").is_dir()  # curves without a gap
    return carry_out(run, directory, name, options, interrupts, loggers_of(options))
