"""Episodes that a batch leaves unfinished: what they earned, and where those of a path stay."""

from __future__ import annotations

import numpy as np

from mppo.algorithm.types import Earlier, Trajectories

Arrays = dict[str, np.ndarray]
_START = "parked."


class Parking:
    """One state of the environments for each path that is not rolled out now."""

    def __init__(self) -> None:
        self._states: dict[int, Arrays] = {}

    def put(self, path: int, state: Arrays) -> None:
        """Keep a state; the arrays may be those that the environments go on writing to."""
        self._states[path] = {name: np.array(array) for name, array in state.items()}

    def take(self, path: int) -> Arrays | None:
        """The state of a path, which is then no longer here; None if it never had one."""
        return self._states.pop(path, None)

    def clear(self) -> None:
        """Forget all of them."""
        self._states.clear()

    def states(self) -> list[Arrays]:
        """All that are here."""
        return list(self._states.values())

    def as_arrays(self) -> Arrays:
        """All states in one dictionary, for a checkpoint."""
        return {
            f"{_START}{path}.{name}": array
            for path, state in sorted(self._states.items())
            for name, array in state.items()
        }

    def read(self, arrays: Arrays) -> Arrays:
        """Take the states out of the arrays of a checkpoint; what remains is of the present path.

        >>> parking = Parking()
        >>> rest = parking.read({"now": np.zeros(1), "parked.3.now": np.ones(1)})
        >>> list(rest), parking.take(3)
        (['now'], {'now': array([1.])})
        """
        self.clear()
        for name, array in arrays.items():
            if name.startswith(_START):
                path, _, own = name.removeprefix(_START).partition(".")
                self._states.setdefault(int(path), {})[own] = np.array(array)
        return {name: arrays[name] for name in arrays if not name.startswith(_START)}


def open_episodes(trajectories: Trajectories, earlier: Earlier, gamma: float) -> Earlier:
    """Return and length so far of the episodes that the batch leaves unfinished."""
    totals = []
    for e in range(len(trajectories.rewards)):
        ends = np.flatnonzero(trajectories.terminated[e] | trajectories.truncated[e])
        open_rewards = trajectories.rewards[e, ends[-1] + 1 if len(ends) else 0 :]
        first = (0.0, 0.0, 0) if len(ends) else tuple(field[e] for field in earlier)
        powers = gamma ** (first[2] + np.arange(len(open_rewards)))
        discounted = first[1] + float(np.sum(powers * open_rewards))
        total = first[0] + float(np.sum(open_rewards))
        totals.append((total, discounted, first[2] + len(open_rewards)))
    total, discounted, length = zip(*totals, strict=True)
    return Earlier(
        np.array(total, np.float32),
        np.array(discounted, np.float32),
        np.array(length, np.int32),
    )
