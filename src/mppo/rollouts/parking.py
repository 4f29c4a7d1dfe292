"""Episodes that a batch leaves unfinished: what they earned, and where those of a path stay."""

from __future__ import annotations

import numpy as np

from mppo.algorithm.types import Earlier, Trajectories

Arrays = dict[str, np.ndarray]
_START = "parked."


def as_arrays(parked: dict[int, Arrays]) -> Arrays:
    """The states that paths left, by path, in one dictionary, for a checkpoint."""
    return {
        f"{_START}{path}.{name}": array
        for path, state in sorted(parked.items())
        for name, array in state.items()
    }


def taken_out(arrays: Arrays) -> tuple[dict[int, Arrays], Arrays]:
    """The states of paths out of the arrays of a checkpoint, and what is of the present path.

    >>> taken_out({"now": np.zeros(1), "parked.3.now": np.ones(1)})
    ({3: {'now': array([1.])}}, {'now': array([0.])})
    """
    parked: dict[int, Arrays] = {}
    for name, array in arrays.items():
        if name.startswith(_START):
            path, _, own = name.removeprefix(_START).partition(".")
            parked.setdefault(int(path), {})[own] = np.array(array)
    return parked, {name: arrays[name] for name in arrays if not name.startswith(_START)}


def open_episodes(trajectories: Trajectories, earlier: Earlier, gamma: float) -> Earlier:
    """Return and length so far of the episodes that the batch leaves unfinished."""
    found = []
    for e in range(len(trajectories.rewards)):
        ends = np.flatnonzero(trajectories.terminated[e] | trajectories.truncated[e])
        open_rewards = trajectories.rewards[e, ends[-1] + 1 if len(ends) else 0 :]
        first = (0.0, 0.0, 0) if len(ends) else tuple(field[e] for field in earlier)
        powers = gamma ** (first[2] + np.arange(len(open_rewards)))
        discounted = first[1] + float(np.sum(powers * open_rewards))
        total = first[0] + float(np.sum(open_rewards))
        found.append((total, discounted, first[2] + len(open_rewards)))
    kinds = (np.float32, np.float32, np.int32)
    return Earlier(*map(np.array, zip(*found, strict=True), kinds))
