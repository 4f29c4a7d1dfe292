"""MuJoCo locomotion as a vector environment made of lanes, equal to Gymnasium's bit for bit."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from mppo.envs.contract import (
    State,
    check_autoreset_mode,
    check_num_envs,
    check_render_mode,
    checked_state,
    refuse_ended,
    reset_indices,
    vector_horizon,
)
from mppo.envs.generators import fresh_generator, seeds_for
from mppo.envs.robots.factory import Workshop, draw, mujoco_task
from mppo.envs.robots.lane import Lane

_RENDER_MODES = ["rgb_array"]


class MujocoVectorEnv(VectorEnv):
    """Several lanes of one MuJoCo task; `infos` stay empty but for `final_obs` (same-step mode).

    `task` is a Gymnasium id such as "Hopper-v5" or one of ours such as "mppo/SparseHopper-v0".
    With `threads` above 1 the lanes step in a thread pool; the numbers are the same. Further
    keyword arguments go to Gymnasium's environment.
    """

    num_envs: int
    threads: int
    render_mode: str | None
    workshop: Workshop
    horizon: int
    metadata: dict[str, Any]
    _pool: ThreadPoolExecutor | None = None  # Gymnasium 1.2 closes also what could not be made
    _renderers: Sequence[Any] = ()

    def __init__(
        self,
        task: str,
        num_envs: int = 1,
        threads: int = 1,
        *,
        horizon: int | None = None,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **kwargs: Any,
    ) -> None:
        known = mujoco_task(task)
        self.num_envs = check_num_envs(num_envs)
        self.threads = _checked_threads(threads)
        self.autoreset_mode = check_autoreset_mode(autoreset_mode)
        self.render_mode = check_render_mode(render_mode, _RENDER_MODES)
        self.workshop = Workshop(known, **kwargs)
        self.horizon = vector_horizon(known.horizon, horizon, max_episode_steps)
        self.lanes: list[Lane] = [self.workshop.lane(self.horizon) for _ in range(self.num_envs)]
        self.metadata = {
            "render_modes": _RENDER_MODES,
            "render_fps": self.workshop.base.metadata["render_fps"],
            "autoreset_mode": self.autoreset_mode,
        }
        self.single_observation_space = self.workshop.observation_space
        self.single_action_space = self.workshop.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._rewards = np.zeros(self.num_envs)
        self._terminated = np.zeros(self.num_envs, dtype=np.bool_)
        self._truncated = np.zeros(self.num_envs, dtype=np.bool_)
        self._pending = np.zeros(self.num_envs, dtype=np.bool_)
        if self.threads > 1:
            self._pool = ThreadPoolExecutor(self.threads)

    @property
    def np_random(self) -> tuple[np.random.Generator, ...]:  # as SyncVectorEnv has it
        """The generators of the sub-environments."""
        return tuple(lane.generator for lane in self.lanes)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Reset all sub-environments, or those of options["reset_mask"]."""
        seeds = seeds_for(seed, self.num_envs)
        for i in reset_indices(options, self.num_envs):
            lane, lane_seed = self.lanes[i], seeds[i]
            if lane_seed is not None:
                lane.generator = fresh_generator(lane_seed)
            lane.reset()
            self._pending[i] = False
        return self._stacked(), {}

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Step all sub-environments."""
        actions = np.asarray(actions)
        if actions.shape != self.action_space.shape:
            raise ValueError(
                f"actions have shape {actions.shape}; allowed: {self.action_space.shape}"
            )
        if self.autoreset_mode is AutoresetMode.DISABLED:
            refuse_ended(self._pending)
        if self._pool is None:
            for i in range(self.num_envs):
                self._step_lane(i, actions[i])
        else:
            list(self._pool.map(self._step_lane, range(self.num_envs), actions))
        self._pending = self._terminated | self._truncated
        infos = self._reset_in_same_step()
        flags = self._terminated.copy(), self._truncated.copy()
        return self._stacked(), self._rewards.copy(), *flags, infos

    def _step_lane(self, i: int, action: np.ndarray) -> None:
        lane = self.lanes[i]
        if self._pending[i] and self.autoreset_mode is AutoresetMode.NEXT_STEP:
            lane.reset()
            outcome = 0.0, False, False
        else:
            outcome = lane.step(action)
        self._rewards[i], self._terminated[i], self._truncated[i] = outcome

    def _reset_in_same_step(self) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            for i in np.flatnonzero(self._pending).tolist():
                final = {"final_obs": self.lanes[i].observation.copy(), "final_info": {}}
                infos = self._add_info(infos, final, i)
                self.lanes[i].reset()
            self._pending[:] = False
        return infos

    def _stacked(self) -> np.ndarray:
        return np.stack([lane.observation for lane in self.lanes])

    def get_state(self) -> State:
        """All that the future depends on, as arrays with one row for each sub-environment."""
        states = [lane.get_state() for lane in self.lanes]
        stacked = {name: np.stack([state[name] for state in states]) for name in states[0]}
        return {**stacked, "pending": self._pending.copy()}

    def set_state(self, state: State) -> None:
        """Continue from what get_state returned, bit for bit."""
        state = checked_state(state, self.get_state())
        for i, lane in enumerate(self.lanes):
            lane.set_state({name: rows[i] for name, rows in state.items() if name != "pending"})
        self._pending[:] = state["pending"]

    def render(self) -> tuple[np.ndarray, ...] | None:
        """One image of each sub-environment."""
        if self.render_mode is None:
            return None
        if not self._renderers:
            self._renderers = [self.workshop.renderer(lane) for lane in self.lanes]
        return tuple(draw(renderer, self.render_mode) for renderer in self._renderers)

    def close_extras(self, **kwargs: Any) -> None:
        """Release threads and renderers."""
        if self._pool is not None:
            self._pool.shutdown()
        for renderer in self._renderers:
            renderer.close()
        self._renderers = ()


def _checked_threads(threads: int) -> int:
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or threads < 1:
        raise ValueError(f"threads is {threads!r}; allowed: a whole number, 1 or more")
    return int(threads)


class AntVector(MujocoVectorEnv):
    """Several Ant-v5."""

    def __init__(self, num_envs: int = 1, threads: int = 1, **kwargs: Any) -> None:
        super().__init__("Ant-v5", num_envs, threads, **kwargs)


class HalfCheetahVector(MujocoVectorEnv):
    """Several HalfCheetah-v5."""

    def __init__(self, num_envs: int = 1, threads: int = 1, **kwargs: Any) -> None:
        super().__init__("HalfCheetah-v5", num_envs, threads, **kwargs)


class HopperVector(MujocoVectorEnv):
    """Several Hopper-v5."""

    def __init__(self, num_envs: int = 1, threads: int = 1, **kwargs: Any) -> None:
        super().__init__("Hopper-v5", num_envs, threads, **kwargs)


class SwimmerVector(MujocoVectorEnv):
    """Several Swimmer-v5."""

    def __init__(self, num_envs: int = 1, threads: int = 1, **kwargs: Any) -> None:
        super().__init__("Swimmer-v5", num_envs, threads, **kwargs)


class Walker2dVector(MujocoVectorEnv):
    """Several Walker2d-v5."""

    def __init__(self, num_envs: int = 1, threads: int = 1, **kwargs: Any) -> None:
        super().__init__("Walker2d-v5", num_envs, threads, **kwargs)
