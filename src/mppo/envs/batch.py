"""Gymnasium's two faces of a simulation: a vector environment, and a single one of a batch of 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec, load_env_creator
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from mppo.envs import contract
from mppo.envs.contract import NO_LIMIT, Lane, State, check_count
from mppo.envs.tasks import task_of

if TYPE_CHECKING:
    from mppo.envs.batched.dynamics import BatchedSimulation
    from mppo.envs.robots.simulation import RobotSimulation

    Simulation = BatchedSimulation | RobotSimulation


def simulation_of(task: str, num_envs: int, horizon: int, **kwargs: Any) -> Simulation:
    """The simulation behind a task of the table; `kwargs` are the task's own arguments."""
    row = task_of(task)
    if row.robot:
        from mppo.envs.robots.simulation import RobotSimulation

        return RobotSimulation(row, num_envs, horizon, **kwargs)
    from mppo.envs.batched.dynamics import BatchedSimulation

    dynamics: Any = load_env_creator(f"mppo.envs.batched.{row.dynamics}")
    return BatchedSimulation(dynamics(num_envs, **kwargs), num_envs)


class BatchVectorEnv(VectorEnv):
    """A vector environment of one task; `infos` stay empty but for `final_obs` (same-step mode).

    `task` is an id of the table such as "Hopper-v5" or "mppo/Maze-v0".
    """

    metadata: dict[str, Any]
    single_observation_space: Any
    single_action_space: Any
    render_mode: str | None
    simulation: Simulation = cast("Simulation", None)  # Gymnasium 1.2 closes what could not be made

    def __init__(
        self,
        task: str,
        num_envs: int = 1,
        *,
        horizon: int | None = None,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **kwargs: Any,
    ) -> None:
        self.num_envs: int = check_count("num_envs", num_envs)
        self.horizon: int = vector_horizon(task_of(task).horizon, horizon, max_episode_steps)
        try:
            self.autoreset_mode: AutoresetMode = AutoresetMode(autoreset_mode)
        except ValueError:
            allowed = ", ".join(repr(known.value) for known in AutoresetMode)
            raise ValueError(f"autoreset_mode is {autoreset_mode!r}; allowed: {allowed}") from None
        self.simulation = simulation_of(task, self.num_envs, self.horizon, **kwargs)
        self.render_mode = _checked_render_mode(render_mode, self.simulation.render_modes)
        self.metadata = {
            "render_modes": self.simulation.render_modes,
            "render_fps": self.simulation.render_fps,
            "autoreset_mode": self.autoreset_mode,
        }
        self.single_observation_space = self.simulation.observation_space
        self.single_action_space = self.simulation.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._pending = np.zeros(self.num_envs, dtype=np.bool_)

    @property
    def lanes(self) -> Sequence[Lane]:
        """The sub-environments as lanes; none for tasks that step all of them at once."""
        return self.simulation.lanes

    @property
    def np_random(self) -> tuple[np.random.Generator, ...]:  # as SyncVectorEnv has it
        """The generators of the sub-environments."""
        return tuple(self.simulation.generators)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Reset all sub-environments, or those of options["reset_mask"]."""
        seeds = contract.seeds_for(seed, self.num_envs)
        for i in contract.reset_indices(options, self.num_envs):
            if seeds[i] is not None:
                self.simulation.use_generator(i, contract.fresh_generator(seeds[i]))
            self.simulation.start(i)
            self._pending[i] = False
        return self.simulation.observe(), {}

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Step all sub-environments."""
        if self.autoreset_mode is AutoresetMode.DISABLED and self._pending.any():
            raise RuntimeError(
                f"sub-environments {np.flatnonzero(self._pending).tolist()} have ended; before "
                "stepping, call reset(options={'reset_mask': terminated | truncated})"
            )
        rewards, terminated = self.simulation.step(actions)
        truncated = self.simulation.elapsed >= self.horizon
        infos: dict[str, Any] = {}
        if self.autoreset_mode is AutoresetMode.NEXT_STEP and self._pending.any():
            for i in np.flatnonzero(self._pending).tolist():
                self.simulation.start(i)
                rewards[i], terminated[i], truncated[i] = 0.0, False, False
        self._pending = terminated | truncated
        if self.autoreset_mode is AutoresetMode.SAME_STEP and self._pending.any():
            final = self.simulation.observe()
            for i in np.flatnonzero(self._pending).tolist():
                infos = self._add_info(infos, {"final_obs": final[i].copy(), "final_info": {}}, i)
                self.simulation.start(i)
            self._pending[:] = False
        return self.simulation.observe(), rewards, terminated, truncated, infos

    def get_state(self) -> State:
        """All that the future depends on, as arrays with one entry for each sub-environment."""
        return {**self.simulation.get_state(), "pending": self._pending.copy()}

    def set_state(self, state: State) -> None:
        """Continue from what get_state returned, bit for bit."""
        state = contract.checked_state(state, self.get_state())
        self._pending[:] = state.pop("pending")
        self.simulation.set_state(state)

    def render(self) -> tuple[np.ndarray, ...] | None:
        """One image of each sub-environment."""
        if self.render_mode is None:
            return None
        return tuple(self.simulation.picture(i, self.render_mode) for i in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """Release what draws the images."""
        if self.simulation is not None:
            self.simulation.close()


class BatchEnv(gymnasium.Env):
    """A single environment: a simulation of one sub-environment.

    gymnasium.make wraps every environment into a TimeLimit of the registered (or given) number of
    steps and marks it by setting `spec`. An environment without a horizon of its own then counts
    no steps, so `make(id, max_episode_steps=…)` may lengthen as well as shorten the episodes.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}  # noqa: RUF012  (as gymnasium.Env)
    observation_space: Any
    action_space: Any
    render_mode: str | None
    simulation: Simulation
    _spec: EnvSpec | None = None

    def __init__(
        self, task: str, horizon: int | None = None, render_mode: str | None = None, **kwargs: Any
    ) -> None:
        self._default_horizon = task_of(task).horizon
        self._own_horizon = None if horizon is None else check_count("horizon", horizon)
        self.horizon: int = self._own_horizon or self._default_horizon
        self.simulation = simulation_of(task, 1, NO_LIMIT, **kwargs)
        self.render_mode = _checked_render_mode(render_mode, self.simulation.render_modes)
        self.metadata = {
            "render_modes": self.simulation.render_modes,
            "render_fps": self.simulation.render_fps,
        }
        self.observation_space = self.simulation.observation_space
        self.action_space = self.simulation.action_space

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

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start an episode."""
        super().reset(seed=seed)
        self.simulation.use_generator(0, self.np_random)
        self.simulation.start(0)
        return self.simulation.observe()[0], self.simulation.info(0)

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Take one step."""
        rewards, terminated = self.simulation.step(np.asarray(action)[None])
        truncated = bool(self.simulation.elapsed[0] >= self.horizon)
        outcome = float(rewards[0]), bool(terminated[0]), truncated
        return self.simulation.observe()[0], *outcome, self.simulation.info(0)

    def get_state(self) -> State:
        """All that the future depends on, as arrays; a TimeLimit around keeps its own count."""
        return self.simulation.get_state()

    def set_state(self, state: State) -> None:
        """Continue from what get_state returned, bit for bit."""
        self.simulation.use_generator(0, self.np_random)
        self.simulation.set_state(contract.checked_state(state, self.get_state()))

    def render(self) -> Any:
        """An image of the task."""
        return None if self.render_mode is None else self.simulation.picture(0, self.render_mode)

    def close(self) -> None:
        """Release what draws the images."""
        self.simulation.close()


def lanes_of(envs: VectorEnv) -> Sequence[Lane]:
    """The lanes of a vector environment; none if it is stepped as a whole.

    Only our own class is asked: an attribute of that name may be anything of a user's. A subclass
    with a `step` or `reset` of its own is stepped by them.
    """
    ours, kind = BatchVectorEnv, type(envs)
    if isinstance(envs, ours) and (kind.step, kind.reset) == (ours.step, ours.reset):
        return envs.lanes
    return ()


def vector_horizon(default: int, horizon: int | None, max_episode_steps: int | None) -> int:
    """The number of steps after which a vector environment truncates.

    gymnasium.make_vec always passes max_episode_steps, the registered number if the user gave
    none; that number is the default and yields to horizon. Gymnasium's -1 means no limit.

    >>> vector_horizon(1000, horizon=5000, max_episode_steps=1000)
    5000
    """
    limits = []
    if horizon is not None:
        limits.append(check_count("horizon", horizon))
    if max_episode_steps == -1:
        limits.append(NO_LIMIT)
    elif max_episode_steps is not None and (horizon is None or max_episode_steps != default):
        limits.append(check_count("max_episode_steps", max_episode_steps))
    return min(limits, default=default)


def _checked_render_mode(mode: str | None, allowed: Sequence[str]) -> str | None:
    if mode is not None and mode not in allowed:
        raise ValueError(f"render_mode is {mode!r}; allowed: None, {', '.join(allowed)}")
    return mode
