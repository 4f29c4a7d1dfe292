"""What `mppo paper run` and `mppo sweep` share: the engine's options, and a grid carried out."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mppo.cli.parser import whole_number
from mppo.errors import BadRequest

if TYPE_CHECKING:
    from mppo.experiments.drive import Workers
    from mppo.experiments.grid import Grid
    from mppo.experiments.spec import RunSpec

SOME_FAILED = 1
"""Exit code of a grid in which some runs failed."""
CODES = "0 done; 1 some runs failed; 2 bad request; 130 stopped and saved"


def add_engine_options(parser: argparse.ArgumentParser, needs_out: bool = True) -> None:
    """The options that say where and how many runs are carried out."""
    add = parser.add_argument
    about = "directory of the grid; may exist already"
    add("--out", required=needs_out, metavar="DIR", help=about)
    add("--jobs", type=whole_number, default=0, metavar="N", help="runs side by side (all cores)")
    add("--engine", choices=("local", "ray"), default="local", help="this machine, or Ray")
    add("--low-priority", action="store_true", help="leave the cores to whatever else runs here")
    add("--address", metavar="ADDR", help="of a Ray cluster (a local one is started)")


def workers(options: argparse.Namespace) -> Workers:
    """The engine that was asked for."""
    from mppo.experiments.workers import LocalWorkers, RayWorkers

    if options.jobs < 0:
        raise BadRequest(f"--jobs is {options.jobs}; give at least 1, or leave it out")
    if options.engine == "local":
        if options.address is not None:
            raise BadRequest("--address is of a Ray cluster; add --engine ray")
        return LocalWorkers(options.jobs, low_priority=options.low_priority)
    if options.low_priority:
        raise BadRequest("--low-priority is of the local engine; leave out --engine ray")
    return RayWorkers(options.jobs, options.address)


def carry_out(grid: Grid, runs: list[RunSpec], on: Workers) -> int:
    """Run what is not done, show how it goes, and report every failure."""
    from mppo.cli.gridview import GridProgress
    from mppo.experiments.drive import Driver

    driver = Driver(grid, on)
    with GridProgress(grid, runs) as progress:
        try:
            driver.run(runs, progress.tick, progress.told)
        except KeyboardInterrupt:
            print("stopped and saved; the same command goes on", file=sys.stderr)
            raise
        finally:
            progress.tick(driver)
    labels = {run.run_id: run.label for run in runs}
    for run_id, failure in driver.failures.items():
        print(f"failed: {labels[run_id]}: {failure.message}", file=sys.stderr)
    if driver.failures:
        print(
            f"mppo: {len(driver.failures)} of {len(runs)} runs failed; the same command tries "
            f"them again, and mppo paper status {grid.root} shows them",
            file=sys.stderr,
        )
        return SOME_FAILED
    print(f"all {len(runs)} runs are done in {grid.root}")
    return 0


def usable(out: str) -> Path:
    """A directory for a grid: new, empty, or a grid already."""
    from mppo.experiments.grid import is_grid

    path = Path(out)
    if path.exists() and not path.is_dir():
        raise BadRequest(f'"{out}" is not a directory; choose another --out')
    foreign = path.exists() and any(not entry.name.startswith(".") for entry in path.iterdir())
    if foreign and not is_grid(path):
        raise BadRequest(f'"{out}" holds other files and no grid; choose another --out')
    return path
