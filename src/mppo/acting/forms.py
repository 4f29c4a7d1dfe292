"""The form in which an environment takes its actions, for code that writes them one by one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from mppo.algorithm.heads import Categorical, Head, parts

FLOAT, DOUBLE, CHOICE = 1, 2, 3
"""Kinds of what an environment is given."""


class Form(NamedTuple):
    """The form in which an environment takes actions, where compiled code can write it."""

    kind: int  # 0 where it cannot
    dtype: Any
    shape: tuple[int, ...]
    least: np.ndarray  # float64, of each number; of a choice its first option
    most: np.ndarray


def form_of(space: spaces.Space | None) -> Form:
    """How the actions of a space are given to its environment."""
    if isinstance(space, spaces.Box) and space.dtype in (np.float32, np.float64):
        kind = FLOAT if space.dtype == np.float32 else DOUBLE
        least, most = (bound.astype(np.float64).reshape(-1) for bound in (space.low, space.high))
        return Form(kind, space.dtype, space.shape, least, most)
    if isinstance(space, spaces.Discrete | spaces.MultiDiscrete) and space.dtype == np.int64:
        first = np.asarray(space.start, np.float64).reshape(-1)
        return Form(CHOICE, space.dtype, space.shape or (), first, first)
    return Form(0, np.float32, (0,), np.zeros(0), np.zeros(0))


def options_of(head: Head) -> np.ndarray:
    """For each action the number of options that it is one of; 0 where it is a number.

    >>> options_of(Categorical((2, 3))).tolist(), options_of(Gaussian(2)).tolist()
    ([2, 3], [0, 0])
    """
    sizes = [p.sizes if isinstance(p, Categorical) else (0,) * p.size for p in parts(head)]
    return np.array(sum(sizes, ()), np.int64)
