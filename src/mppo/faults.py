"""Environments that break their contract are named, not endured."""

from __future__ import annotations

import numpy as np
from gymnasium.vector import VectorEnv

from mppo.errors import EnvironmentFault
from mppo.types import Trajectories


def check(
    trajectories: Trajectories, envs: VectorEnv, name: str, seed: int, iteration: int
) -> None:
    """Raise at the first value that is not a number; the whole batch at once is nearly free."""
    fields = {
        "reward": trajectories.rewards,
        "observation": trajectories.next_observations,
        "first observation": trajectories.observations[:, 0],
    }
    if all(np.isfinite(np.sum(values)) or np.isfinite(values).all() for values in fields.values()):
        return
    for field, values in fields.items():
        bad = ~np.isfinite(values)
        if not bad.any():
            continue
        steps = bad.reshape(*values.shape[: 1 if field == "first observation" else 2], -1).any(-1)
        where = np.argwhere(steps)
        first = where[np.argmin(where[:, 1])] if where.shape[1] > 1 else np.array([*where[0], 0])
        e, t = int(first[0]), int(first[1])
        value = values[e] if field == "first observation" else values[e, t]
        raise EnvironmentFault(
            f'environment "{name}" gave a {field} that is not finite: {value}; environment {e}, '
            f"step {t} of iteration {iteration}, seed {seed}, last action "
            f"{trajectories.actions[e, t].tolist()}"
        )
