"""InvertedPendulum: pays 1 for each step, and ends when its pole leans too far."""

from __future__ import annotations

import numpy as np

from mppo.envs.robots.rules import Body, Robot, Rule, write_state


def observe(body: Body, numbers: np.ndarray, observation: np.ndarray) -> None:
    """Positions, then velocities."""
    write_state(body, 0.0, np.inf, observation)


def healthy(body: Body, numbers: np.ndarray) -> bool:
    """The pole leans by at most 0.2, and all numbers are finite."""
    finite = bool(np.isfinite(body.qpos).all() and np.isfinite(body.qvel).all())
    return finite and abs(body.qpos[1]) <= 0.2


def reward(body: Body, numbers: np.ndarray, before: float, is_healthy: bool) -> float:
    """1 while it stands."""
    return 1.0 if is_healthy else 0.0


ROBOT = Robot(
    "InvertedPendulum-v5",
    Rule(observe, lambda base: ()),
    Rule(reward, lambda base: ()),
    Rule(healthy, lambda base: ()),
    terminates=lambda base: True,
)
