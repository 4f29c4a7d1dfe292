"""InvertedPendulum: pays 1 for each step, and ends when its pole leans too far."""

from __future__ import annotations

import numpy as np

from mppo.envs.robots.rules import Body, Robot, Rule, is_finite, observe_state


def healthy(body: Body, numbers: np.ndarray) -> bool:
    """The pole leans by at most 0.2, and all numbers are finite."""
    return is_finite(body) and abs(body.qpos[1]) <= 0.2


def reward(body: Body, numbers: np.ndarray, before: float, is_healthy: bool) -> float:
    """1 while it stands."""
    return 1.0 if is_healthy else 0.0


ROBOT = Robot(
    "InvertedPendulum-v5",
    Rule(observe_state, lambda base: (0,)),  # no position is left out
    Rule(reward),
    Rule(healthy),
    terminates=lambda base: True,
)
