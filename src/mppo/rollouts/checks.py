"""Environments that break their contract are named, not endured."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from mppo.algorithm.types import Trajectories
from mppo.envs.contract import Lane
from mppo.errors import EnvironmentFault, LearningFault


def check(trajectories: Trajectories, name: str, seed: int, iteration: int, first: int = 0) -> None:
    """Raise at the first value of a batch that is not a number; the batch is then not used.

    Environments of others are checked step by step where they are stepped. Ours are checked here,
    a batch at once: nearly free, and just as exact about the step.
    """
    fields = {  # in the order in which a step brings them about
        "first observation": trajectories.observations[:, :1],
        "action": trajectories.actions,
        "reward": trajectories.rewards[..., None],
        "observation": trajectories.next_observations,
    }
    found = []
    for order, values in enumerate(fields.values()):
        finite = np.isfinite(values)
        if not finite.all():
            found += [(t, order, e) for e, t in np.argwhere(~finite.all(-1)).tolist()]
    if found:
        t, order, e = min(found)
        field = list(fields)[order]
        where = f"environment {first + e}, step {t} of iteration {iteration}"
        if field == "action":
            _bad_action(name, trajectories.actions[e, t], where, seed)
        fault(name, field, fields[field][e, t], where, seed, trajectories.actions[e, t])


def bad_numbers(lane: Lane, name: str, where: str, seed: int) -> NoReturn:
    """Raise where MuJoCo met a number that it calls bad: not finite, or beyond 1e10.

    Left alone, it would go on from there, or from the start pose, as if nothing had happened.
    """
    if not np.isfinite(lane.action).all():
        _bad_action(name, lane.action, where, seed)
    fault(name, "MuJoCo's warnings", lane.bad_numbers(), where, seed, lane.action)


def _bad_action(name: str, action: np.ndarray, where: str, seed: int) -> NoReturn:
    """The policy is to blame, not the environment."""
    raise LearningFault(
        f'the policy put out an action that is not finite on "{name}": {action.tolist()}; {where}, '
        f"run seed {seed}"
    )


def fault(name: str, field: str, value: Any, where: str, seed: int, action: Any) -> NoReturn:
    """Raise for what an environment has answered."""
    value, action = np.asarray(value).tolist(), np.asarray(action).tolist()
    raise EnvironmentFault(
        f'environment "{name}" broke its contract: {field} = {value}; {where}, run seed {seed}, '
        f"last action {action}"
    )
