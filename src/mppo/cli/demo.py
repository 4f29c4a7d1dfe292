"""`mppo demo`: the paper's motivating example, Section 3.1, in a few minutes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from mppo.algorithm.methods import METHODS
from mppo.cli.grids import SOME_FAILED
from mppo.cli.parser import Parser, whole_number
from mppo.errors import BadRequest
from mppo.experiments.drive import Driver
from mppo.experiments.grid import Grid
from mppo.experiments.spec import RunSpec, spec
from mppo.experiments.workers import LocalWorkers
from mppo.files.reader import rows
from mppo.paper.artefacts import MAZE, MAZE_METHODS
from mppo.report.document import markdown_table
from mppo.statistics.scores import SOLVED, last_tenth

DEMO_METHODS = (*MAZE_METHODS, "sp-trpo")
"""The paper's three, and spread paths beside them."""
ABOUT = """\
TRPO, Multi-TRPO, MP-TRPO and SP-TRPO on the Maze with the same number of
samples: live progress, a table, and one picture of returns, entropies and state
visits.
Finished runs under --out are used again."""
NOTE = (
    "thin lines: seeds, thick: their mean; below: share of all training steps spent in each cell "
    "(log scale, all seeds)"
)


def demo(words: list[str]) -> int:
    """Train four methods on the Maze with the same samples, and draw what they did."""
    parser = Parser("demo", ABOUT, ["mppo demo --out demo --seeds 6 --steps 1e6"])
    add = parser.add_argument
    add("--out", default="demo", metavar="DIR", help="of runs and picture [demo]")
    add("--seeds", type=whole_number, default=4, metavar="N", help="of each method [4]")
    add("--steps", type=whole_number, default=500_000, metavar="N", help="of each run [500000]")
    add("--jobs", type=whole_number, default=0, metavar="N", help="runs side by side; 0: all cores")
    options = parser.parse_args(words)
    if importlib.util.find_spec("matplotlib") is None:
        raise BadRequest(
            'the demo draws with matplotlib; install it with: pip install "mppo[report]"'
        )
    if options.seeds < 1 or options.jobs < 0 or options.steps < METHODS["trpo"].batch_size:
        raise BadRequest(
            f"--seeds {options.seeds}, --jobs {options.jobs}, --steps {options.steps}: give at "
            f"least one seed and {METHODS['trpo'].batch_size} steps (one batch)"
        )
    console, grid = Console(), Grid(Path(options.out))
    seeds, steps = options.seeds, options.steps
    specs = [spec(name, MAZE, seed, steps) for seed in range(seeds) for name in DEMO_METHODS]
    grid.remember("demo", specs)
    done = sum(map(grid.finished, specs))
    already = f"; {done} are finished already in {grid.root}/runs" if done else ""
    said = f"{len(specs)} runs of {steps:,} steps on the Maze{already}"
    console.print(said, highlight=False)
    driver = Driver(grid, LocalWorkers(options.jobs))
    _carry_out(driver, specs, console)
    for run in specs:
        if failure := driver.failures.get(run.run_id):
            said = f"{run.label} failed (exit code {failure.exit_code}): {failure.message}"
            console.print(said, markup=False)
    if driver.failures:
        return SOME_FAILED
    _show(console, grid.root, seeds, steps)
    return 0


def _carry_out(driver: Driver, specs: list[RunSpec], console: Console) -> None:
    """Run all, with a table in a terminal and a line for each finished run elsewhere."""
    if console.is_terminal:
        with Live(console=console, refresh_per_second=4) as live:
            driver.run(specs, lambda _: live.update(_progress(driver.grid, specs)))
        return
    said = set()

    def say(_: Driver) -> None:
        finished = sum(map(driver.grid.finished, specs))
        if finished not in said:
            said.add(finished)
            print(f"  {finished} of {len(specs)} runs finished", flush=True)

    driver.run(specs, say)


def _progress(grid: Grid, specs: list[RunSpec]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("method", "steps of all seeds", "", "return", "first seed to find G"):
        table.add_column(name, no_wrap=True)
    for method in DEMO_METHODS:
        mine = [run for run in specs if run.name == method]
        total = sum(run.steps for run in mine)
        done = sum(map(grid.steps_done, mine))
        last = {run.seed: rows(grid.directory(run), "metrics.jsonl")[-20:] for run in mine}
        returns = [row["return_mean"] for found in last.values() for row in found]
        solved = [seed for seed in last if any(row["return_mean"] for row in last[seed])]
        table.add_row(
            method,
            f"{done:,} / {total:,}",
            ProgressBar(total, done, width=20),
            f"{np.mean(returns):.2f}" if returns else "-",
            str(solved[0]) if solved else "-",
        )
    return table


def _show(console: Console, out: Path, seeds: int, steps: int) -> None:
    from mppo.paper import words
    from mppo.paper.cells import Runs
    from mppo.paper.figures.maze import demo_picture, maze_runs

    runs = maze_runs(Runs(out), DEMO_METHODS, steps, range(seeds))
    lines = [
        {
            "method": of.cell.method,
            "solved": f"{of.cell.solved} of {of.cell.seeds}",
            "mean return": f"{of.cell.finals.mean():.2f}",
            "each seed": words.finals(of.cell),
            "entropy": f"{last_tenth(of.entropies()[1]).mean():.2f}",
        }
        for of in runs
    ]
    table = Table(title="Maze, last tenth of the evaluations", box=None, pad_edge=False)
    for name in lines[0]:
        table.add_column(name, no_wrap=True)
    for line in lines:
        table.add_row(*line.values())
    console.print(table)
    demo_picture(runs, out / "maze.png", NOTE)
    page = [
        "# Figures 2 and 3: the Maze\n",
        f"`mppo demo --seeds {seeds} --steps {steps}`: seeds 0-{seeds - 1}, {steps:,} steps, "
        "layout `two-walls`, 10 episodes with sampled actions every 10,000 steps. Below: the last "
        f"tenth of these evaluations; a seed counts as solved from a mean of {SOLVED}.\n",
        *markdown_table(lines[0], [line.values() for line in lines]),
        "\n![returns, entropies and visits](maze.png)\n",
        f"In the picture: {NOTE}.\n",
    ]
    (out / "maze.md").write_text("\n".join(page), encoding="utf-8")
    console.print(f"the picture: {out / 'maze.png'}, the table: {out / 'maze.md'}", highlight=False)
