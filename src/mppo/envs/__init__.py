"""The paper's environments; importing this package registers them with Gymnasium as `mppo/…`."""

from typing import Any

import gymnasium
from gymnasium.envs.registration import VectorizeMode
from gymnasium.vector import AutoresetMode, VectorEnv

from mppo.envs.tasks import BY_ID, NATIVE_TASKS, TASKS, Task

__all__ = ["TASKS", "Task", "native_vector"]


def _register_all() -> None:
    for task in NATIVE_TASKS:
        if task.registered_id not in gymnasium.registry:
            gymnasium.register(
                task.registered_id,
                entry_point=f"mppo.envs.{task.env}",
                vector_entry_point=f"mppo.envs.{task.vector_env}",
                max_episode_steps=task.horizon,
                kwargs={"task": task.id},
            )


def native_vector(env_id: str, num_envs: int, **kwargs: Any) -> VectorEnv | None:
    """Our vector environment with autoreset disabled, or None for an id we do not have.

    The table of tasks knows the ids `mppo/…` and, of Gymnasium's own, Ant-v5, HalfCheetah-v5,
    Hopper-v5, Swimmer-v5 and Walker2d-v5.

    >>> native_vector("mppo/Maze-v0", 5).num_envs
    5
    >>> native_vector("CartPole-v1", 5) is None
    True
    """
    task = BY_ID.get(env_id)
    if task is None:
        return None
    return gymnasium.make_vec(
        task.registered_id,
        num_envs=num_envs,
        vectorization_mode=VectorizeMode.VECTOR_ENTRY_POINT,
        autoreset_mode=AutoresetMode.DISABLED,
        **kwargs,
    )


_register_all()
