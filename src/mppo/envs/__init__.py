"""The paper's environments; importing this package registers them with Gymnasium as `mppo/…`."""

from typing import Any

import gymnasium
from gymnasium.envs.registration import VectorizeMode
from gymnasium.vector import AutoresetMode, VectorEnv

from mppo.envs.tasks import TASKS, Task

__all__ = ["TASKS", "Task", "native_vector"]

_NUMPY_TASKS = {
    "Maze-v0": ("batched.maze", "Maze", 1000),
    "SparseCartPoleSwingup-v0": ("batched.cartpole_swingup", "SparseCartPoleSwingup", 500),
    "SparseDoublePendulum-v0": ("batched.double_pendulum", "SparseDoublePendulum", 500),
}
_SPARSE_TASKS = ("SparseHalfCheetah", "SparseHopper", "SparseWalker2d")
_DENSE_TASKS = {
    "Ant-v5": "ant_v5:AntEnv",
    "HalfCheetah-v5": "half_cheetah_v5:HalfCheetahEnv",
    "Hopper-v5": "hopper_v5:HopperEnv",
    "Swimmer-v5": "swimmer_v5:SwimmerEnv",
    "Walker2d-v5": "walker2d_v5:Walker2dEnv",
}


def _register(name: str, entry_point: str, vector_entry_point: str, horizon: int) -> None:
    env_id = f"mppo/{name}"
    if env_id not in gymnasium.registry:
        gymnasium.register(
            env_id,
            entry_point=entry_point,
            vector_entry_point=vector_entry_point,
            max_episode_steps=horizon,
        )


def _register_all() -> None:
    for name, (module, kind, horizon) in _NUMPY_TASKS.items():
        path = f"mppo.envs.{module}:{kind}"
        _register(name, path, f"{path}Vector", horizon)
    for kind in _SPARSE_TASKS:
        path = f"mppo.envs.robots.sparse:{kind}"
        _register(f"{kind}-v0", path, f"{path}Vector", 1000)
    for name, path in _DENSE_TASKS.items():
        kind = name.removesuffix("-v5")
        _register(
            name, f"gymnasium.envs.mujoco.{path}", f"mppo.envs.robots.vector:{kind}Vector", 1000
        )


def native_vector(env_id: str, num_envs: int, **kwargs: Any) -> VectorEnv | None:
    """Our vector environment with autoreset disabled, or None for an id we do not have.

    Knows the ids `mppo/…` and, of Gymnasium's own, Ant-v5, HalfCheetah-v5, Hopper-v5, Swimmer-v5
    and Walker2d-v5.

    >>> native_vector("mppo/Maze-v0", 5).num_envs
    5
    >>> native_vector("CartPole-v1", 5) is None
    True
    """
    name = env_id.removeprefix("mppo/")
    ours = env_id.startswith("mppo/") and f"mppo/{name}" in gymnasium.registry
    if not ours and name not in _DENSE_TASKS:
        return None
    return gymnasium.make_vec(
        f"mppo/{name}",
        num_envs=num_envs,
        vectorization_mode=VectorizeMode.VECTOR_ENTRY_POINT,
        autoreset_mode=AutoresetMode.DISABLED,
        **kwargs,
    )


_register_all()
