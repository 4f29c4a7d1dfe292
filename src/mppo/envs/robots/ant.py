"""Ant: pays the torso's speed and health minus control and contact costs."""

from __future__ import annotations

from typing import Any

import numpy as np

from mppo.envs.robots import walker2d
from mppo.envs.robots.rules import (
    Body,
    Robot,
    Rule,
    clip,
    control_cost,
    skipped_positions,
    sum_of_squares,
    write_state,
)

_WORLD = 6  # entries of the forces on the world, which are zero


def observe(body: Body, numbers: np.ndarray, observation: np.ndarray) -> None:
    """Positions, velocities, and clipped forces if the observation has room for them."""
    skipped, weakest, strongest = numbers
    at = write_state(body, skipped, np.inf, observation)
    if at < observation.size:
        for value in body.forces[_WORLD:]:
            observation[at] = clip(value, weakest, strongest)
            at += 1


def healthy(body: Body, numbers: np.ndarray) -> bool:
    """The torso is neither too low nor too high, and all numbers are finite."""
    low, high = numbers
    finite = bool(np.isfinite(body.qpos).all() and np.isfinite(body.qvel).all())
    return finite and low <= body.qpos[2] <= high


def reward(body: Body, numbers: np.ndarray, before: float, is_healthy: bool) -> float:
    """Speed and health minus control and contact costs."""
    dt, forward, control, upright, contact, weakest, strongest = numbers
    rewards = forward * ((body.place[0] - before) / dt) + (upright if is_healthy else 0.0)
    forces = np.empty_like(body.forces)
    for i in range(forces.size):
        forces[i] = clip(body.forces[i], weakest, strongest)
    return rewards - (control_cost(body, control) + contact * sum_of_squares(forces))


def observe_numbers(base: Any) -> tuple[float, ...]:
    """The positions that are not observed, and the range of forces."""
    return *skipped_positions(base), *base._contact_force_range


def reward_numbers(base: Any) -> tuple[float, ...]:
    """What Walker2d's reward is given, the weight of contacts, and the range of forces."""
    return *walker2d.reward_numbers(base), base._contact_cost_weight, *base._contact_force_range


ROBOT = Robot(
    "Ant-v5",
    Rule(observe, observe_numbers),
    Rule(reward, reward_numbers),
    Rule(healthy, lambda base: base._healthy_z_range),
    normal_velocities=True,
    reads_forces=True,
    place=lambda base, data: data.body(base._main_body).xpos,
)
