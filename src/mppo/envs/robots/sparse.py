"""The reward of the sparse tasks: 1 for each step that ends past a line, nothing else."""

from __future__ import annotations

import numpy as np

from mppo.envs.robots.rules import Body, Rule


def reward(body: Body, numbers: np.ndarray, before: float, is_healthy: bool) -> float:
    """1 if the robot is further ahead of the start than the threshold, or behind it if asked."""
    start, threshold, absolute = numbers
    moved = body.place[0] - start
    if absolute > 0:
        moved = abs(moved)
    return 1.0 if moved > threshold else 0.0


def past_line(threshold: float, absolute: bool) -> Rule:
    """The reward for being more than `threshold` metres ahead (`absolute`: or behind)."""
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float, np.number)):
        raise ValueError(f"threshold is {threshold!r}; allowed: a distance in metres")
    if not np.isfinite(threshold):
        raise ValueError(f"threshold is {threshold!r}; allowed: a finite distance in metres")
    return Rule(reward, lambda base: (base.init_qpos[0], threshold, absolute))
