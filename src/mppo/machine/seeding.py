"""Random streams by name: no two roles, paths, iterations or environments share one.

A stream is the spawn key (role, *indices) of the run's seed, so adding an environment or an
iteration changes no other stream (unlike seed + i, where neighbouring seeds overlap).
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

LARGEST = 2**63 - 1
"""The largest seed: what reads and writes seeds may keep them in 64 bits."""


class Role(IntEnum):
    """What a stream is for; numbers are part of the file format and never change."""

    PARAMETERS = 0
    ACTIONS = 1
    ENVIRONMENT = 2
    EVALUATION_ACTIONS = 3
    EVALUATION_ENVIRONMENT = 4
    PREDICTION = 5


def sequence(seed: int, role: Role, *indices: int) -> np.random.SeedSequence:
    """The seed sequence of one stream.

    >>> sequence(0, Role.ACTIONS, 3, 1).generate_state(1)[0] == sequence(
    ...     0, Role.ACTIONS, 1, 3).generate_state(1)[0]
    np.False_
    """
    return np.random.SeedSequence(seed, spawn_key=(int(role), *indices))


def generator(seed: int, role: Role, *indices: int) -> np.random.Generator:
    """A NumPy generator on one stream."""
    return np.random.Generator(np.random.PCG64(sequence(seed, role, *indices)))


def integer(seed: int, role: Role, *indices: int) -> int:
    """One integer for an interface that takes no more (an environment's `reset`)."""
    return int(sequence(seed, role, *indices).generate_state(1, np.uint64)[0] >> 33)
