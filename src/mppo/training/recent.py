"""Returns of the last episodes, over the edges of batches: for runs with short batches."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from mppo.algorithm.types import Trajectories

COUNT = 100


class Recent:
    """The last 100 episodes that ended, of whatever path, in the order of time."""

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
        if not isinstance(found, list) or not all(_is_episode(one) for one in found):
            raise ValueError(f"the last episodes are {str(found)[:100]}")
        self._episodes = deque(((one[0], one[1]) for one in found), maxlen=COUNT)


def _is_episode(one: Any) -> bool:
    return (
        isinstance(one, list)
        and len(one) == 2
        and all(type(number) in (int, float) for number in one)
    )
