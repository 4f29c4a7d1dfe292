"""SparseDoublePendulum: swing two links upright with a motor at the elbow alone.

One set of equations for all presets, in the angles t1, t2 of the links against the world (0 hanging
down, counter-clockwise positive), u the torque on link 2, d = t1 - t2:

    a a1 + k cos(d) a2 = -u - k sin(d) w2^2 - p sin t1
    k cos(d) a1 + b a2 = +u + k sin(d) w1^2 - q sin t2
"""

from math import cos, sin

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from mppo.envs.batched import drawing
from mppo.envs.batched.double_pendulum_motion import PRESETS, Preset, appearance, move, reached
from mppo.envs.batched.dynamics import checked_box_actions
from mppo.envs.contract import State, check_choice, check_positive

GOALS = ("tip-distance", "height")


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
            level = 200.0 - self.goal_height * scale
            image[: round(level)] = drawing.LIGHT_GREEN
        else:
            drawing.disc(
                image, (200.0, 200.0 - 2.0 * scale), self.goal_distance * scale, drawing.LIGHT_GREEN
            )
        pivot = 200.0, 200.0
        elbow = pivot[0] + sin(first) * scale, pivot[1] + cos(first) * scale
        tip = elbow[0] + sin(second) * scale, elbow[1] + cos(second) * scale
        drawing.line(image, (0, 200), (400, 200), 2, drawing.PALE)
        drawing.line(image, pivot, elbow, 14, drawing.BLUE)
        drawing.line(image, elbow, tip, 14, drawing.RED)
        for joint, size in ((pivot, 6), (elbow, 6), (tip, 4)):
            drawing.disc(image, joint, size, drawing.SAND)
        return image
