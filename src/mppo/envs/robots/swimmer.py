"""Swimmer: pays speed minus control cost, and never ends."""

from __future__ import annotations

import numpy as np

from mppo.envs.robots.rules import Body, Robot, Rule, control_cost, skipped_positions, write_state


def observe(body: Body, numbers: np.ndarray, observation: np.ndarray) -> None:
    """Positions, but those that Gymnasium leaves out, then velocities."""
    write_state(body, numbers[0], np.inf, observation)


def reward(body: Body, numbers: np.ndarray, before: float, is_healthy: bool) -> float:
    """Speed minus control cost."""
    dt, forward, control = numbers
    return forward * ((body.place[0] - before) / dt) - control_cost(body, control)


ROBOT = Robot(
    "Swimmer-v5",
    Rule(observe, skipped_positions),
    Rule(reward, lambda base: (base.dt, base._forward_reward_weight, base._ctrl_cost_weight)),
)
