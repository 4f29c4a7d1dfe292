"""Tasks whose dynamics are written once, for a whole batch, in NumPy or Numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import gymnasium
import numpy as np

from mppo.envs.contract import State, fresh_generator, generator_words, set_generator_words


class Dynamics(Protocol):
    """A task for a batch of independent sub-environments. Only `start` draws random numbers."""

    render_fps: int
    observation_space: gymnasium.Space
    action_space: gymnasium.Space

    def start(self, i: int, generator: np.random.Generator) -> None: ...  # of sub-environment i
    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...  # rewards, ends: new
    def observe(self) -> np.ndarray: ...  # a new array of all observations
    def arrays(self) -> State: ...  # the live arrays that make up the state
    def picture(self, i: int) -> np.ndarray: ...  # an RGB image of sub-environment i


class BatchedSimulation:
    """Dynamics, with the generators and the lengths of the episodes that they leave out."""

    render_modes: tuple[str, ...] = ("rgb_array",)
    lanes: tuple[()] = ()

    def __init__(self, dynamics: Dynamics, num_envs: int) -> None:
        self.dynamics: Dynamics = dynamics
        self.render_fps: int = dynamics.render_fps
        self.observation_space: gymnasium.Space = dynamics.observation_space
        self.action_space: gymnasium.Space = dynamics.action_space
        self.observe: Callable[[], np.ndarray] = dynamics.observe
        self.generators: list[np.random.Generator] = [fresh_generator() for _ in range(num_envs)]
        self.elapsed: np.ndarray = np.zeros(num_envs, dtype=np.int64)

    def use_generator(self, i: int, generator: np.random.Generator) -> None:
        """Draw the starts of sub-environment i from this generator."""
        self.generators[i] = generator

    def start(self, i: int) -> None:
        """Put sub-environment i at a fresh start."""
        self.dynamics.start(i, self.generators[i])
        self.elapsed[i] = 0

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Advance all; return new arrays of rewards and of terminations."""
        outcome = self.dynamics.step(actions)
        self.elapsed += 1
        return outcome

    def info(self, i: int) -> dict[str, Any]:
        """Nothing: all is in the observation."""
        return {}

    def get_state(self) -> State:
        """All that the future depends on, as arrays with one entry for each sub-environment."""
        return {
            **{name: array.copy() for name, array in self.dynamics.arrays().items()},
            "elapsed": self.elapsed.copy(),
            "generator": np.stack([generator_words(own) for own in self.generators]),
        }

    def set_state(self, state: State) -> None:
        """Continue from what get_state returned, bit for bit."""
        for name, array in self.dynamics.arrays().items():
            array[...] = state[name]
        self.elapsed[:] = state["elapsed"]
        for own, words in zip(self.generators, state["generator"], strict=True):
            set_generator_words(own, words)

    def picture(self, i: int, mode: str) -> np.ndarray:
        """An RGB image of sub-environment i."""
        return self.dynamics.picture(i)

    def close(self) -> None:
        """There is nothing to release."""


def checked_box_actions(actions: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """The actions as a new float64 array, limited to [-1, 1] as motors limit what they are told."""
    actions = np.array(actions, dtype=np.float64)
    if actions.shape != shape:
        raise ValueError(f"actions have shape {actions.shape}; allowed: {shape}")
    np.minimum(actions, 1.0, out=actions)
    np.maximum(actions, -1.0, out=actions)
    if not np.isfinite(np.add.reduce(actions, axis=None)):  # limited, so only a NaN does this
        raise ValueError(f"actions hold a NaN: {actions.tolist()}; pass finite numbers")
    return actions
