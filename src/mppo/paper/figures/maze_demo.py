"""Figures 2 and 3 of the paper from run directories: returns, entropies and visits on the Maze."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mppo.files.run_directory import rows
from mppo.paper.figures.drawing import STEPS_LABEL, draw_maze, draw_seeds, draw_visits, right_half
from mppo.report.style import COLOURS, DISPLAY
from mppo.statistics.scores import SOLVED, final_score, last_tenth


class Curves(NamedTuple):
    """What the figure shows of one method: all seeds."""

    steps: np.ndarray  # [points]
    returns: np.ndarray  # [seeds, points]
    entropies: np.ndarray  # [seeds, points]
    visits: np.ndarray  # [rows, columns], sum over seeds and paths
    walls: np.ndarray  # [rows, columns]
    start: tuple[int, int]
    goal: tuple[int, int]


def curves(directories: list[Path]) -> Curves:
    """Read the runs of one method."""
    returns, entropies, visits, steps, maze = [], [], 0, np.zeros(0), {}
    for directory in directories:
        evaluations = rows(directory, "evaluations.jsonl")
        metrics = {row["steps"]: row for row in rows(directory, "metrics.jsonl")}
        steps = np.array([row["steps"] for row in evaluations])
        returns.append([row["mean_return"] for row in evaluations])
        entropies.append([metrics[row["steps"]]["entropy"][row["path"]] for row in evaluations])
        maze = json.loads((directory / "visits.json").read_text(encoding="utf-8"))
        visits = visits + np.array(maze["counts"]).sum(0)
    return Curves(
        steps,
        np.array(returns),
        np.array(entropies),
        np.asarray(visits),
        np.array(maze["walls"], bool),
        tuple(maze["start"]),
        tuple(maze["goal"]),
    )


def summary(name: str, found: Curves) -> dict[str, str]:
    """One line of the closing table: the last tenth of the evaluations."""
    final = final_score(found.returns)
    return {
        "method": name,
        "solved": f"{int((final >= SOLVED).sum())} of {len(final)}",
        "mean return": f"{final.mean():.2f}",
        "each seed": " ".join(f"{value:.2f}" for value in final),
        "entropy": f"{last_tenth(found.entropies).mean():.2f}",
    }


def maze_figure(methods: dict[str, Curves], path: Path, note: str = "") -> None:
    """One picture: the maze, returns and entropies above; where each method went below."""
    from matplotlib.figure import Figure

    columns = max(3, len(methods))
    figure = Figure(figsize=(3.7 * columns, 7.4), layout="constrained")
    grid = figure.subplots(2, columns, squeeze=False)
    any_curves = next(iter(methods.values()))
    draw_maze(grid[0, 0], any_curves.walls, any_curves.start, any_curves.goal)
    for axes, field, quantity in (
        (grid[0, 1], "returns", "return"),
        (grid[0, 2], "entropies", "entropy"),
    ):
        for name, found in methods.items():
            colour, label = COLOURS.get(name, "black"), DISPLAY.get(name, name)
            draw_seeds(axes, found.steps, getattr(found, field), colour, label)
        axes.set_xlabel(STEPS_LABEL)
        axes.set_title(f"{quantity} of the evaluated policy")
        axes.grid(alpha=0.25)
        axes.legend(frameon=False, fontsize=9)
    for axes, (name, found) in zip(grid[1], methods.items(), strict=False):
        draw_visits(axes, found.visits, found.walls, found.start, found.goal)
        share = right_half(found.visits)
        title = f"{DISPLAY.get(name, name)}: {share:.0%} of steps in the right half"
        axes.set_title(title, fontsize=10)
    for axes in [*grid[0, 3:], *grid[1, len(methods) :]]:
        axes.axis("off")
    if note:
        figure.supxlabel(note, fontsize=9, color="0.35")
    figure.savefig(path, dpi=130)
