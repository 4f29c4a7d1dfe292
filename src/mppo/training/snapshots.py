"""What a checkpoint holds of a run: taken from it, and checked before it is given back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mppo.algorithm.iteration import State
from mppo.errors import CheckpointError
from mppo.files import checkpoints
from mppo.files.checkpoints import Checkpoint
from mppo.training import visits

if TYPE_CHECKING:
    from mppo.training.run import Run


class Snapshot(NamedTuple):
    """All that decides the future of a run."""

    state: State
    iteration: int
    previous: int | None  # the pick before
    visits: np.ndarray | None
    episodes: dict[str, np.ndarray]  # that go on, as the collector tells them
    recent: Any
    here: bool  # whether anything was collected in these environments


def taken(
    run: Run, previous: int | None, recent: Any, here: bool
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays by name, and plain data."""
    arrays = checkpoints.named_arrays(run.state, "state")
    if run.visits is not None:
        arrays["visits"] = run.visits
    data = {"iteration": run.iteration, "previous": previous, "recent": recent}
    if run.iteration and not here:
        data["moved"] = True  # to environments in which it has not been yet
    elif run.iteration and run.method.episodes != "fresh" and run.task.resumes:
        arrays |= {f"episodes.{k}": v for k, v in run.collector.get_state().items()}
    return arrays, data


def checked(run: Run, found: Checkpoint, moved: bool) -> Snapshot:
    """What was found, if it is of this run; with `moved` the environments are others."""
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
    counts = _checked_visits(run, rest.pop("visits", None), here, found)
    carried = {name.removeprefix("episodes."): array for name, array in rest.items()}
    continues = run.method.episodes != "fresh" and run.task.resumes and here
    if len(carried) != len(rest) or bool(carried) != continues:
        raise CheckpointError(f'"{found.path}" holds arrays of another run: {sorted(rest)}')
    recent = found.data.get("recent", [])
    return Snapshot(state, iteration, previous, counts, carried, recent, here)


def _checked_visits(
    run: Run, counts: np.ndarray | None, here: bool, found: Checkpoint
) -> np.ndarray | None:
    """The counts of cells, there exactly if there are cells and something was counted."""
    maze, wanted = visits.maze_of(run.collector), None
    if maze is not None and here:
        wanted = visits.shape_of(maze, run.method.paths), np.dtype(np.int64)
    if (None if counts is None else (counts.shape, counts.dtype)) != wanted:
        raise CheckpointError(f'"{found.path}" does not hold the visits of this run')
    return counts if counts is None else counts.copy()  # what is read may not be written to
