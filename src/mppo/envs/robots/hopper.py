"""Hopper: as Walker2d, and ends when any other entry of its state leaves its range."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mppo.envs.robots import walker2d
from mppo.envs.robots.rules import Body, Rule


def healthy(body: Body, numbers: np.ndarray) -> bool:
    """Height, angle, and all else but the place are within their ranges; no NaN is."""
    low, high, left, right, least, most = numbers
    inside = low < body.qpos[1] < high and left < body.qpos[2] < right
    for value in body.qpos[2:]:
        inside = inside and least < value < most
    for value in body.qvel:
        inside = inside and least < value < most
    return inside


def healthy_numbers(base: Any) -> tuple[float, ...]:
    """The ranges of height, angle and state."""
    return *walker2d.healthy_numbers(base), *base._healthy_state_range


ROBOT = replace(walker2d.ROBOT, gymnasium_id="Hopper-v5", healthy=Rule(healthy, healthy_numbers))
