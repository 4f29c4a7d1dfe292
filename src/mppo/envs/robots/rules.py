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
from operator import attrgetter
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


def body_of(model: Any, data: Any, place: np.ndarray, single: bool = True) -> Body:
    """MuJoCo's memory as the rules see it."""
    more = data.xpos, data.xipos, model.body_mass, data.cinert, data.cvel
    more += data.qfrc_actuator, data.qfrc_constraint, data.site_xpos
    forces, *flat = (array.reshape(-1) for array in (data.cfrc_ext, *more))
    return Body(data.qpos, data.qvel, data.ctrl, place, forces, single, *flat)


_ARRAY = types.Array(types.float64, 1, "C")
_BODY = types.NamedTuple((*(_ARRAY,) * 5, types.boolean, *(_ARRAY,) * 8), Body)
OBSERVE: Any = types.void(_BODY, _ARRAY, _ARRAY)
HEALTHY: Any = types.boolean(_BODY, _ARRAY)
REWARD: Any = types.float64(_BODY, _ARRAY, types.float64, types.boolean)


Numbers = Callable[[Any], Sequence[float]]
"""How the numbers of a rule are read from Gymnasium's environment of the robot."""


def read(*names: str) -> Numbers:
    """The numbers of these names: parts of the observation, else attributes; a range is two."""

    def numbers(base: Any) -> list[float]:
        parts = getattr(base, "observation_structure", {})  # not every robot tells them
        found = [parts[name] if name in parts else attrgetter(name)(base) for name in names]
        return np.hstack(found).tolist()

    return numbers


def bodies(*names: str) -> Numbers:
    """Where these bodies stand in the list of all."""
    return lambda base: [base.model.body(name).id for name in names]


@dataclass(frozen=True)
class Rule:
    """A function, and the numbers that it is given."""

    function: Callable[..., Any]
    numbers: Numbers = lambda base: ()


Start = tuple[np.ndarray, np.ndarray]


def uniform_start(base: Any, draw: np.random.Generator) -> Start:
    """The initial positions and velocities, with uniform noise on both."""
    noise, model = base._reset_noise_scale, base.model
    qpos = base.init_qpos + draw.uniform(-noise, noise, model.nq)
    return qpos, base.init_qvel + draw.uniform(-noise, noise, model.nv)


def normal_start(base: Any, draw: np.random.Generator) -> Start:
    """The same with normal noise on the velocities."""
    noise, model = base._reset_noise_scale, base.model
    qpos = base.init_qpos + draw.uniform(-noise, noise, model.nq)
    return qpos, base.init_qvel + noise * draw.standard_normal(model.nv)


@dataclass(frozen=True)
class Robot:
    """What one robot has of its own; all else is the same for all of them."""

    gymnasium_id: str
    observe: Rule
    reward: Rule
    healthy: Rule | None = None  # None: it cannot fall
    start: Callable[[Any, np.random.Generator], Start] = uniform_start  # of an episode
    reads_forces: bool = False  # they cost time
    place: Callable[[Any, Any], np.ndarray] = lambda base, data: data.qpos
    terminates: Callable[[Any], bool] = lambda base: bool(base._terminate_when_unhealthy)


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


def norm_fuses() -> bool:
    """Whether `np.linalg.norm` multiplies and adds at once: its library chooses by the processor.

    Of this vector the squares add up to another number if each sum is rounded twice.
    """
    x, y = 1 / 3, 1 / 10
    return float(np.dot([x, y], [x, y])) != x * x + y * y


@native
def distance(places: np.ndarray, one: float, other: float, fuses: float) -> float:
    """From one body to another, as `np.linalg.norm` rounds it on this machine."""
    a, b = 3 * int(one), 3 * int(other)
    x, y, z = places[a] - places[b], places[a + 1] - places[b + 1], places[a + 2] - places[b + 2]
    if fuses:
        return math.sqrt(fused(z, z, fused(y, y, x * x)))
    return math.sqrt(x * x + y * y + z * z)


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
    at = write(body.qpos[int(skipped) :], observation, 0)
    for value in body.qvel:
        observation[at] = clip(value, -fastest, fastest)
        at += 1
    return at


def observe_state(body: Body, numbers: np.ndarray, observation: np.ndarray) -> None:
    """A robot's `observe`: positions, but those that Gymnasium leaves out, then velocities."""
    write_state(body, numbers[0], np.inf, observation)


SPEED_AND_HEALTH = "dt", "_forward_reward_weight", "_healthy_reward"


@native
def speed_and_health(body: Body, numbers: np.ndarray, before: float, is_healthy: bool) -> float:
    """What most robots are paid, before costs; the first numbers are SPEED_AND_HEALTH."""
    dt, forward, upright = numbers[0], numbers[1], numbers[2]
    return forward * ((body.place[0] - before) / dt) + (upright if is_healthy else 0.0)


@native
def is_finite(body: Body) -> bool:
    """Whether all positions and velocities are numbers."""
    return bool(np.isfinite(body.qpos).all() and np.isfinite(body.qvel).all())
