"""Gymnasium's two faces of a task whose dynamics are written once, for a batch."""

from collections.abc import Sequence
from typing import Any, Protocol

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from mppo.envs.contract import (
    NO_LIMIT,
    State,
    check_autoreset_mode,
    check_horizon,
    check_render_mode,
    checked_state,
    refuse_ended,
    reset_indices,
    vector_horizon,
)
from mppo.envs.generators import fresh_generator, generator_words, seeds_for, set_generator_words

RENDER_MODES = ["rgb_array"]


class Dynamics(Protocol):
    """A task for a batch of independent sub-environments. Only `start` draws random numbers."""

    num_envs: int
    horizon: int  # the default
    render_fps: int
    observation_space: gymnasium.Space
    action_space: gymnasium.Space

    def start(self, i: int, generator: np.random.Generator) -> None:
        """Put sub-environment i at a fresh start."""
        ...

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Advance all; return new arrays of rewards and of terminations."""
        ...

    def observe(self) -> np.ndarray:
        """A new array of all observations."""
        ...

    def arrays(self) -> State:
        """The live arrays that make up the state."""
        ...

    def picture(self, i: int) -> np.ndarray:
        """An RGB image of sub-environment i."""
        ...


class BatchVectorEnv(VectorEnv):
    """A vector environment of one task; `infos` stay empty but for `final_obs` (same-step mode)."""

    dynamics: Dynamics
    num_envs: int
    horizon: int
    render_mode: str | None
    metadata: dict[str, Any]
    single_observation_space: Any
    single_action_space: Any

    def __init__(
        self,
        dynamics: Dynamics,
        horizon: int | None,
        max_episode_steps: int | None,
        autoreset_mode: AutoresetMode | str,
        render_mode: str | None,
    ) -> None:
        self.dynamics, self.num_envs = dynamics, dynamics.num_envs
        self.horizon = vector_horizon(dynamics.horizon, horizon, max_episode_steps)
        self.autoreset_mode = check_autoreset_mode(autoreset_mode)
        self.render_mode = check_render_mode(render_mode, RENDER_MODES)
        self.metadata = {
            "render_modes": RENDER_MODES,
            "render_fps": dynamics.render_fps,
            "autoreset_mode": self.autoreset_mode,
        }
        self.single_observation_space = dynamics.observation_space
        self.single_action_space = dynamics.action_space
        self.observation_space = batch_space(dynamics.observation_space, self.num_envs)
        self.action_space = batch_space(dynamics.action_space, self.num_envs)
        self._generators = [fresh_generator() for _ in range(self.num_envs)]
        self._elapsed = np.zeros(self.num_envs, dtype=np.int64)
        self._pending = np.zeros(self.num_envs, dtype=np.bool_)

    @property
    def np_random(self) -> tuple[np.random.Generator, ...]:  # as SyncVectorEnv has it
        """The generators of the sub-environments."""
        return tuple(self._generators)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Reset all sub-environments, or those of options["reset_mask"]."""
        seeds = seeds_for(seed, self.num_envs)
        for i in reset_indices(options, self.num_envs):
            own = seeds[i]
            if own is not None:
                self._generators[i] = fresh_generator(own)
            self._start(i)
        return self.dynamics.observe(), {}

    def _start(self, i: int) -> None:
        self.dynamics.start(i, self._generators[i])
        self._elapsed[i] = 0
        self._pending[i] = False

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Step all sub-environments."""
        if self.autoreset_mode is AutoresetMode.DISABLED:
            refuse_ended(self._pending)
        rewards, terminated = self.dynamics.step(actions)
        self._elapsed += 1
        truncated = self._elapsed >= self.horizon
        infos: dict[str, Any] = {}
        if self.autoreset_mode is AutoresetMode.NEXT_STEP and self._pending.any():
            for i in np.flatnonzero(self._pending).tolist():
                self._start(i)
                rewards[i], terminated[i], truncated[i] = 0.0, False, False
        self._pending = terminated | truncated
        if self.autoreset_mode is AutoresetMode.SAME_STEP and self._pending.any():
            infos = self._reset_in_same_step()
        return self.dynamics.observe(), rewards, terminated, truncated, infos

    def _reset_in_same_step(self) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        final = self.dynamics.observe()
        for i in np.flatnonzero(self._pending).tolist():
            infos = self._add_info(infos, {"final_obs": final[i].copy(), "final_info": {}}, i)
            self._start(i)
        return infos

    def get_state(self) -> State:
        """All that the future depends on, as arrays with one entry for each sub-environment."""
        return {
            **{name: array.copy() for name, array in self.dynamics.arrays().items()},
            "elapsed": self._elapsed.copy(),
            "pending": self._pending.copy(),
            "generator": np.stack([generator_words(own) for own in self._generators]),
        }

    def set_state(self, state: State) -> None:
        """Continue from what get_state returned, bit for bit."""
        state = checked_state(state, self.get_state())
        for name, array in self.dynamics.arrays().items():
            array[...] = state[name]
        self._elapsed[:], self._pending[:] = state["elapsed"], state["pending"]
        for own, words in zip(self._generators, state["generator"], strict=True):
            set_generator_words(own, words)

    def render(self) -> tuple[np.ndarray, ...] | None:
        """One image of each sub-environment."""
        if self.render_mode is None:
            return None
        return tuple(self.dynamics.picture(i) for i in range(self.num_envs))


class Horizon(gymnasium.Env):
    """An environment that truncates by itself, and leaves it to TimeLimit when made with one.

    gymnasium.make wraps every environment into a TimeLimit of the registered (or given) number of
    steps and marks it by setting `spec`. An environment without a horizon of its own then counts
    no steps, so `make(id, max_episode_steps=…)` may lengthen as well as shorten the episodes.
    """

    horizon: int

    _spec: EnvSpec | None = None
    _own_horizon: int | None
    _default_horizon: int

    def set_horizon(self, default: int, own: int | None) -> None:
        """Truncate after own steps; by default after default steps, or as TimeLimit says."""
        self._default_horizon = default
        self._own_horizon = None if own is None else check_horizon(own)
        self.horizon = default if self._own_horizon is None else self._own_horizon

    @property
    def spec(self) -> EnvSpec | None:  # type: ignore[override]
        """Gymnasium's description of how this environment was made."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        own = self._own_horizon
        if own is not None and own > self._default_horizon:
            raise ValueError(
                f"horizon is {own}, but gymnasium.make truncates after {self._default_horizon} "
                f"steps by itself; pass max_episode_steps={own} in place of horizon"
            )
        if spec is not None and own is None:
            self.horizon = NO_LIMIT
        self._spec = spec


class BatchEnv(Horizon):
    """A single environment: the same dynamics with a batch of one."""

    render_mode: str | None
    observation_space: Any
    action_space: Any

    def __init__(self, dynamics: Dynamics, horizon: int | None, render_mode: str | None) -> None:
        self.dynamics = dynamics
        self.set_horizon(dynamics.horizon, horizon)
        self.render_mode = check_render_mode(render_mode, RENDER_MODES)
        self.observation_space = dynamics.observation_space
        self.action_space = dynamics.action_space
        self._elapsed = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start an episode."""
        super().reset(seed=seed)
        self.dynamics.start(0, self.np_random)
        self._elapsed = 0
        return self.dynamics.observe()[0], {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Take one step."""
        rewards, terminated = self.dynamics.step(np.asarray(action)[None])
        self._elapsed += 1
        truncated = self._elapsed >= self.horizon
        return self.dynamics.observe()[0], float(rewards[0]), bool(terminated[0]), truncated, {}

    def get_state(self) -> State:
        """All that the future depends on, as arrays; a TimeLimit around keeps its own count."""
        return {
            **{name: array.copy() for name, array in self.dynamics.arrays().items()},
            "elapsed": np.array(self._elapsed, dtype=np.int64),
            "generator": generator_words(self.np_random),
        }

    def set_state(self, state: State) -> None:
        """Continue from what get_state returned, bit for bit."""
        state = checked_state(state, self.get_state())
        for name, array in self.dynamics.arrays().items():
            array[...] = state[name]
        self._elapsed = int(state["elapsed"])
        set_generator_words(self.np_random, state["generator"])

    def render(self) -> np.ndarray | None:  # type: ignore[override]
        """An image of the task."""
        return None if self.render_mode is None else self.dynamics.picture(0)


def checked_box_actions(actions: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """The actions as a new float64 array, clipped to [-1, 1]."""
    actions = np.array(actions, dtype=np.float64)
    if actions.shape != shape:
        raise ValueError(f"actions have shape {actions.shape}; allowed: {shape}")
    np.minimum(actions, 1.0, out=actions)
    np.maximum(actions, -1.0, out=actions)
    if not np.isfinite(np.add.reduce(actions, axis=None)):  # clipped, so only a NaN does this
        raise ValueError(f"actions hold a NaN: {actions.tolist()}; pass finite numbers")
    return actions
