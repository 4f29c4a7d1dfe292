"""HumanoidStandup: pays the height of the torso minus control and impact costs, and never ends."""

from __future__ import annotations

import numpy as np

from mppo.envs.robots.rules import Body, Robot, Rule, clip, read, sum_of_squares
from mppo.envs.robots.v5 import humanoid


def observe(body: Body, numbers: np.ndarray, observation: np.ndarray) -> None:
    """Positions, velocities, inertia, speeds and forces, as far as they are asked for."""
    humanoid.observe_all(body, numbers, observation)


def reward(body: Body, numbers: np.ndarray, before: float, is_healthy: bool) -> float:
    """Height minus costs, plus 1."""
    timestep, control, impact, least, most = numbers
    touched = clip(impact * sum_of_squares(body.forces), least, most)
    return body.qpos[2] / timestep - control * sum_of_squares(body.ctrl) - touched + 1.0


COSTS = "_ctrl_cost_weight", "_impact_cost_weight", "_impact_cost_range"
ROBOT = Robot(
    "HumanoidStandup-v5",
    Rule(observe, read(*humanoid.PARTS)),
    Rule(reward, read("model.opt.timestep", *COSTS)),
    reads_forces=True,
)
