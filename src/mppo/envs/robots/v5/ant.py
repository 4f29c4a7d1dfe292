"""Ant: pays the torso's speed and health minus control and contact costs."""

from __future__ import annotations

import numpy as np

from mppo.envs.robots import rules
from mppo.envs.robots.rules import Body, Robot, Rule, read

_WORLD = 6  # entries of the forces on the world, which are zero


def observe(body: Body, numbers: np.ndarray, observation: np.ndarray) -> None:
    """Positions, velocities, and clipped forces if the observation has room for them."""
    skipped, weakest, strongest = numbers
    at = rules.write_state(body, skipped, np.inf, observation)
    if at < observation.size:
        for value in body.forces[_WORLD:]:
            observation[at] = rules.clip(value, weakest, strongest)
            at += 1


def healthy(body: Body, numbers: np.ndarray) -> bool:
    """The torso is neither too low nor too high, and all numbers are finite."""
    low, high = numbers
    return rules.is_finite(body) and low <= body.qpos[2] <= high


def reward(body: Body, numbers: np.ndarray, before: float, is_healthy: bool) -> float:
    """Speed and health minus control and contact costs."""
    control, contact, weakest, strongest = numbers[3:]
    rewards = rules.speed_and_health(body, numbers, before, is_healthy)
    forces = np.empty_like(body.forces)
    for i in range(forces.size):
        forces[i] = rules.clip(body.forces[i], weakest, strongest)
    return rewards - (rules.control_cost(body, control) + contact * rules.sum_of_squares(forces))


COSTS = "_ctrl_cost_weight", "_contact_cost_weight", "_contact_force_range"
ROBOT = Robot(
    "Ant-v5",
    Rule(observe, read("skipped_qpos", "_contact_force_range")),
    Rule(reward, read(*rules.SPEED_AND_HEALTH, *COSTS)),
    Rule(healthy, read("_healthy_z_range")),
    start=rules.normal_start,
    reads_forces=True,
    place=lambda base, data: data.body(base._main_body).xpos,
)
