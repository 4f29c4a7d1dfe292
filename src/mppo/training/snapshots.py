"""What a run keeps: what is counted beside learning, and all that a checkpoint holds of it.

Counted are the returns of the last episodes and, where the environments are a maze, how often each
cell was seen under each path. What a checkpoint holds is checked before it is given back.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from mppo.algorithm.types import Trajectories
from mppo.envs.batched.maze import MazeVector
from mppo.errors import CheckpointError
from mppo.files import checkpoints
from mppo.files.checkpoints import Checkpoint
from mppo.rollouts.collector import Collector
from mppo.rollouts.distributed import DistributedCollector

if TYPE_CHECKING:
    from mppo.training.run import Run

COUNT = 100


class Recent:
    """The last 100 episodes that ended, of whatever path, in the order of time.

    They go over the edges of batches, for runs with short ones.
    """

    def __init__(self) -> None:
        self._episodes: deque[tuple[float, int]] = deque(maxlen=COUNT)

    def take(self, seen: Trajectories) -> None:
        """Add the episodes that ended in a batch."""
        ended = seen.terminated | seen.truncated
        totals = np.cumsum(np.asarray(seen.rewards, np.float64), axis=1)
        found = []
        for e in range(len(ended)):
            before, start = -float(seen.earlier.total[e]), -int(seen.earlier.length[e])
            for t in np.flatnonzero(ended[e]).tolist():
                found.append((t, e, totals[e, t] - before, t + 1 - start))
                before, start = totals[e, t], t + 1
        self._episodes.extend((float(total), length) for _, _, total, length in sorted(found))

    def row(self) -> dict[str, Any]:
        """The fields of metrics.jsonl."""
        means = np.mean(self._episodes, axis=0).tolist() if self._episodes else (None, None)
        return {"recent_return_mean": means[0], "recent_length_mean": means[1]}

    def get_state(self) -> list[list[float]]:
        """As plain data, for a checkpoint."""
        return [list(episode) for episode in self._episodes]

    def set_state(self, found: Any) -> None:
        """What `get_state` gave; checkpoints of older versions have none of it."""
        number = lambda one: type(one) in (int, float)
        fits = lambda one: isinstance(one, list) and len(one) == 2 and all(map(number, one))
        if not isinstance(found, list) or not all(map(fits, found)):
            raise ValueError(f"the last episodes are {str(found)[:100]}")
        self._episodes = deque(((one[0], one[1]) for one in found), maxlen=COUNT)


def maze_of(collector: Collector | DistributedCollector) -> MazeVector | None:
    """The maze whose cells are counted, if it is one; workers have none."""
    envs = collector.envs if isinstance(collector, Collector) else None
    return envs if isinstance(envs, MazeVector) else None


def no_visits(maze: MazeVector, paths: int) -> np.ndarray:
    """Counts of each cell under each path, at the beginning: [K, rows, columns]."""
    return np.zeros((paths, *maze.layout.walls.shape), np.int64)


def taken(run: Run) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """All that decides the future of a run: arrays by name, and plain data."""
    arrays = checkpoints.named_arrays(run.state, "state")
    if run.visits is not None:
        arrays["visits"] = run.visits
    recent = run.recent.get_state()
    data = {"iteration": run.iteration, "previous": run.previous, "recent": recent}
    if run.iteration and not run.here:
        data["moved"] = True  # to environments in which it has not been yet
    elif run.iteration and run.method.episodes != "fresh" and run.task.resumes:
        arrays |= {f"episodes.{k}": v for k, v in run.collector.get_state().items()}
    return arrays, data


def give_back(run: Run, found: Checkpoint, moved: bool) -> None:
    """Let a run be as it was, if that was this run; with `moved` the environments are others."""
    state = checkpoints.restored(run.state, found.arrays, "state")
    iteration, previous = int(state.iteration), found.data.get("previous")
    if iteration != found.data.get("iteration") or not 0 <= iteration <= run.iterations:
        raise CheckpointError(f'"{found.path}" holds the state of another iteration')
    if previous is not None and not (type(previous) is int and 0 <= previous < run.method.paths):
        raise CheckpointError(f'"{found.path}": the path picked before is {previous!r}')
    names = set(checkpoints.named_arrays(run.state, "state"))
    rest = {name: array for name, array in found.arrays.items() if name not in names}
    if moved:
        rest = {n: rest[n] for n in rest if n != "visits" and not n.startswith("episodes.")}
    here = iteration > 0 and not moved and found.data.get("moved") is not True
    visits = _checked_visits(run, rest.pop("visits", None), here, found)
    carried = {name.removeprefix("episodes."): array for name, array in rest.items()}
    continues = run.method.episodes != "fresh" and run.task.resumes and here
    if len(carried) != len(rest) or bool(carried) != continues:
        raise CheckpointError(f'"{found.path}" holds arrays of another run: {sorted(rest)}')
    try:
        if carried:
            run.collector.set_state(carried)
        run.recent.set_state(found.data.get("recent", []))
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f'"{found.path}": {error}') from error
    run.state, run.iteration, run.previous = state, iteration, previous
    run.visits, run.here = visits, here


def _checked_visits(
    run: Run, visits: np.ndarray | None, here: bool, found: Checkpoint
) -> np.ndarray | None:
    """The counts of cells, there exactly if there are cells and something was counted."""
    maze = maze_of(run.collector)
    wanted = no_visits(maze, run.method.paths) if maze is not None and here else None
    form = lambda counts: None if counts is None else (counts.shape, counts.dtype)
    if form(visits) != form(wanted):
        raise CheckpointError(f'"{found.path}" does not hold the visits of this run')
    return visits if visits is None else visits.copy()  # what is read may not be written to
