"""MuJoCo locomotion as a simulation made of lanes, equal to Gymnasium's bit for bit."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from gymnasium.spaces import Box

from mppo.envs.contract import State, check_count
from mppo.envs.robots.factory import LaneFactory
from mppo.envs.robots.lane import MujocoLane
from mppo.envs.tasks import Task

RENDER_MODES: list[str] = ["rgb_array", "depth_array"]


class RobotSimulation:
    """Several lanes of one MuJoCo task; `kwargs` are those of `LaneFactory`.

    With `threads` above 1 the lanes step in a thread pool; the numbers are the same.
    """

    render_modes: list[str] = RENDER_MODES

    def __init__(
        self, task: Task, num_envs: int, horizon: int, threads: int = 1, **kwargs: Any
    ) -> None:
        self.factory: LaneFactory = LaneFactory(task, **kwargs)
        self.lanes: list[MujocoLane] = [self.factory.lane(horizon) for _ in range(num_envs)]
        self.observation_space: Box = self.factory.observation_space
        self.action_space: Box = self.factory.action_space
        self.render_fps: int = self.factory.base.metadata["render_fps"]
        threads = check_count("threads", threads)
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._renderers: dict[int, Any] = {}

    @property
    def generators(self) -> list[np.random.Generator]:
        """One for each lane."""
        return [lane.generator for lane in self.lanes]

    @property
    def elapsed(self) -> np.ndarray:
        """The number of steps that each episode has lasted."""
        return np.array([lane.elapsed for lane in self.lanes])

    def use_generator(self, i: int, generator: np.random.Generator) -> None:
        """Draw the starts of lane i from this generator."""
        self.lanes[i].generator = generator

    def start(self, i: int) -> None:
        """Put lane i at a fresh start."""
        self.lanes[i].reset()

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Advance all; return new arrays of rewards and of terminations."""
        actions = np.asarray(actions)
        shape = (len(self.lanes), *self.action_space.shape)
        if actions.shape != shape:
            raise ValueError(f"actions have shape {actions.shape}; allowed: {shape}")
        advance = lambda lane, action: lane.step(action)
        pairs = self.lanes, actions
        outcomes = map(advance, *pairs) if self._pool is None else self._pool.map(advance, *pairs)
        rewards, terminated, _ = zip(*outcomes, strict=True)
        return np.array(rewards), np.array(terminated)

    def observe(self) -> np.ndarray:
        """A new array of all observations."""
        return np.stack([lane.observation for lane in self.lanes])

    def info(self, i: int) -> dict[str, Any]:
        """The position that the reward of the sparse tasks looks at."""
        return {"x_position": float(self.lanes[i].data.qpos[0])}

    def get_state(self) -> State:
        """All that the future depends on, as arrays with one row for each lane."""
        states = [lane.get_state() for lane in self.lanes]
        return {name: np.stack([state[name] for state in states]) for name in states[0]}

    def set_state(self, state: State) -> None:
        """Continue from what get_state returned, bit for bit."""
        for i, lane in enumerate(self.lanes):
            lane.set_state({name: rows[i] for name, rows in state.items()})

    def picture(self, i: int, mode: str) -> np.ndarray:
        """An image of lane i."""
        if i not in self._renderers:
            self._renderers[i] = self.factory.renderer(self.lanes[i])
        renderer = self._renderers[i]
        if renderer.viewer is not None:  # Gymnasium draws into whatever context was current
            renderer.viewer.make_context_current()
        return renderer.render(mode)

    def close(self) -> None:
        """Release threads and renderers."""
        if self._pool is not None:
            self._pool.shutdown()
        for renderer in self._renderers.values():
            renderer.close()
        self._renderers = {}
