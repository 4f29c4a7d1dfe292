"""Figures 2, 3, 4 and 9: what happens on the Maze."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mppo.errors import BadRequest, CheckpointError
from mppo.experiments.collection import Record
from mppo.paper.cells import Cell, Runs
from mppo.paper.figures.drawing import STEPS_LABEL, draw_maze, draw_seeds, draw_visits, right_half
from mppo.paper.printed import MAZE_SOLVED_AFTER
from mppo.paper.words import steps_words
from mppo.report.style import COLOURS, DISPLAY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COMPARED = ("trpo", "multi-trpo", "mp-trpo")
PATH_COLOURS = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#999999", "#0072B2", "#D55E00", "#CC79A7",
)  # fmt: skip
PATH_STYLES = ("-", "--", "-.", ":")


class Maze(NamedTuple):
    """The walls and how often each cell was seen, by seed."""

    walls: np.ndarray
    start: tuple[int, int]
    goal: tuple[int, int]
    visits: dict[int, np.ndarray]
    """Of each seed, the sum over paths."""


def _runs(root: Path, identifier: str, methods: tuple[str, ...]) -> tuple[Runs, list[Cell]]:
    """The cells of these methods that have runs, at one budget."""
    runs = Runs(root)
    budget = runs.budget("Maze", methods)
    cells = [runs.cell("Maze", name, budget) for name in methods]
    found = [cell for cell in cells if cell.scores]
    if not found:
        raise BadRequest(
            f'no finished run of {", ".join(methods)} on the Maze below "{root}"; make them with: '
            f"mppo paper run {identifier} --out {root}"
        )
    return runs, found


def _records(runs: Runs, cell: Cell) -> dict[int, Record]:
    """The run behind each seed of a cell."""
    found: dict[int, Record] = {}
    for record in runs.records_of("Maze", cell.method, {}):
        if record.finished and record.steps >= cell.budget:
            found.setdefault(record.seed, record)
    return {score.seed: found[score.seed] for score in cell.scores if score.seed in found}


def _maze(records: dict[int, Record]) -> Maze | None:
    found = {seed: record.visits() for seed, record in records.items()}
    there = {seed: visits for seed, visits in found.items() if visits is not None}
    if not there:
        return None
    first = next(iter(there.values()))
    for seed, visits in there.items():
        if any(not np.array_equal(visits[name], first[name]) for name in ("walls", "start")):
            raise CheckpointError(f'"{records[seed].directory}" has another maze than other seeds')
    counts = {seed: visits["counts"].sum(0) for seed, visits in there.items()}
    walls, start, goal = first["walls"].astype(bool), first["start"], first["goal"]
    return Maze(walls, (int(start[0]), int(start[1])), (int(goal[0]), int(goal[1])), counts)


def _metrics(record: Record) -> list[dict[str, Any]]:
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


def _entropies(records: dict[int, Record], budget: int) -> tuple[np.ndarray, np.ndarray]:
    """Entropy of the evaluated path at every evaluation, [seeds, points]."""
    steps, found = np.zeros(0), []
    for record in records.values():
        metrics = {row["steps"]: row["entropy"] for row in _metrics(record)}
        batch = int(record.settings["batch_size"])
        rows = [row for row in record.evaluations() if row["steps"] < budget + batch]
        if any(row["steps"] not in metrics for row in rows):
            raise CheckpointError(f'"{record.directory}": an evaluated iteration has no metrics')
        own = np.array([row["steps"] for row in rows], float)
        values = [metrics[row["steps"]][row["path"]] for row in rows]
        steps = steps if len(steps) else own
        found.append(np.interp(steps, own, values))
    return steps, np.array(found)


def _seeds_words(cells: list[Cell]) -> str:
    counts = ", ".join(f"{DISPLAY[cell.method]} {len(cell.scores)}" for cell in cells)
    return f"seeds: {counts}; {steps_words(cells[0].budget)} steps each"


def returns_and_entropy(root: Path) -> Figure:
    """Figure 2: the maze, the return and the entropy of the evaluated policy."""
    from matplotlib.figure import Figure

    runs, cells = _runs(root, "figure-2", COMPARED)
    figure = Figure(figsize=(13.5, 4.6), layout="constrained")
    maze_axes, returns, entropy = figure.subplots(1, 3, width_ratios=[0.8, 1, 1])
    records = {cell.method: _records(runs, cell) for cell in cells}
    maze = next(filter(None, map(_maze, records.values())), None)
    if maze is not None:
        draw_maze(maze_axes, maze.walls, maze.start, maze.goal)
    else:
        maze_axes.axis("off")
    for cell in cells:
        colour, label = COLOURS[cell.method], DISPLAY[cell.method]
        draw_seeds(returns, *cell.stacked(), colour, label, (0.95, 0.75))
        steps, entropies = _entropies(records[cell.method], cell.budget)
        if len(entropies):
            draw_seeds(entropy, steps, entropies, colour, label, (0.95, 0.75))
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
        axes.set_xlim(0, cells[0].budget / 1e6)
    handles, labels = returns.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    note = "thin lines: seeds; thick: mean; shaded: t interval of the mean, 95 % and 75 % (darker)"
    figure.supxlabel(f"{_seeds_words(cells)}\n{note}", fontsize=9, color="0.3")
    return figure


def visits(root: Path) -> Figure:
    """Figure 3: where each method spent its training steps, together and seed by seed."""
    from matplotlib.figure import Figure

    runs, cells = _runs(root, "figure-3", COMPARED)
    mazes = {cell.method: _maze(_records(runs, cell)) for cell in cells}
    shown = {method: maze for method, maze in mazes.items() if maze is not None}
    if not shown:
        raise BadRequest(f'the runs below "{root}" have no visits.json; only finished runs do')
    across, most = 3, max(len(maze.visits) for maze in shown.values())
    down = -(-most // across)
    figure = Figure(figsize=(4.2 * len(shown) + 0.8, 4.9 + 1.6 * down), layout="constrained")
    grid = figure.add_gridspec(1 + down, across * len(shown), height_ratios=[across, *[1] * down])
    image: Any = None
    for column, (method, maze) in enumerate(shown.items()):
        first = across * column
        total = np.sum(list(maze.visits.values()), axis=0)
        axes = figure.add_subplot(grid[0, first : first + across])
        image = draw_visits(axes, total, maze.walls, maze.start, maze.goal)
        share = f"{right_half(total):.0%} of steps in the right half"
        axes.set_title(f"{DISPLAY[method]}, {len(maze.visits)} seeds\n{share}")
        for i, (seed, counts) in enumerate(sorted(maze.visits.items())):
            small = figure.add_subplot(grid[1 + i // across, first + i % across])
            draw_visits(small, counts, maze.walls, maze.start, maze.goal, small=True)
            small.set_title(f"seed {seed}: {right_half(counts):.0%}", fontsize=8)
    bar = figure.colorbar(image, ax=figure.axes, shrink=0.5, pad=0.01, aspect=30)
    bar.set_ticks([-6, -5, -4, -3, -2], labels=["≤ 1e-6", "1e-5", "1e-4", "1e-3", "1e-2"])
    bar.set_label("share of all training steps (log scale)")
    figure.supxlabel(_seeds_words([c for c in cells if c.method in shown]), fontsize=9, color="0.3")
    return figure


class Course(NamedTuple):
    """One run of MP-TRPO, iteration by iteration."""

    steps: np.ndarray
    picked: np.ndarray
    performance: np.ndarray  # [iterations, K]
    entropy: np.ndarray

    @property
    def settled(self) -> float:
        """Steps after which the same path was picked for ever."""
        switched = np.flatnonzero(np.diff(self.picked))
        return float(self.steps[switched[-1] + 1]) if len(switched) else float(self.steps[0])


def _course(record: Record) -> Course:
    rows = _metrics(record)
    return Course(
        *(np.array([row[name] for row in rows], float) for name in ("steps", "picked")),
        *(np.array([row[name] for row in rows], float) for name in ("performance", "entropy")),
    )


def _draw_picks(axes: Any, course: Course, upto: float) -> None:
    """The path picked in each iteration; shaded until the last switch."""
    inside = course.steps <= upto
    steps, picked = course.steps[inside] / 1e6, course.picked[inside]
    paths = course.performance.shape[1]
    axes.axvspan(0, min(course.settled, upto) / 1e6, color="0.92", linewidth=0)
    axes.plot(steps, picked, color="0.6", linewidth=0.6, drawstyle="steps-pre")
    colours = [PATH_COLOURS[int(k) % len(PATH_COLOURS)] for k in picked]
    axes.scatter(steps, picked, c=colours, s=14, zorder=3)
    axes.set_yticks(range(paths))
    axes.set_ylim(-0.5, paths - 0.5)
    axes.set_xlim(0, upto / 1e6)


def picking(root: Path) -> Figure:
    """Figure 4: which path was picked, and the return and entropy of every path; one seed."""
    from matplotlib.figure import Figure

    runs, cells = _runs(root, "figure-4", ("mp-trpo",))
    records = _records(runs, cells[0])
    if not records:
        raise BadRequest(f'no finished run of mp-trpo on the Maze below "{root}"')
    seed, record = min(records.items())
    course = _course(record)
    upto = float(course.steps[-1])
    figure = Figure(figsize=(10.5, 7.2), layout="constrained")
    grid = figure.add_gridspec(2, 2, height_ratios=[1, 1.2])
    above = figure.add_subplot(grid[0, :])
    _draw_picks(above, course, upto)
    when = f"last switch at {course.settled:,.0f} steps (shaded until then)"
    above.set(title=f"Course of picking: {when}", xlabel=STEPS_LABEL, ylabel="picked path")
    for column, values, title, unit in (
        (0, course.performance, "Return of each path", "J of the path, gain included"),
        (1, course.entropy, "Entropy of each path", "entropy H (nats)"),
    ):
        axes = figure.add_subplot(grid[1, column])
        for k in range(values.shape[1]):
            axes.plot(
                course.steps / 1e6, values[:, k], color=PATH_COLOURS[k % len(PATH_COLOURS)],
                linestyle=PATH_STYLES[k % len(PATH_STYLES)], linewidth=1.4, label=f"path {k}",
            )  # fmt: skip
        axes.set(title=title, xlabel=STEPS_LABEL, ylabel=unit, xlim=(0, upto / 1e6))
        axes.grid(True)
        if column:
            axes.legend(ncols=2, fontsize=8)
    figure.supxlabel(
        f"MP-TRPO on the Maze, seed {seed} of {len(records)}, {steps_words(record.steps)} steps",
        fontsize=9,
        color="0.3",
    )
    return figure


def picks_of_seeds(root: Path) -> Figure:
    """Figure 9: the picked paths of every seed during the first half of training."""
    from matplotlib.figure import Figure

    runs, cells = _runs(root, "figure-9", ("mp-trpo",))
    courses = {seed: _course(record) for seed, record in _records(runs, cells[0]).items()}
    if not courses:
        raise BadRequest(f'no finished run of mp-trpo on the Maze below "{root}"')
    upto = cells[0].budget / 2
    down = -(-len(courses) // 2)
    figure = Figure(figsize=(11, 2.3 * down + 0.7), layout="constrained")
    grid = figure.subplots(down, 2, sharex=True, sharey=True, squeeze=False)
    for axes, (seed, course) in zip(grid.flat, sorted(courses.items()), strict=False):
        _draw_picks(axes, course, upto)
        settled = "" if course.settled <= upto else "; still switching"
        axes.set_title(f"seed {seed}: last switch at {course.settled:,.0f} steps{settled}")
    for axes in grid.flat[len(courses) :]:
        axes.axis("off")
    for axes in grid[-1]:
        axes.set_xlabel(STEPS_LABEL)
    for axes in grid[:, 0]:
        axes.set_ylabel("picked path")
    figure.supxlabel(
        f"MP-TRPO on the Maze: the first {steps_words(int(upto))} of "
        f"{steps_words(cells[0].budget)} steps of {len(courses)} seeds; shaded until the last "
        "switch of the whole run",
        fontsize=9,
        color="0.3",
    )
    return figure
