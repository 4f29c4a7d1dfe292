"""`mppo sweep`: a grid of one's own, from a TOML file."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from mppo.cli.engines import CODES, add_engine_options, carry_out, usable, workers
from mppo.cli.parser import Parser

ABOUT = """\
Run a grid of tasks, methods and seeds from a TOML file. It names tasks, methods
and seeds; every field of a method can be set or varied:

  steps = 1e6
  seeds = 6                        # 0 to 5; or a list
  tasks = ["mppo/Maze-v0",
           {env = "mppo/Maze-v0", arguments = {layout = "one-wall"}}]
  methods = ["trpo", {name = "mp-trpo", vary = {"picking.alpha" = [0, 0.1]}}]

A second call continues; more seeds, tasks or values add only what is missing.
`mppo paper table sweep DIR` sets each setting beside the plainest one."""


def main(command: str, words: list[str]) -> int:
    """Read the file, run what is missing."""
    example = "mppo sweep examples/sweep.toml --jobs 2 --out runs/sweep"
    parser = Parser("sweep", ABOUT, [example], CODES)
    parser.add_argument("file", metavar="FILE.toml", help="what to run")
    add_engine_options(parser)
    options = parser.parse_args(words)
    sys.path.append(os.getcwd())  # so that module:Class and module:id find the user's own modules

    from mppo.experiments.grid import Grid
    from mppo.experiments.sweep import read

    sweep = read(Path(options.file), _canonical)
    grid, on = Grid(usable(options.out)), workers(options)
    grid.remember(f"sweep {sweep.name}", sweep.runs)
    code = carry_out(grid, sweep.runs, on)
    print(f"compare them: mppo paper table sweep {grid.root}")
    return code


def _canonical(env: str, arguments: dict[str, Any]) -> str:
    from mppo.envs.source import env_source

    return env_source(env, **arguments).name
