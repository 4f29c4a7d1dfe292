"""What a run is judged by: one number for its end, fixed before any result was seen."""

from __future__ import annotations

from typing import Any

import numpy as np

SOLVED = 0.9
"""Of a task whose return is 1 for success: the final score from which a seed has solved it."""


def last_tenth(values: np.ndarray) -> np.ndarray:
    """The last tenth of the points, at least one; points are the last axis.

    >>> last_tenth(np.arange(25)).tolist()
    [23, 24]
    """
    return values[..., -max(1, values.shape[-1] // 10) :]


def final_score(returns: np.ndarray) -> Any:
    """The mean of the last tenth of a run's evaluations; of several runs [seeds, points] each one.

    >>> float(final_score(np.array([0.0, 1.0, 3.0])))
    3.0
    """
    return last_tenth(returns).mean(-1)
