"""Reacher: pays the closeness of a fingertip to a target minus control cost, and never ends."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mppo.envs.robots import rules
from mppo.envs.robots.rules import Body, Robot, Rule, read


def observe(body: Body, numbers: np.ndarray, observation: np.ndarray) -> None:
    """Cosines and sines of the joints, the target, the joints' speeds, finger minus target."""
    finger, target = 3 * int(numbers[0]), 3 * int(numbers[1])
    for i in range(2):
        observation[i] = math.cos(body.qpos[i])
        observation[2 + i] = math.sin(body.qpos[i])
        observation[4 + i] = body.qpos[2 + i]
        observation[6 + i] = body.qvel[i]
        observation[8 + i] = body.xpos[finger + i] - body.xpos[target + i]


def reward(body: Body, numbers: np.ndarray, before: float, is_healthy: bool) -> float:
    """Minus the distance and the control cost."""
    finger, target, far, control, fuses = numbers
    cost = rules.control_cost(body, control)
    return -rules.distance(body.xpos, finger, target, fuses) * far + -cost


def start(base: Any, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Joints near the middle, and a target within reach."""
    qpos = draw.uniform(-0.1, 0.1, base.model.nq) + base.init_qpos
    goal = draw.uniform(-0.2, 0.2, 2)
    while not np.linalg.norm(goal) < 0.2:
        goal = draw.uniform(-0.2, 0.2, 2)
    qpos[-2:] = goal
    qvel = base.init_qvel + draw.uniform(-0.005, 0.005, base.model.nv)
    qvel[-2:] = 0
    return qpos, qvel


BODIES = rules.bodies("fingertip", "target")
WEIGHTS = read("_reward_dist_weight", "_reward_control_weight")
ROBOT = Robot(
    "Reacher-v5",
    Rule(observe, BODIES),
    Rule(reward, lambda base: (*BODIES(base), *WEIGHTS(base), rules.norm_fuses())),
    start=start,
)
