"""The paper's environments; importing this package registers them with Gymnasium as `mppo/…`."""

import warnings
from typing import Any

import gymnasium
from gymnasium.envs.registration import VectorizeMode
from gymnasium.vector import AutoresetMode, VectorEnv

from mppo.envs.contract import Differs
from mppo.envs.tasks import BY_ID, NATIVE_TASKS, OWN, TASKS, Task
from mppo.errors import SlowPath

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

    The table of tasks knows the ids `mppo/…`, of Gymnasium's own the eleven MuJoCo robots of
    version 5, and robots that were registered by `register_robot`. Where compiled steps do not
    give the bits of the robot's own environment, there is a warning, and no vector environment.

    >>> native_vector("mppo/Maze-v0", 5).num_envs
    5
    >>> native_vector("CartPole-v1", 5) is None
    True
    """
    task = BY_ID.get(env_id)
    if task is None:
        return None
    name = task.id if task.robot == OWN else task.registered_id
    try:
        return gymnasium.make_vec(
            name,
            num_envs=num_envs,
            vectorization_mode=VectorizeMode.VECTOR_ENTRY_POINT,
            autoreset_mode=AutoresetMode.DISABLED,
            **kwargs,
        )
    except Differs as difference:
        if task.registered_id == task.id and task.robot != OWN:
            raise  # there is no other way to step it
        warnings.warn(
            f"{difference}; its own Python steps are taken instead, which is slower",
            SlowPath,
            stacklevel=2,
        )
        return None


_register_all()
