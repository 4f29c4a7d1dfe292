"""Environments that break their contract are named, not endured."""

from __future__ import annotations

from typing import Any

import numpy as np

from mppo.errors import EnvironmentFault, LearningFault
from mppo.types import Trajectories


def check(trajectories: Trajectories, envs: Any, name: str, seed: int, iteration: int) -> None:
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
        value, action = fields[field][e, t].tolist(), trajectories.actions[e, t].tolist()
        if field == "action":
            raise LearningFault(
                f'the policy put out an action that is not finite on "{name}": {action}; '
                f"environment {e}, step {t} of iteration {iteration}, run seed {seed}"
            )
        _fault(name, field, value, e, t, iteration, seed, action)
    for e, lane in enumerate(getattr(envs, "lanes", [])):
        warned = {kind: count for kind, count in lane.warnings().items() if count}
        if warned:
            last = trajectories.rewards.shape[1] - 1
            action = trajectories.actions[e, last].tolist()
            _fault(name, "MuJoCo's warnings", warned, e, last, iteration, seed, action)


def _fault(name, field, value, e, t, iteration, seed, action) -> None:
    raise EnvironmentFault(
        f'environment "{name}" broke its contract: {field} = {value}; environment {e}, step {t} of '
        f"iteration {iteration}, run seed {seed}, last action {action}"
    )
