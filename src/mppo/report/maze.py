"""Figures 2 and 3 of the paper from run directories: returns, entropies and visits on the Maze."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mppo.report.style import COLOURS, DISPLAY
from mppo.store import rows


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
    last = max(1, len(found.steps) // 10)
    final = found.returns[:, -last:].mean(1)
    return {
        "method": name,
        "solved": f"{int((final >= 0.9).sum())} of {len(final)}",
        "mean return": f"{final.mean():.2f}",
        "each seed": " ".join(f"{value:.2f}" for value in final),
        "entropy": f"{found.entropies[:, -last:].mean():.2f}",
    }


def maze_figure(methods: dict[str, Curves], path: Path, note: str = "") -> None:
    """One picture: the maze, returns and entropies above; where each method went below."""
    from matplotlib.figure import Figure

    columns = max(3, len(methods))
    figure = Figure(figsize=(3.7 * columns, 7.4), layout="constrained")
    grid = figure.subplots(2, columns, squeeze=False)
    any_curves = next(iter(methods.values()))
    _draw_maze(grid[0, 0], any_curves)
    for axes, field, label in (
        (grid[0, 1], "returns", "return"),
        (grid[0, 2], "entropies", "entropy"),
    ):
        for name, found in methods.items():
            _draw_curve(axes, found.steps, getattr(found, field), name)
        axes.set_xlabel("environment steps (millions)")
        axes.set_title(f"{label} of the evaluated policy")
        axes.grid(alpha=0.25)
        axes.legend(frameon=False, fontsize=9)
    for axes, (name, found) in zip(grid[1], methods.items(), strict=False):
        _draw_visits(axes, found, DISPLAY.get(name, name))
    for axes in [*grid[0, 3:], *grid[1, len(methods) :]]:
        axes.axis("off")
    if note:
        figure.supxlabel(note, fontsize=9, color="0.35")
    figure.savefig(path, dpi=130)


def _draw_curve(axes: Any, steps: np.ndarray, values: np.ndarray, name: str) -> None:
    colour = COLOURS.get(name, "black")
    for seed in values:
        axes.plot(steps / 1e6, seed, color=colour, alpha=0.25, linewidth=0.8)
    label = DISPLAY.get(name, name)
    axes.plot(steps / 1e6, values.mean(0), color=colour, linewidth=2.2, label=label)


def _draw_maze(axes: Any, found: Curves) -> None:
    axes.imshow(found.walls, cmap="gray_r", origin="lower", vmin=0, vmax=1)
    for (column, row), letter in ((found.start, "S"), (found.goal, "G")):
        axes.text(column, row, letter, ha="center", va="center", fontweight="bold")
    axes.set_title("Maze")
    axes.set_xticks([])
    axes.set_yticks([])


def _draw_visits(axes: Any, found: Curves, title: str) -> None:
    share = found.visits / max(found.visits.sum(), 1)
    brightness = np.log10(np.maximum(share, 1e-6))
    colours = np.ma.masked_where(found.walls, brightness)
    axes.set_facecolor("0.75")
    axes.imshow(colours, cmap="inferno", origin="lower", vmin=-6, vmax=-1.5)
    for (column, row), letter in ((found.start, "S"), (found.goal, "G")):
        axes.text(column, row, letter, ha="center", va="center", color="white", fontweight="bold")
    columns = np.arange(found.walls.shape[1])
    right = found.visits[:, columns > columns.mean()].sum() / max(found.visits.sum(), 1)
    axes.set_title(f"{title}: {right:.0%} of steps in the right half", fontsize=10)
    axes.set_xticks([])
    axes.set_yticks([])
