"""SparseDoublePendulum: swing two links upright with a motor at the elbow alone.

One set of equations for all presets, in the angles t1, t2 of the links against the world (0 hanging
down, counter-clockwise positive), u the torque on link 2, d = t1 - t2:

    a a1 + k cos(d) a2 = -u - k sin(d) w2^2 - p sin t1
    k cos(d) a1 + b a2 = +u + k sin(d) w1^2 - q sin t2

Compiled, one pendulum at a time: as array operations one action would take some ninety of them.
"""

from math import cos, hypot, sin
from typing import NamedTuple

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from mppo.envs.batched import drawing
from mppo.envs.batched.dynamics import checked_box_actions
from mppo.envs.contract import State, check_choice, check_positive
from mppo.machine.compilers import native

GOALS = ("tip-distance", "height")


Motion = tuple[float, float, float, float]  # t1, t2, w1, w2


class Preset(NamedTuple):
    """Constants of the equations above, and how a model is stepped and seen."""

    inertias: tuple[float, float]  # a, b
    coupling: float  # k
    weights: tuple[float, float]  # p, q
    torque_limit: float
    runge_kutta: bool  # else semi-implicit Euler
    step: float  # s of one sub-step
    substeps: int
    relative: bool  # angle and speed of link 2 are limited and seen against link 1
    speed_limits: tuple[float, float]

    def draw(self, generator: np.random.Generator) -> Motion:
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
PRESETS = {"acrobot": _ACROBOT, "rllab": _RLLAB, "rllab_weak": _RLLAB._replace(torque_limit=5.0)}


@native
def equations(
    preset: Preset, t1: float, t2: float, w1: float, w2: float, u: float
) -> tuple[float, float]:
    """The accelerations (a1, a2) under a torque u on link 2."""
    (a, b), k, (p, q) = preset.inertias, preset.coupling, preset.weights
    bend = t1 - t2
    kc, ks = k * cos(bend), k * sin(bend)
    r1 = -u - ks * w2 * w2 - p * sin(t1)
    r2 = u + ks * w1 * w1 - q * sin(t2)
    determinant = a * b - kc * kc
    return (b * r1 - kc * r2) / determinant, (a * r2 - kc * r1) / determinant


@native
def runge_kutta(preset: Preset, t1: float, t2: float, w1: float, w2: float, u: float) -> Motion:
    """One classic fourth-order step under a constant torque."""
    h, half, sixth = preset.step, 0.5 * preset.step, preset.step / 6.0
    a1, a2 = equations(preset, t1, t2, w1, w2, u)
    x1, x2 = w1 + half * a1, w2 + half * a2
    b1, b2 = equations(preset, t1 + half * w1, t2 + half * w2, x1, x2, u)
    y1, y2 = w1 + half * b1, w2 + half * b2
    c1, c2 = equations(preset, t1 + half * x1, t2 + half * x2, y1, y2, u)
    z1, z2 = w1 + h * c1, w2 + h * c2
    d1, d2 = equations(preset, t1 + h * y1, t2 + h * y2, z1, z2, u)
    return (
        t1 + sixth * (w1 + 2.0 * (x1 + y1) + z1),
        t2 + sixth * (w2 + 2.0 * (x2 + y2) + z2),
        w1 + sixth * (a1 + 2.0 * (b1 + c1) + d1),
        w2 + sixth * (a2 + 2.0 * (b2 + c2) + d2),
    )


@native
def semi_implicit_euler(
    preset: Preset, t1: float, t2: float, w1: float, w2: float, u: float
) -> Motion:
    """Velocities first, then positions with the new velocities."""
    a1, a2 = equations(preset, t1, t2, w1, w2, u)
    w1 += preset.step * a1
    w2 += preset.step * a2
    return t1 + preset.step * w1, t2 + preset.step * w2, w1, w2


@native
def motion(preset: Preset, t1: float, t2: float, w1: float, w2: float, u: float) -> Motion:
    """The whole of one action: the sub-steps, each followed by the limits on the speeds."""
    first, second = preset.speed_limits
    for _ in range(preset.substeps):
        if preset.runge_kutta:
            t1, t2, w1, w2 = runge_kutta(preset, t1, t2, w1, w2, u)
        else:
            t1, t2, w1, w2 = semi_implicit_euler(preset, t1, t2, w1, w2, u)
        turn = w2 - w1 if preset.relative else w2
        limited = min(max(w1, -first), first)
        if limited != w1 or abs(turn) > second:
            turn = min(max(turn, -second), second)
            w1, w2 = limited, limited + turn if preset.relative else turn
    return t1, t2, w1, w2


@native
def move(preset: Preset, states: np.ndarray, torques: np.ndarray) -> None:
    """One action of each pendulum, in place; `states` has the columns t1, t2, w1, w2."""
    for i in range(torques.size):
        t1, t2, w1, w2 = states[i]
        states[i] = motion(preset, t1, t2, w1, w2, torques[i])


@native
def reached(states: np.ndarray, distance: float, height: float, by_height: bool) -> np.ndarray:
    """Whether each tip is near enough to its upright place, or high enough."""
    found = np.empty(states.shape[0], np.bool_)
    for i in range(found.size):
        t1, t2 = states[i, 0], states[i, 1]
        tip = -cos(t1) - cos(t2)
        near = hypot(sin(t1) + sin(t2), 2.0 - tip) < distance
        found[i] = tip > height if by_height else near
    return found


@native
def appearance(relative: bool, states: np.ndarray) -> np.ndarray:
    """The six numbers that a preset's original shows, of each pendulum."""
    seen = np.empty((states.shape[0], 6), np.float32)
    for i in range(states.shape[0]):
        t1, t2, w1, w2 = states[i]
        if relative:
            seen[i] = cos(t1), sin(t1), cos(t2 - t1), sin(t2 - t1), w1, w2 - w1
        else:
            seen[i] = sin(t1), cos(t1), w1, sin(t2), cos(t2), w2
    return seen


class DoublePendulumDynamics:
    """1 on reaching the upright position, which ends the episode.

    `preset` is "acrobot" (Gym's Acrobot with a continuous torque of at most 1 N m), "rllab" (its
    double pendulum, 50 N m) or "rllab_weak" (5 N m); `torque_limit` overrides it. `goal` is
    "tip-distance" (tip within `goal_distance` m of its upright place) or "height" (tip more than
    `goal_height` m above the pivot). The action in [-1, 1] is clipped and scaled to the limit.
    """

    render_fps: int = 30

    def __init__(
        self,
        num_envs: int,
        preset: str = "acrobot",
        torque_limit: float | None = None,
        goal: str = "tip-distance",
        goal_distance: float = 1.0,
        goal_height: float = 1.0,
    ) -> None:
        self.num_envs: int = num_envs
        self.preset: Preset = PRESETS[check_choice("preset", preset, tuple(PRESETS))]
        limit = self.preset.torque_limit if torque_limit is None else torque_limit
        self.torque_limit: float = check_positive("torque_limit", limit)
        self.goal: str = check_choice("goal", goal, GOALS)
        self.goal_distance: float = check_positive("goal_distance", goal_distance)
        self.goal_height: float = float(goal_height)
        if not -2.0 <= self.goal_height < 2.0:
            raise ValueError(f"goal_height is {goal_height!r}; allowed: -2 to below 2 (m)")
        self._state = np.zeros((num_envs, 4))  # columns t1, t2, w1, w2
        high = np.array(self.preset.bounds(), dtype=np.float32)
        high = np.nextafter(high, np.float32(np.inf))  # a clipped float64 may round upwards
        self.observation_space: gymnasium.Space = Box(-high, high, dtype=np.float32)
        self.action_space: gymnasium.Space = Box(-1.0, 1.0, (1,), np.float32)

    def start(self, i: int, generator: np.random.Generator) -> None:
        """Let both links hang, nearly at rest."""
        self._state[i] = self.preset.draw(generator)

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Drive all elbows for one step."""
        torques = checked_box_actions(actions, (self.num_envs, 1))[:, 0] * self.torque_limit
        move(self.preset, self._state, torques)
        by_height = self.goal == "height"
        terminated = reached(self._state, self.goal_distance, self.goal_height, by_height)
        return terminated.astype(np.float64), terminated

    def observe(self) -> np.ndarray:
        """The six numbers of the preset."""
        return appearance(self.preset.relative, self._state)

    def arrays(self) -> State:
        """Angles and speeds."""
        return {"state": self._state}

    def picture(self, i: int) -> np.ndarray:
        """The goal region and the two links."""
        first, second = self._state[i, :2].tolist()
        image, scale = drawing.canvas(400, 400), 62.0
        if self.goal == "height":
            image[: round(200.0 - self.goal_height * scale)] = drawing.LIGHT_GREEN
        else:
            upright, radius = (200.0, 200.0 - 2.0 * scale), self.goal_distance * scale
            drawing.disc(image, upright, radius, drawing.LIGHT_GREEN)
        pivot = 200.0, 200.0
        elbow = pivot[0] + sin(first) * scale, pivot[1] + cos(first) * scale
        tip = elbow[0] + sin(second) * scale, elbow[1] + cos(second) * scale
        drawing.line(image, (0, 200), (400, 200), 2, drawing.PALE)
        drawing.line(image, pivot, elbow, 14, drawing.BLUE)
        drawing.line(image, elbow, tip, 14, drawing.RED)
        for joint, size in ((pivot, 6), (elbow, 6), (tip, 4)):
            drawing.disc(image, joint, size, drawing.SAND)
        return image
