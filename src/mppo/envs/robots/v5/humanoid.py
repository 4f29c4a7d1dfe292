"""Humanoid: pays the speed of its centre of mass and health minus control and contact costs."""

from __future__ import annotations

import numpy as np

from mppo.envs.robots import rules
from mppo.envs.robots.rules import Body, Robot, Rule, read
from mppo.machine.compilers import native

_WORLD, _ROOT = 1, 6  # the first body, and the joint numbers of the torso, are not observed
PARTS = "skipped_qpos", "cinert", "cvel", "qfrc_actuator", "cfrc_ext"


@native
def observe_all(body: Body, numbers: np.ndarray, observation: np.ndarray) -> None:
    """Positions, velocities, inertia, speeds and forces, as far as they are asked for."""
    skipped, inertia, velocity, actuators, forces = numbers
    at = rules.write_state(body, skipped, np.inf, observation)
    if inertia:
        at = rules.write(body.inertia[10 * _WORLD :], observation, at)
    if velocity:
        at = rules.write(body.velocity[6 * _WORLD :], observation, at)
    if actuators:
        at = rules.write(body.actuators[_ROOT:], observation, at)
    if forces:
        rules.write(body.forces[6 * _WORLD :], observation, at)


def observe(body: Body, numbers: np.ndarray, observation: np.ndarray) -> None:
    """What is observed; and the place, which is that of the centre of mass."""
    observe_all(body, numbers[:5], observation)
    at = 0.0
    for n in range(body.masses.size):
        at += body.masses[n] * body.centres[3 * n]
    body.place[0] = at / numbers[5]


def healthy(body: Body, numbers: np.ndarray) -> bool:
    """The torso is neither too low nor too high."""
    low, high = numbers
    return low < body.qpos[2] < high


def reward(body: Body, numbers: np.ndarray, before: float, is_healthy: bool) -> float:
    """Speed and health minus control and contact costs; control in double precision."""
    control, contact, least, most = numbers[3:]
    rewards = rules.speed_and_health(body, numbers, before, is_healthy)
    touched = rules.clip(contact * rules.sum_of_squares(body.forces), least, most)
    return rewards - (control * rules.sum_of_squares(body.ctrl) + touched)


COSTS = "_ctrl_cost_weight", "_contact_cost_weight", "_contact_cost_range"
ROBOT = Robot(
    "Humanoid-v5",
    Rule(observe, lambda base: (*read(*PARTS)(base), base.model.body_mass.sum())),
    Rule(reward, read(*rules.SPEED_AND_HEALTH, *COSTS)),
    Rule(healthy, read("_healthy_z_range")),
    reads_forces=True,
    place=lambda base, data: np.zeros(1),  # `observe` writes it
)
