"""What a robot's module is written with: three plain functions that are compiled by themselves.

After every step of MuJoCo a robot is asked for its observation, its health and its reward:

    observe(body, numbers, observation)           fills the observation
    healthy(body, numbers) -> bool                whether it has not fallen
    reward(body, numbers, before, is_healthy)     `before` is place[0] before the step

Each is Python that Numba understands; `body` shows MuJoCo's memory, `numbers` are the robot's
parameters (float64) in the order that its `Rule` reads them in. Sums and products run in the
order and the precision that Gymnasium has, for every number equals its own bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mppo.machine.compilers import fused, native, types

_NOTHING = np.zeros(0)


class Body(NamedTuple):
    """What the rules of a robot may look at; the arrays are views of MuJoCo's memory."""

    qpos: np.ndarray
    qvel: np.ndarray
    ctrl: np.ndarray  # the action
    place: np.ndarray  # begins with the coordinate that counts as progress
    forces: np.ndarray  # external ones, six numbers for each body; up to date if `reads_forces`
    single: bool  # the action came in single precision, and so its cost is rounded
    xpos: np.ndarray = _NOTHING  # where the bodies are, three numbers for each
    centres: np.ndarray = _NOTHING  # of mass of the bodies (xipos), three numbers for each
    masses: np.ndarray = _NOTHING  # of the bodies
    inertia: np.ndarray = _NOTHING  # of the bodies around the whole's centre (cinert), ten for each
    velocity: np.ndarray = _NOTHING  # of the bodies (cvel), six for each
    actuators: np.ndarray = _NOTHING  # their forces on the joints (qfrc_actuator)
    constraints: np.ndarray = _NOTHING  # their forces on the joints (qfrc_constraint)
    sites: np.ndarray = _NOTHING  # where they are, three numbers for each


_ARRAY = types.Array(types.float64, 1, "C")
_BODY = types.NamedTuple((*(_ARRAY,) * 5, types.boolean, *(_ARRAY,) * 8), Body)
OBSERVE: Any = types.void(_BODY, _ARRAY, _ARRAY)
HEALTHY: Any = types.boolean(_BODY, _ARRAY)
REWARD: Any = types.float64(_BODY, _ARRAY, types.float64, types.boolean)


@dataclass(frozen=True)
class Rule:
    """A function, and how its numbers are read from Gymnasium's environment of the robot."""

    function: Callable[..., Any]
    numbers: Callable[[Any], Sequence[float]]


@dataclass(frozen=True)
class Robot:
    """What one robot has of its own; all else is the same for all of them."""

    gymnasium_id: str
    observe: Rule
    reward: Rule
    healthy: Rule | None = None  # None: it cannot fall
    normal_velocities: bool = False  # at the start; else they are drawn uniformly
    reads_forces: bool = False  # they cost time
    place: Callable[[Any, Any], np.ndarray] = lambda base, data: data.qpos
    terminates: Callable[[Any], bool] = lambda base: bool(base._terminate_when_unhealthy)
    start: Callable[[Any, np.random.Generator], tuple[np.ndarray, np.ndarray]] | None = None
    """Draws positions and velocities of an episode's start; None: the initial ones plus noise."""


@native
def clip(value: float, low: float, high: float) -> float:
    """The value within its bounds; a NaN stays a NaN."""
    if value < low:
        return low
    return high if value > high else value


@native
def sum_of_squares(values: np.ndarray) -> float:
    """sum(values * values) in NumPy's order: in halves, then eight sums side by side."""
    n = values.size
    if n > 128:
        half = n // 2 - n // 2 % 8
        return sum_of_squares(values[:half]) + sum_of_squares(values[half:])
    if n < 8:
        total = values[0] * values[0]
        for i in range(1, n):
            total += values[i] * values[i]
        return total
    sums = np.empty(8, values.dtype)
    for i in range(8):
        sums[i] = values[i] * values[i]
    whole = n - n % 8
    for i in range(8, whole):
        sums[i % 8] += values[i] * values[i]
    left = (sums[0] + sums[1]) + (sums[2] + sums[3])
    total = left + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
    for i in range(whole, n):
        total += values[i] * values[i]
    return total


@native
def control_cost(body: Body, weight: float) -> float:
    """weight * sum(square(action)) as NumPy rounds it, in the precision of the action."""
    if body.single:
        return float(np.float32(weight) * sum_of_squares(body.ctrl.astype(np.float32)))
    return weight * sum_of_squares(body.ctrl)


@native
def distance(places: np.ndarray, one: float, other: float) -> float:
    """From one body to another, as `np.linalg.norm` rounds it: multiplied and added at once."""
    a, b = 3 * int(one), 3 * int(other)
    x, y, z = places[a] - places[b], places[a + 1] - places[b + 1], places[a + 2] - places[b + 2]
    return math.sqrt(fused(z, z, fused(y, y, x * x)))


@native
def write(values: np.ndarray, observation: np.ndarray, at: int) -> int:
    """Observe these numbers from place `at` on; return the next place."""
    for value in values:
        observation[at] = value
        at += 1
    return at


@native
def write_state(body: Body, skipped: float, fastest: float, observation: np.ndarray) -> int:
    """Observe positions but the skipped ones, then velocities up to a size; return how many."""
    at = 0
    for value in body.qpos[int(skipped) :]:
        observation[at] = value
        at += 1
    for value in body.qvel:
        observation[at] = clip(value, -fastest, fastest)
        at += 1
    return at


def skipped_positions(base: Any) -> Sequence[float]:
    """How many leading positions are not observed."""
    return (base.observation_structure["skipped_qpos"],)
