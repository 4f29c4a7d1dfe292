"""Figures 4 and 9: which path MP-TRPO picked on the Maze, iteration by iteration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mppo.errors import BadRequest
from mppo.experiments.collection import Record
from mppo.paper import words
from mppo.paper.figures.drawing import STEPS_LABEL, Axes, caption, empty
from mppo.paper.figures.maze import MazeRuns, metrics, runs_for

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PATH_COLOURS = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#999999", "#0072B2", "#D55E00", "#CC79A7",
)  # fmt: skip
PATH_STYLES = ("-", "--", "-.", ":")


class Course(NamedTuple):
    """One run of MP-TRPO, iteration by iteration."""

    steps: np.ndarray
    picked: np.ndarray
    performance: np.ndarray  # [iterations, K]
    entropy: np.ndarray

    @classmethod
    def of(cls, record: Record) -> Course:
        """The course of a finished run."""
        rows = metrics(record)
        return cls(*(np.array([row[name] for row in rows], float) for name in cls._fields))

    @property
    def last_switch(self) -> float:
        """Steps after which the same path was picked for ever."""
        switches = np.flatnonzero(np.diff(self.picked))
        return float(self.steps[switches[-1] + 1]) if len(switches) else float(self.steps[0])


def picking(root: Path) -> Figure:
    """Figure 4: which path was picked, and the return and entropy of every path; one seed."""
    runs = _finished(root, "figure-4")
    seed, record = min(runs.records.items())
    course = Course.of(record)
    upto = float(course.steps[-1])
    figure = empty(10.5, 7.2)
    grid = figure.add_gridspec(2, 2, height_ratios=[1, 1.2])
    above = figure.add_subplot(grid[0, :])
    _draw_picks(above, course, upto)
    when = f"last switch at {course.last_switch:,.0f} steps (shaded until then)"
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
    axes.legend(ncols=2, fontsize=8)
    steps = words.steps(record.steps)
    caption(figure, f"MP-TRPO on the Maze, seed {seed} of {len(runs.records)}, {steps} steps")
    return figure


def picks_of_seeds(root: Path) -> Figure:
    """Figure 9: the picked paths of every seed during the first half of training."""
    runs = _finished(root, "figure-9")
    courses = {seed: Course.of(record) for seed, record in runs.records.items()}
    budget = runs.cell.budget
    upto = budget / 2
    down = -(-len(courses) // 2)
    figure = empty(11, 2.3 * down + 0.7)
    grid = figure.subplots(down, 2, sharex=True, sharey=True, squeeze=False)
    for axes, (seed, course) in zip(grid.flat, sorted(courses.items()), strict=False):
        _draw_picks(axes, course, upto)
        later = "" if course.last_switch <= upto else "; still switching"
        axes.set_title(f"seed {seed}: last switch at {course.last_switch:,.0f} steps{later}")
    for axes in grid.flat[len(courses) :]:
        axes.axis("off")
    for axes in grid[-1]:
        axes.set_xlabel(STEPS_LABEL)
    for axes in grid[:, 0]:
        axes.set_ylabel("picked path")
    caption(
        figure,
        f"MP-TRPO on the Maze: the first {words.steps(int(upto))} of {words.steps(budget)} steps "
        f"of {len(courses)} seeds; shaded until the last switch of the whole run",
    )
    return figure


def _finished(root: Path, identifier: str) -> MazeRuns:
    (runs,) = runs_for(root, identifier, ("mp-trpo",))
    if not runs.records:
        raise BadRequest(f'no finished run of mp-trpo on the Maze below "{root}"')
    return runs


def _draw_picks(axes: Axes, course: Course, upto: float) -> None:
    """The path picked in each iteration; shaded until the last switch."""
    inside = course.steps <= upto
    steps, picked = course.steps[inside] / 1e6, course.picked[inside]
    paths = course.performance.shape[1]
    axes.axvspan(0, min(course.last_switch, upto) / 1e6, color="0.92", linewidth=0)
    axes.plot(steps, picked, color="0.6", linewidth=0.6, drawstyle="steps-pre")
    colours = [PATH_COLOURS[int(k) % len(PATH_COLOURS)] for k in picked]
    axes.scatter(steps, picked, c=colours, s=14, zorder=3)
    axes.set_yticks(range(paths))
    axes.set_ylim(-0.5, paths - 0.5)
    axes.set_xlim(0, upto / 1e6)
