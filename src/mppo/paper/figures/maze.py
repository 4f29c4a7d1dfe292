"""Figures 2 and 3, and the picture of `mppo demo`: what three methods do on the Maze."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mppo.errors import BadRequest, CheckpointError
from mppo.experiments.collection import Record
from mppo.paper import words
from mppo.paper.artefacts import MAZE_METHODS
from mppo.paper.cells import Cell, Runs, read_cell
from mppo.paper.figures import drawing
from mppo.paper.figures.drawing import STEPS_LABEL, Axes, MazeVisits, caption, right_half
from mppo.paper.printed import MAZE_SOLVED_AFTER
from mppo.report.style import COLOURS, DISPLAY

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class MazeRuns(NamedTuple):
    """The runs of one method on the Maze, and the directory behind each seed."""

    cell: Cell
    records: dict[int, Record]

    def entropies(self) -> tuple[np.ndarray, np.ndarray]:
        """Steps and the entropy of the evaluated path at every evaluation [seeds, points]."""
        steps, values = np.zeros(0), []
        for record in self.records.values():
            entropy = {row["steps"]: row["entropy"] for row in metrics(record)}
            batch = int(record.settings["batch_size"])
            rows = [row for row in record.evaluations() if row["steps"] < self.cell.budget + batch]
            if any(row["steps"] not in entropy for row in rows):
                raise CheckpointError(
                    f'"{record.directory}": an evaluated iteration has no metrics'
                )
            own = np.array([row["steps"] for row in rows], float)
            steps = steps if len(steps) else own
            evaluated = [entropy[row["steps"]][row["path"]] for row in rows]
            values.append(np.interp(steps, own, evaluated))
        return steps, np.array(values)

    def visits(self) -> MazeVisits | None:
        """Where these runs went, if they noted it."""
        noted = {seed: record.visits() for seed, record in self.records.items()}
        by_seed = {seed: visits for seed, visits in noted.items() if visits is not None}
        if not by_seed:
            return None
        first = next(iter(by_seed.values()))
        for seed, visits in by_seed.items():
            if any(not np.array_equal(visits[name], first[name]) for name in ("walls", "start")):
                directory = self.records[seed].directory
                raise CheckpointError(f'"{directory}" has another maze than other seeds')
        counts = {seed: visits["counts"].sum(0) for seed, visits in by_seed.items()}
        (start, goal) = ((int(x), int(y)) for x, y in (first["start"], first["goal"]))
        return MazeVisits(first["walls"].astype(bool), start, goal, counts)


def metrics(record: Record) -> list[dict[str, Any]]:
    """Every iteration of a finished run; without one of them there is nothing to draw."""
    rows = record.metrics()
    last = record.evaluations()[-1]["steps"]
    if not rows or rows[-1].get("steps", 0) < last:
        raise BadRequest(
            f'"{record.directory / "metrics.jsonl"}" has {len(rows)} iterations and does not reach '
            f"the last evaluation, at {last:,} steps; this figure shows every iteration. A copy "
            "made with --evaluations-only has none: copy the grid again without it"
        )
    return rows


def maze_runs(
    runs: Runs, methods: tuple[str, ...], budget: int, seeds: Container[int] | None = None
) -> list[MazeRuns]:
    """The runs of these methods at one budget; methods without any are left out."""
    kept = []
    for method in methods:
        every = runs.records_of("Maze", method)
        records = [record for record in every if seeds is None or record.seed in seeds]
        cell = read_cell("Maze", method, budget, records)
        ended = (record for record in records if record.finished and record.steps >= budget)
        first = {record.seed: record for record in reversed(list(ended))}
        read = {curve.seed: first[curve.seed] for curve in cell.curves if curve.seed in first}
        if cell.seeds:
            kept.append(MazeRuns(cell, read))
    return kept


def runs_for(root: Path, identifier: str, methods: tuple[str, ...]) -> list[MazeRuns]:
    """The runs of a figure, at the budget at which most seeds can be read."""
    runs = Runs(root)
    read = maze_runs(runs, methods, runs.budget("Maze", methods))
    if not read:
        raise BadRequest(
            f'no finished run of {", ".join(methods)} on the Maze below "{root}"; make them with: '
            f"mppo paper run {identifier} --out {root}"
        )
    return read


def _seeds_and_steps(runs: list[MazeRuns]) -> str:
    """How many seeds of each method there are, and how long they are."""
    counts = ", ".join(f"{DISPLAY[of.cell.method]} {of.cell.seeds}" for of in runs)
    return f"seeds: {counts}; {words.steps(runs[0].cell.budget)} steps each"


def _draw_curves(
    returns: Axes, entropy: Axes, runs: list[MazeRuns], levels: tuple[float, ...] = ()
) -> None:
    """Returns and entropies of the evaluated policy, with intervals of these levels."""
    for of in runs:
        look = COLOURS[of.cell.method], DISPLAY[of.cell.method]
        drawing.draw_seeds(returns, *of.cell.stacked(), *look, levels)
        steps, entropies = of.entropies()
        if len(entropies):
            drawing.draw_seeds(entropy, steps, entropies, *look, levels)


def returns_and_entropy(root: Path) -> Figure:
    """Figure 2: the maze, the return and the entropy of the evaluated policy."""
    runs = runs_for(root, "figure-2", MAZE_METHODS)
    figure = drawing.empty(13.5, 4.6)
    maze_axes, returns, entropy = figure.subplots(1, 3, width_ratios=[0.8, 1, 1])
    maze = next(filter(None, (of.visits() for of in runs)), None)
    if maze is not None:
        drawing.draw_maze(maze_axes, maze)
    else:
        maze_axes.axis("off")
    _draw_curves(returns, entropy, runs, (0.95, 0.75))
    returns.axvline(MAZE_SOLVED_AFTER / 1e6, color="0.35", linestyle="--", linewidth=1)
    returns.text(
        MAZE_SOLVED_AFTER / 1e6 + 0.012, 0.5, "paper: MP-TRPO always\nreaches G from here on",
        fontsize=8, color="0.25", va="center",
    )  # fmt: skip
    returns.set_ylim(-0.05, 1.08)
    entropy.set_ylim(bottom=0)
    for axes, title, unit in (
        (returns, "Return of the evaluated policy", "mean return of 10 episodes (1: reaches G)"),
        (entropy, "Entropy of the evaluated policy", "entropy (nats)"),
    ):
        axes.set(title=title, xlabel=STEPS_LABEL, ylabel=unit)
        axes.grid(True)
        axes.set_xlim(0, runs[0].cell.budget / 1e6)
    handles, labels = returns.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    note = "thin lines: seeds; thick: mean; shaded: t interval of the mean, 95 % and 75 % (darker)"
    caption(figure, f"{_seeds_and_steps(runs)}\n{note}")
    return figure


def visits(root: Path) -> Figure:
    """Figure 3: where each method spent its training steps, together and seed by seed."""
    read = [(of, of.visits()) for of in runs_for(root, "figure-3", MAZE_METHODS)]
    shown = [(of, maze) for of, maze in read if maze is not None]
    if not shown:
        raise BadRequest(f'the runs below "{root}" have no visits.json; only finished runs do')
    across, most = 3, max(len(maze.counts) for _, maze in shown)
    down = -(-most // across)
    figure = drawing.empty(4.2 * len(shown) + 0.8, 4.9 + 1.6 * down)
    grid = figure.add_gridspec(1 + down, across * len(shown), height_ratios=[across, *[1] * down])
    image = None
    for column, (of, maze) in enumerate(shown):
        first = across * column
        axes = figure.add_subplot(grid[0, first : first + across])
        image = drawing.draw_visits(axes, maze, maze.total)
        share = f"{right_half(maze.total):.0%} of steps in the right half"
        axes.set_title(f"{DISPLAY[of.cell.method]}, {len(maze.counts)} seeds\n{share}")
        for i, (seed, counts) in enumerate(sorted(maze.counts.items())):
            small = figure.add_subplot(grid[1 + i // across, first + i % across])
            drawing.draw_visits(small, maze, counts, size=6)
            small.set_title(f"seed {seed}: {right_half(counts):.0%}", fontsize=8)
    assert image is not None
    bar = figure.colorbar(image, ax=figure.axes, shrink=0.5, pad=0.01, aspect=30)
    bar.set_ticks([-6, -5, -4, -3, -2], labels=["≤ 1e-6", "1e-5", "1e-4", "1e-3", "1e-2"])
    bar.set_label("share of all training steps (log scale)")
    caption(figure, _seeds_and_steps([of for of, _ in shown]))
    return figure


def demo_picture(runs: list[MazeRuns], path: Path, note: str) -> None:
    """One picture: the maze, returns and entropies above; where each method went below."""
    columns = max(3, len(runs))
    figure = drawing.empty(3.7 * columns, 7.4)
    grid = figure.subplots(2, columns, squeeze=False)
    mazes = [of.visits() for of in runs]
    if mazes[0] is not None:
        drawing.draw_maze(grid[0, 0], mazes[0])
    _draw_curves(grid[0, 1], grid[0, 2], runs)
    for axes, quantity in ((grid[0, 1], "return"), (grid[0, 2], "entropy")):
        axes.set_xlabel(STEPS_LABEL)
        axes.set_title(f"{quantity} of the evaluated policy")
        axes.grid(alpha=0.25)
        axes.legend(frameon=False, fontsize=9)
    for axes, of, maze in zip(grid[1], runs, mazes, strict=False):
        if maze is not None:
            drawing.draw_visits(axes, maze, maze.total)
            share = f"{right_half(maze.total):.0%} of steps in the right half"
            axes.set_title(f"{DISPLAY[of.cell.method]}: {share}", fontsize=10)
    for axes in [*grid[0, 3:], *grid[1, len(runs) :]]:
        axes.axis("off")
    caption(figure, note)
    figure.savefig(path, dpi=130)
