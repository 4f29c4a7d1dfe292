"""SparseCartPoleSwingup: swing a pole up by pushing its cart; the model is rllab's, without Box2D.

Angle b counter-clockwise from upright, force F to the right, frictionless:

    D       = (M + m) J - (m l cos b)^2
    x_acc   = [J (F - m l b_dot^2 sin b) + (m l)^2 g sin b cos b] / D
    b_acc   = [m l cos b (F - m l b_dot^2 sin b) + (M + m) m l g sin b] / D

Velocities first, then positions with the new velocities, as Box2D does.
"""

from math import cos, pi, sin, tau

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from mppo.envs.batched import drawing
from mppo.envs.batched.dynamics import checked_box_actions
from mppo.envs.contract import State, check_choice, check_positive
from mppo.machine.compilers import native

STEP = 0.05  # s
GRAVITY = 10.0
TOTAL_MASS = 1.1  # cart 1, pole 0.1
MOMENT = 0.05  # m l: mass of the pole times the distance of its centre from the hinge
INERTIA = 0.1 * (0.1**2 + 1.0) / 12.0 + 0.1 * 0.5**2  # J, about the hinge
LENGTH = 1.0
SPEED, TURN = 2.0 / STEP, pi / 2.0 / STEP  # Box2D's limits for one step
START = np.array([1.0, 2.0, 1.0, 3.0])  # half-widths of the uniform draws
ANGLE_BOUND = 1e6  # rad; the speed limit forbids more within 600 000 steps
ANGLES = ("raw", "wrapped", "cos-sin")
_WRAPPED, _COS_SIN = 1, 2  # their places in ANGLES


@native
def accelerations(b: float, b_dot: float, force: float) -> tuple[float, float]:
    """Of the cart and of the angle."""
    lever, weight = MOMENT * cos(b), MOMENT * GRAVITY * sin(b)
    push = force - MOMENT * b_dot * b_dot * sin(b)
    determinant = TOTAL_MASS * INERTIA - lever * lever
    return (
        (INERTIA * push + lever * weight) / determinant,
        (lever * push + TOTAL_MASS * weight) / determinant,
    )


@native
def move(states: np.ndarray, forces: np.ndarray) -> None:
    """One step of each, in place; `states` has the rows x, b, x_dot, b_dot."""
    for i in range(forces.size):
        x, b, x_dot, b_dot = states[:, i]
        cart, pole = accelerations(b, b_dot, forces[i])
        x_dot = max(min(x_dot + STEP * cart, SPEED), -SPEED)
        b_dot = max(min(b_dot + STEP * pole, TURN), -TURN)
        states[:, i] = x + STEP * x_dot, b + STEP * b_dot, x_dot, b_dot


@native
def outcome(
    states: np.ndarray, threshold: float, track_limit: float
) -> tuple[np.ndarray, np.ndarray]:
    """Rewards and ends."""
    rewards, ended = np.zeros(states.shape[1]), np.empty(states.shape[1], np.bool_)
    for i in range(ended.size):
        ended[i] = abs(states[0, i]) > track_limit
        if cos(states[1, i]) > threshold and not ended[i]:
            rewards[i] = 1.0
    return rewards, ended


@native
def appearance(states: np.ndarray, angle: int) -> np.ndarray:
    """x, x_dot, b, b_dot of each; b raw, wrapped to half a turn either way, or cos b and sin b."""
    seen = np.empty((states.shape[1], 5 if angle == _COS_SIN else 4), np.float32)
    for i in range(states.shape[1]):
        x, b, x_dot, b_dot = states[:, i]
        if angle == _COS_SIN:
            seen[i] = x, x_dot, cos(b), sin(b), b_dot
        else:
            seen[i] = x, x_dot, b - tau * round(b / tau) if angle == _WRAPPED else b, b_dot
    return seen


class CartPoleDynamics:
    """1 for each step with cos(angle) > `threshold`; ends where the cart leaves ±`track_limit` m.

    Observed: x, x_dot, angle (0 upright), angular speed. `angle` says how: "raw" (rllab's, which
    counts every turn), "wrapped" to half a turn either way, or "cos-sin" (two numbers). The action
    in [-1, 1] is clipped and scaled to ±`force_limit` N.
    """

    render_fps: int = 20

    def __init__(
        self,
        num_envs: int,
        force_limit: float = 10.0,
        threshold: float = 0.8,
        track_limit: float = 3.0,
        angle: str = "raw",
    ) -> None:
        self.num_envs: int = num_envs
        self.force_limit: float = check_positive("force_limit", force_limit)
        self.track_limit: float = check_positive("track_limit", track_limit)
        if not isinstance(threshold, (int, float, np.number)) or not -1.0 <= threshold < 1.0:
            raise ValueError(f"threshold is {threshold!r}; allowed: a cosine from -1 to below 1")
        self.threshold: float = float(threshold)
        self.angle: str = check_choice("angle", angle, ANGLES)
        turned = {"raw": [ANGLE_BOUND], "wrapped": [pi], "cos-sin": [1.0, 1.0]}[angle]
        bound = [self.track_limit + 2.0, SPEED, *turned, TURN]
        high = np.nextafter(np.array(bound, dtype=np.float32), np.float32(np.inf))
        self.observation_space: gymnasium.Space = Box(-high, high, dtype=np.float32)
        self.action_space: gymnasium.Space = Box(-1.0, 1.0, (1,), np.float32)
        self._state = np.zeros((4, num_envs))  # rows x, b, x_dot, b_dot

    def start(self, i: int, generator: np.random.Generator) -> None:
        """Draw x, x_dot, b, b_dot uniformly about a hanging pole at the middle of the track."""
        x, x_dot, b, b_dot = generator.uniform(-START, START)
        self._state[:, i] = x, np.pi + b, x_dot, b_dot

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Push all carts for one step."""
        force = checked_box_actions(actions, (self.num_envs, 1))[:, 0]
        force *= self.force_limit
        move(self._state, force)
        return outcome(self._state, self.threshold, self.track_limit)

    def observe(self) -> np.ndarray:
        """x, x_dot, b, b_dot of each, b as it was asked for."""
        return appearance(self._state, ANGLES.index(self.angle))

    def arrays(self) -> State:
        """Positions and velocities."""
        return {"state": self._state}

    def picture(self, i: int) -> np.ndarray:
        """Track, cart and pole."""
        x, angle = self._state[:2, i].tolist()
        scale = 600 / (2.0 * self.track_limit + 2.0)
        image = drawing.canvas(600, 300)
        level, middle = 190.0, 300.0 + x * scale
        hinge = middle, level - 0.25 * scale
        tip = middle - np.sin(angle) * scale * LENGTH, hinge[1] - np.cos(angle) * scale * LENGTH
        ends = [300.0 + side * self.track_limit * scale for side in (-1, 1)]
        drawing.line(image, (ends[0], level), (ends[1], level), 4, drawing.GREY)
        for end in ends:
            drawing.line(image, (end, level - 12), (end, level + 12), 4, drawing.GREY)
        drawing.rectangle(image, (middle, level), 0.8 * scale, 0.5 * scale, drawing.INK)
        upright = np.cos(angle) > self.threshold
        drawing.line(image, hinge, tip, 10, drawing.GREEN if upright else drawing.RED)
        drawing.disc(image, hinge, 6, drawing.SAND)
        return image
