"""How often each cell of the maze was seen under each path, where the environments are a maze."""

from __future__ import annotations

import numpy as np

from mppo.algorithm.types import Trajectories
from mppo.envs.batched.maze import MazeVector
from mppo.rollouts.collector import Collector
from mppo.rollouts.distributed import DistributedCollector


def maze_of(collector: Collector | DistributedCollector) -> MazeVector | None:
    """The maze whose cells are counted, if it is one; workers have none."""
    envs = collector.envs if isinstance(collector, Collector) else None
    return envs if isinstance(envs, MazeVector) else None


def shape_of(maze: MazeVector, paths: int) -> tuple[int, ...]:
    """That of the counts: [K, rows, columns]."""
    return (paths, *maze.layout.walls.shape)


def add(visits: np.ndarray, maze: MazeVector, path: int, seen: Trajectories) -> None:
    """Count the cells that a path was in."""
    shape = maze.layout.walls.shape
    column, row = maze.cells(seen.observations.reshape(-1, 2)).T
    counts = np.bincount(row * shape[1] + column, minlength=shape[0] * shape[1])
    visits[path] += counts.reshape(shape)
