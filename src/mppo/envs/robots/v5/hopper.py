"""Hopper: as Walker2d, and ends when any other entry of its state leaves its range."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mppo.envs.robots.rules import Body, Rule, read
from mppo.envs.robots.v5 import walker2d


def healthy(body: Body, numbers: np.ndarray) -> bool:
    """Height, angle, and all else but the place are within their ranges; no NaN is."""
    low, high, left, right, least, most = numbers
    inside = low < body.qpos[1] < high and left < body.qpos[2] < right
    for value in body.qpos[2:]:
        inside = inside and least < value < most
    for value in body.qvel:
        inside = inside and least < value < most
    return inside


RANGES = read("_healthy_z_range", "_healthy_angle_range", "_healthy_state_range")
ROBOT = replace(walker2d.ROBOT, gymnasium_id="Hopper-v5", healthy=Rule(healthy, RANGES))
