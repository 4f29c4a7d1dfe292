"""Walker2d: ends at a fall, pays for being upright, clips the observed velocities to ±10."""

from __future__ import annotations

from typing import Any

import numpy as np

from mppo.envs.robots.rules import Body, Robot, Rule, control_cost, skipped_positions, write_state


def observe(body: Body, numbers: np.ndarray, observation: np.ndarray) -> None:
    """Positions, but those that Gymnasium leaves out, then clipped velocities."""
    write_state(body, numbers[0], 10.0, observation)


def healthy(body: Body, numbers: np.ndarray) -> bool:
    """Height and angle of the torso are within their ranges."""
    low, high, left, right = numbers
    return low < body.qpos[1] < high and left < body.qpos[2] < right


def reward(body: Body, numbers: np.ndarray, before: float, is_healthy: bool) -> float:
    """Speed and health minus control cost."""
    dt, forward, control, upright = numbers
    rewards = forward * ((body.place[0] - before) / dt) + (upright if is_healthy else 0.0)
    return rewards - control_cost(body, control)


def healthy_numbers(base: Any) -> tuple[float, ...]:
    """The ranges of height and angle."""
    return *base._healthy_z_range, *base._healthy_angle_range


def reward_numbers(base: Any) -> tuple[float, ...]:
    """The length of a step and the weights."""
    return base.dt, base._forward_reward_weight, base._ctrl_cost_weight, base._healthy_reward


ROBOT = Robot(
    "Walker2d-v5",
    Rule(observe, skipped_positions),
    Rule(reward, reward_numbers),
    Rule(healthy, healthy_numbers),
)
