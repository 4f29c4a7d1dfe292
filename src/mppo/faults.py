"""Environments that break their contract are named, not endured."""

from __future__ import annotations

from typing import Any

import numpy as np

from mppo.errors import EnvironmentFault
from mppo.types import Trajectories


def check(trajectories: Trajectories, envs: Any, name: str, seed: int, iteration: int) -> None:
    """Raise at the first value of a batch that is not a number; the batch is then not used.

    Environments of others are checked step by step where they are stepped. Ours are checked here,
    a batch at once: nearly free, and just as exact about the step.
    """
    fields = {
        "reward": trajectories.rewards[..., None],
        "observation": trajectories.next_observations,
        "first observation": trajectories.observations[:, :1],
    }
    sound = all(
        np.isfinite(values.sum()) or np.isfinite(values).all() for values in fields.values()
    )
    if not sound:
        for field, values in fields.items():
            bad = ~np.isfinite(values).all(-1)
            if bad.any():
                e, t = min(np.argwhere(bad).tolist(), key=lambda at: at[1])
                action = trajectories.actions[e, t].tolist()
                _fault(name, field, values[e, t].tolist(), e, t, iteration, seed, action)
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
