"""`mppo sweep` and `mppo search`, and what all commands that carry out a grid of runs share."""

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
    from mppo.experiments.trials import Trials
    from mppo.machine.signals import Interrupts

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
SEARCH = """\
Search for settings of a method with Optuna. FILE.toml names the task, the
effort, and the fields to be searched:

  method = "ppo"
  env = "CartPole-v1"
  steps = 5e4
  seeds = 2                       # runs of a trial, seeds from 0 on [1]
  trials = 30
  sampler_seed = 0                # also: sampler ["tpe"], pruning [true]
  [space]
  "optimiser.learning_rate" = {low = 1e-5, high = 1e-2, log = true}
  batch_size = {choices = [1024, 2048]}
  optimiser.epochs = {low = 3, high = 20}

Fields that stay the same in all trials are in a table [set], arguments of the
environment in [env_kwargs], every and episodes in [evaluation].

The same call goes on, also after kill -9; several may work on one DIR. The best
settings are in DIR/best.toml, which mppo train --config takes, all about the
search in DIR/search.html."""
SEARCH_CODES = """\
0 done; 2 bad request; 65 a fault of the environment; 74 a file cannot be
written; 130, 143 stopped by a signal and saved"""


def seeds_of(words: list[str] | None) -> list[int] | None:
    """Seeds as the command line writes them.

    >>> seeds_of(["3"]), seeds_of(["0", "4"]), seeds_of(["6-8"])
    ([0, 1, 2], [0, 4], [6, 7, 8])
    """
    if words is None:
        return None
    try:
        if len(words) == 1 and "-" not in words[0]:
            seeds = list(range(int(words[0])))
        else:
            ends = [[int(end) for end in word.split("-")] for word in words]
            seeds = [seed for end in ends for seed in range(end[0], end[-1] + 1)]
    except ValueError:
        seeds = []
    if not seeds:
        given = " ".join(words)
        raise BadRequest(f"--seeds is {given}; write a number of seeds, seeds, or a range: 6-11")
    return list(dict.fromkeys(seeds))


def add_engine_options(parser: argparse.ArgumentParser, needs_out: bool = True) -> None:
    """The options that say where and how many runs are carried out."""
    add = parser.add_argument
    add("--out", required=needs_out, metavar="DIR", help="directory of the grid; may exist already")
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


def search(words: list[str], interrupts: Interrupts) -> int:
    """Read the file, work on its trials, say what came out."""
    example = "mppo search examples/search.toml --out runs/search"
    parser = Parser("search", SEARCH, [example], SEARCH_CODES)
    parser.add_argument("file", metavar="FILE.toml", help="what to search")
    parser.add_argument("--out", required=True, metavar="DIR", help="where; may exist already")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    options = parser.parse_args(words)
    sys.path.append(os.getcwd())  # so that module:Class and module:id find the user's own modules

    from mppo.experiments.search import read
    from mppo.experiments.study import optuna
    from mppo.experiments.trials import Trials

    optuna()  # a missing extra is said before anything is begun
    root = usable(options.out, "search", lambda path: (path / "turn").exists())
    told = (lambda line: None) if options.quiet else (lambda line: print(line, flush=True))
    trials = Trials(read(Path(options.file), canonical), root, interrupts, told)
    trials.publish = _publish
    trials.work()
    if interrupts.received is not None:
        told("stopped and saved; the same command goes on")
        return interrupts.exit_code
    best = trials.best()
    if best is None:
        reasons = [one.why for one in trials.counted() if one.why]
        why = f"; the last one failed: {reasons[-1]}" if reasons else ""
        raise BadRequest(f"none of {len(trials.counted())} trials came to its end{why}")
    values = ", ".join(f"{name}={value}" for name, value in best.values.items())
    told(f"best: trial {best.number} with {best.value:.2f}: {values}")
    told(f"train with it: mppo train --config {trials.root / 'best.toml'}")
    return 0


def _publish(trials: Trials) -> None:
    """Write the best settings, and the page."""
    from mppo.experiments.study import importances
    from mppo.files.atomic import write_atomically
    from mppo.report.search import page

    wanted, best = trials.search, trials.best()
    if best is not None:
        head = (
            f"# Trial {best.number} of mppo search: mean final score {best.value}, seeds 0 to "
            f"{wanted.seeds - 1}.\n# mppo train --config FILE repeats its first run.\n"
        )
        write_atomically(trials.root / "best.toml", (head + wanted.config(best.values)).encode())
    write_atomically(trials.root / "search.html", page(trials, importances(trials.study)).encode())
