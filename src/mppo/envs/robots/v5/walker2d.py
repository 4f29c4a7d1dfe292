"""Walker2d: ends at a fall, pays for being upright, clips the observed velocities to ±10."""

from __future__ import annotations

import numpy as np

from mppo.envs.robots import rules
from mppo.envs.robots.rules import Body, Robot, Rule, read


def observe(body: Body, numbers: np.ndarray, observation: np.ndarray) -> None:
    """Positions, but those that Gymnasium leaves out, then clipped velocities."""
    rules.write_state(body, numbers[0], 10.0, observation)


def healthy(body: Body, numbers: np.ndarray) -> bool:
    """Height and angle of the torso are within their ranges."""
    low, high, left, right = numbers
    return low < body.qpos[1] < high and left < body.qpos[2] < right


def reward(body: Body, numbers: np.ndarray, before: float, is_healthy: bool) -> float:
    """Speed and health minus control cost."""
    rewards = rules.speed_and_health(body, numbers, before, is_healthy)
    return rewards - rules.control_cost(body, numbers[3])


ROBOT = Robot(
    "Walker2d-v5",
    Rule(observe, read("skipped_qpos")),
    Rule(reward, read(*rules.SPEED_AND_HEALTH, "_ctrl_cost_weight")),
    Rule(healthy, read("_healthy_z_range", "_healthy_angle_range")),
)
