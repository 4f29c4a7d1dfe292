"""Pusher: pays an object's closeness to a goal and an arm's to the object minus control cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from mppo.envs.robots import rules
from mppo.envs.robots.rules import Body, Robot, Rule, read

_JOINTS = 7


def observe(body: Body, numbers: np.ndarray, observation: np.ndarray) -> None:
    """The joints' places and speeds, then where tip, object and goal are."""
    at = rules.write(body.qpos[:_JOINTS], observation, 0)
    at = rules.write(body.qvel[:_JOINTS], observation, at)
    for number in numbers:
        first = 3 * int(number)
        at = rules.write(body.xpos[first : first + 3], observation, at)


def reward(body: Body, numbers: np.ndarray, before: float, is_healthy: bool) -> float:
    """Minus the two distances and the control cost."""
    tip, thing, goal, near, far, control, fuses = numbers
    cost = rules.control_cost(body, control)
    pushed = -rules.distance(body.xpos, thing, goal, fuses) * far + -cost
    return pushed + -rules.distance(body.xpos, thing, tip, fuses) * near


def start(base: Any, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The arm as it is, and an object not too close to the goal."""
    qpos, thing = base.init_qpos.copy(), np.zeros(2)
    while not np.linalg.norm(thing) > 0.17:
        thing = np.concatenate([draw.uniform(-0.3, 0, 1), draw.uniform(-0.2, 0.2, 1)])
    qpos[-4:-2], qpos[-2:] = thing, 0
    qvel = base.init_qvel + draw.uniform(-0.005, 0.005, base.model.nv)
    qvel[-4:] = 0
    return qpos, qvel


BODIES = rules.bodies("tips_arm", "object", "goal")
WEIGHTS = read("_reward_near_weight", "_reward_dist_weight", "_reward_control_weight")
ROBOT = Robot(
    "Pusher-v5",
    Rule(observe, BODIES),
    Rule(reward, lambda base: (*BODIES(base), *WEIGHTS(base), rules.norm_fuses())),
    start=start,
)
