"""Shared by the tests: play a vector environment with fixed random actions and keep everything."""

import hashlib

import numpy as np
from gymnasium.spaces import Discrete
from gymnasium.vector import AutoresetMode, VectorEnv

NUMPY_IDS = ("mppo/Maze-v0", "mppo/SparseCartPoleSwingup-v0", "mppo/SparseDoublePendulum-v0")
SPARSE_IDS = ("mppo/SparseHalfCheetah-v0", "mppo/SparseHopper-v0", "mppo/SparseWalker2d-v0")
DENSE_IDS = ("Ant-v5", "HalfCheetah-v5", "Hopper-v5", "Swimmer-v5", "Walker2d-v5")
DENSE_IDS += ("Humanoid-v5", "HumanoidStandup-v5", "InvertedDoublePendulum-v5")
DENSE_IDS += ("InvertedPendulum-v5", "Pusher-v5", "Reacher-v5")
NATIVE_IDS = NUMPY_IDS + SPARSE_IDS + tuple(f"mppo/{name}" for name in DENSE_IDS)


def actions_for(env: VectorEnv, steps: int, seed: int = 0) -> np.ndarray:
    """Actions of shape (steps, num_envs, …), some beyond the bounds where there are bounds."""
    generator = np.random.default_rng(seed)
    space = env.single_action_space
    if isinstance(space, Discrete):
        return generator.integers(0, space.n, (steps, env.num_envs))
    assert space.shape is not None
    return generator.normal(size=(steps, env.num_envs, *space.shape)).astype(np.float32)


def play(env: VectorEnv, steps: int, seed: int = 0) -> list[np.ndarray]:
    """Observations, rewards, terminated, truncated, each stacked over the steps."""
    outcomes = []
    for actions in actions_for(env, steps, seed):
        observations, rewards, terminated, truncated, _ = env.step(actions)
        outcomes.append((observations, rewards, terminated, truncated))
        ended = terminated | truncated
        if env.metadata["autoreset_mode"] is AutoresetMode.DISABLED and ended.any():
            observations, _ = env.reset(options={"reset_mask": ended})
            outcomes[-1] = (observations, rewards, terminated, truncated)
    return [np.stack(column) for column in zip(*outcomes, strict=True)]


def digest(arrays: list[np.ndarray]) -> str:
    """A hash of all bits."""
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()
