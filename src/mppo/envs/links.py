"""The mechanics of the double pendulum: presets, equations of motion, integration."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import cos, sin

import numpy as np


@dataclass(frozen=True)
class Preset:
    """Constants of the equations in double_pendulum.py, and how a model is stepped and seen."""

    inertias: tuple[float, float]  # a, b
    coupling: float  # k
    weights: tuple[float, float]  # p, q
    torque_limit: float
    runge_kutta: bool  # else semi-implicit Euler
    step: float  # s of one sub-step
    substeps: int
    relative: bool  # angle and speed of link 2 are limited and seen against link 1
    speed_limits: tuple[float, float]

    def draw(self, generator: np.random.Generator) -> tuple[float, float, float, float]:
        """A start: t1, t2, w1, w2."""
        if self.relative:
            t1, t2, w1, w2 = generator.uniform(-0.1, 0.1, 4).tolist()
            return t1, t1 + t2, w1, w1 + w2
        t1, t2, w1, w2 = (generator.standard_normal(4) * (0.1, 0.1, 0.01, 0.01)).tolist()
        return t1, t2, w1, w2

    def bounds(self) -> list[float]:
        """The largest size of each observed number."""
        first, second = self.speed_limits
        if self.relative:
            return [1.0, 1.0, 1.0, 1.0, first, second]
        return [1.0, 1.0, first, 1.0, 1.0, second]


# Gym's Acrobot: length 1, mass 1, centre at 0.5, inertia 1, gravity 9.8 (each link).
_ACROBOT = Preset(
    inertias=(0.25 + 1.0 + 1.0, 0.25 + 1.0),
    coupling=0.5,
    weights=((0.5 + 1.0) * 9.8, 0.5 * 9.8),
    torque_limit=1.0,
    runge_kutta=True,
    step=0.2,
    substeps=1,
    relative=True,
    speed_limits=(4.0 * np.pi, 9.0 * np.pi),
)
# rllab: bars of 0.1 x 1 m and 0.5 kg, gravity 10; Box2D turns at most pi/2 in a sub-step.
_BAR = 0.5 * (0.1**2 + 1.0) / 12.0 + 0.5 * 0.25
_RLLAB = Preset(
    inertias=(_BAR + 0.5, _BAR),
    coupling=0.25,
    weights=(7.5, 2.5),
    torque_limit=50.0,
    runge_kutta=False,
    step=0.01,
    substeps=2,
    relative=False,
    speed_limits=(np.pi / 2.0 / 0.01, np.pi / 2.0 / 0.01),
)
PRESETS = {
    "acrobot": _ACROBOT,
    "rllab": _RLLAB,
    "rllab_weak": replace(_RLLAB, torque_limit=5.0),
}


Motion = Callable[[float, float, float, float, float], tuple[float, float, float, float]]


def equations(preset: Preset) -> Callable[..., tuple[float, float]]:
    """The accelerations (a1, a2) as a function of t1, t2, w1, w2 and the torque u on link 2."""
    (a, b), k, (p, q) = preset.inertias, preset.coupling, preset.weights
    ab = a * b

    def accelerations(t1: float, t2: float, w1: float, w2: float, u: float) -> tuple[float, float]:
        bend = t1 - t2
        kc, ks = k * cos(bend), k * sin(bend)
        r1 = -u - ks * w2 * w2 - p * sin(t1)
        r2 = u + ks * w1 * w1 - q * sin(t2)
        determinant = ab - kc * kc
        return (b * r1 - kc * r2) / determinant, (a * r2 - kc * r1) / determinant

    return accelerations


def runge_kutta(preset: Preset) -> Motion:
    """One classic fourth-order step of t1, t2, w1, w2 under a constant torque."""
    slope, h, half = equations(preset), preset.step, 0.5 * preset.step

    def step(
        t1: float, t2: float, w1: float, w2: float, u: float
    ) -> tuple[float, float, float, float]:
        a1, a2 = slope(t1, t2, w1, w2, u)
        x1, x2 = w1 + half * a1, w2 + half * a2
        b1, b2 = slope(t1 + half * w1, t2 + half * w2, x1, x2, u)
        y1, y2 = w1 + half * b1, w2 + half * b2
        c1, c2 = slope(t1 + half * x1, t2 + half * x2, y1, y2, u)
        z1, z2 = w1 + h * c1, w2 + h * c2
        d1, d2 = slope(t1 + h * y1, t2 + h * y2, z1, z2, u)
        sixth = h / 6.0
        return (
            t1 + sixth * (w1 + 2.0 * (x1 + y1) + z1),
            t2 + sixth * (w2 + 2.0 * (x2 + y2) + z2),
            w1 + sixth * (a1 + 2.0 * (b1 + c1) + d1),
            w2 + sixth * (a2 + 2.0 * (b2 + c2) + d2),
        )

    return step


def semi_implicit_euler(preset: Preset) -> Motion:
    """Velocities first, then positions with the new velocities."""
    slope, h = equations(preset), preset.step

    def step(
        t1: float, t2: float, w1: float, w2: float, u: float
    ) -> tuple[float, float, float, float]:
        a1, a2 = slope(t1, t2, w1, w2, u)
        w1 += h * a1
        w2 += h * a2
        return t1 + h * w1, t2 + h * w2, w1, w2

    return step


def motion(preset: Preset) -> Motion:
    """The whole of one action: the sub-steps, each followed by the limits on the speeds.

    Plain floats, one pendulum at a time: the equations need some ninety array operations for one
    action, which for a handful of pendulums take three times as long as this.
    """
    step = runge_kutta(preset) if preset.runge_kutta else semi_implicit_euler(preset)
    (first, second), substeps, relative = preset.speed_limits, preset.substeps, preset.relative

    def move(
        t1: float, t2: float, w1: float, w2: float, u: float
    ) -> tuple[float, float, float, float]:
        for _ in range(substeps):
            t1, t2, w1, w2 = step(t1, t2, w1, w2, u)
            turn = w2 - w1 if relative else w2
            limited = min(max(w1, -first), first)
            if limited != w1 or abs(turn) > second:
                turn = min(max(turn, -second), second)
                w1, w2 = limited, limited + turn if relative else turn
        return t1, t2, w1, w2

    return move


def appearance(preset: Preset, state: list[float]) -> list[float]:
    """The six numbers that the preset's original shows."""
    t1, t2, w1, w2 = state
    if preset.relative:
        return [cos(t1), sin(t1), cos(t2 - t1), sin(t2 - t1), w1, w2 - w1]
    return [sin(t1), cos(t1), w1, sin(t2), cos(t2), w2]
