"""Swimmer: pays speed minus control cost, and never ends."""

from __future__ import annotations

import numpy as np

from mppo.envs.robots.rules import Body, Robot, Rule, control_cost, observe_state, read


def reward(body: Body, numbers: np.ndarray, before: float, is_healthy: bool) -> float:
    """Speed minus control cost."""
    dt, forward, control = numbers
    return forward * ((body.place[0] - before) / dt) - control_cost(body, control)


ROBOT = Robot(
    "Swimmer-v5",
    Rule(observe_state, read("skipped_qpos")),
    Rule(reward, read("dt", "_forward_reward_weight", "_ctrl_cost_weight")),
)
