"""`mppo sweep`, and what all commands that carry out a grid of runs share with it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mppo.cli.parser import Parser, whole_number
from mppo.errors import BadRequest

if TYPE_CHECKING:
    from mppo.experiments.drive import Workers
    from mppo.experiments.grid import Grid
    from mppo.experiments.spec import RunSpec

SOME_FAILED = 1
"""Exit code of a grid in which some runs failed."""
CODES = "0 done; 1 some runs failed; 2 bad request; 130 stopped and saved"
SWEEP = """\
Run a grid of tasks, methods and seeds from a TOML file. It names tasks, methods
and seeds; every field of a method can be set or varied:

  steps = 1e6
  seeds = 6                        # 0 to 5; or a list
  tasks = ["mppo/Maze-v0",
           {env = "mppo/Maze-v0", arguments = {layout = "one-wall"}}]
  methods = ["trpo", {name = "mp-trpo", vary = {"picking.alpha" = [0, 0.1]}}]

A second call continues; more seeds, tasks or values add only what is missing.
`mppo paper table sweep DIR` sets each setting beside the plainest one."""


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
    if options.jobs < 0:
        raise BadRequest(f"--jobs is {options.jobs}; give at least 1, or leave it out")
    if options.engine == "local":
        if options.address is not None:
            raise BadRequest("--address is of a Ray cluster; add --engine ray")
        from mppo.experiments.local import LocalWorkers

        return LocalWorkers(options.jobs, low_priority=options.low_priority)
    if options.low_priority:
        raise BadRequest("--low-priority is of the local engine; leave out --engine ray")
    from mppo.experiments.ray import RayWorkers

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


def usable(out: str, what: str = "grid", is_one: Callable[[Path], bool] | None = None) -> Path:
    """A directory for a grid: new, empty, or a grid already."""
    from mppo.experiments.grid import is_grid

    path = Path(out)
    if path.exists() and not path.is_dir():
        raise BadRequest(f'"{out}" is not a directory; choose another --out')
    foreign = path.exists() and any(not entry.name.startswith(".") for entry in path.iterdir())
    if foreign and not (is_one or is_grid)(path):
        raise BadRequest(f'"{out}" holds other files and no {what}; choose another --out')
    return path


def canonical(env: str, arguments: Mapping[str, Any], wrappers: Sequence[str] = ()) -> str:
    """The name that the runs of an environment have."""
    from mppo.envs.source import env_source
    from mppo.envs.wrapping import imported_wrapper

    return env_source(env, wrappers=tuple(map(imported_wrapper, wrappers)), **arguments).name


def sweep(words: list[str]) -> int:
    """Read the file, run what is missing."""
    example = "mppo sweep examples/sweep.toml --jobs 2 --out runs/sweep"
    parser = Parser("sweep", SWEEP, [example], CODES)
    parser.add_argument("file", metavar="FILE.toml", help="what to run")
    add_engine_options(parser)
    options = parser.parse_args(words)
    sys.path.append(os.getcwd())  # so that module:Class and module:id find the user's own modules

    from mppo.experiments.grid import Grid
    from mppo.experiments.sweep import read

    found = read(Path(options.file), canonical)
    grid, on = Grid(usable(options.out)), workers(options)
    grid.remember(f"sweep {found.name}", found.runs)
    code = carry_out(grid, found.runs, on)
    print(f"compare them: mppo paper table sweep {grid.root}")
    return code
