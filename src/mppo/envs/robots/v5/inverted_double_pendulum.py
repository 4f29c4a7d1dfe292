"""InvertedDoublePendulum: pays for standing, minus its tip's distance from upright and speeds."""

from __future__ import annotations

import math

import numpy as np

from mppo.envs.robots.rules import Body, Robot, Rule, clip, normal_start

_FASTEST = 10.0


def observe(body: Body, numbers: np.ndarray, observation: np.ndarray) -> None:
    """The cart, sines and cosines of both links, clipped speeds, the clipped force on the cart."""
    observation[0] = body.qpos[0]
    for i in range(2):
        observation[1 + i] = math.sin(body.qpos[1 + i])
        observation[3 + i] = math.cos(body.qpos[1 + i])
    for i in range(3):
        observation[5 + i] = clip(body.qvel[i], -_FASTEST, _FASTEST)
    observation[8] = clip(body.constraints[0], -_FASTEST, _FASTEST)


def healthy(body: Body, numbers: np.ndarray) -> bool:
    """The tip is above 1; it is not called fallen where its height is no number."""
    return not body.sites[2] <= 1.0


def reward(body: Body, numbers: np.ndarray, before: float, is_healthy: bool) -> float:
    """Squares by the C library's `pow`, as NumPy has them: rarely another bit than a product."""
    alive, two = numbers
    x, y, v, w = body.sites[0], body.sites[2], body.qvel[1], body.qvel[2]
    far = 0.01 * math.pow(x, two) + math.pow(y - 2.0, two)
    fast = 1e-3 * math.pow(v, two) + 5e-3 * math.pow(w, two)
    return (alive if is_healthy else 0.0) - far - fast


ROBOT = Robot(
    "InvertedDoublePendulum-v5",
    Rule(observe),
    Rule(reward, lambda base: (base._healthy_reward, 2.0)),
    Rule(healthy),
    start=normal_start,
    terminates=lambda base: True,
)
