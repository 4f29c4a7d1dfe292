"""HumanoidStandup: pays the height of the torso minus control and impact costs, and never ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from mppo.envs.robots import humanoid
from mppo.envs.robots.rules import Body, Robot, Rule, clip, sum_of_squares


def observe(body: Body, numbers: np.ndarray, observation: np.ndarray) -> None:
    """Positions, velocities, inertia, speeds and forces, as far as they are asked for."""
    humanoid.observe_all(body, numbers, observation)


def reward(body: Body, numbers: np.ndarray, before: float, is_healthy: bool) -> float:
    """Height minus costs, plus 1."""
    timestep, control, impact, least, most = numbers
    touched = clip(impact * sum_of_squares(body.forces), least, most)
    return body.qpos[2] / timestep - control * sum_of_squares(body.ctrl) - touched + 1.0


def reward_numbers(base: Any) -> tuple[float, ...]:
    """The simulator's time step, the weights, and the range of the impact's cost."""
    weights = base._ctrl_cost_weight, base._impact_cost_weight
    return base.model.opt.timestep, *weights, *base._impact_cost_range


ROBOT = Robot(
    "HumanoidStandup-v5",
    Rule(observe, humanoid.observed_parts),
    Rule(reward, reward_numbers),
    reads_forces=True,
)
