"""SparseHalfCheetah, SparseHopper, SparseWalker2d: 1 for each step past a line, nothing else."""

from typing import Any

import numpy as np

from mppo.envs.batched.batch import Horizon
from mppo.envs.contract import NO_LIMIT, State, check_render_mode
from mppo.envs.robots.factory import Workshop, draw, mujoco_task
from mppo.envs.robots.lane import Lane
from mppo.envs.robots.vector import MujocoVectorEnv

RENDER_MODES = ["rgb_array", "depth_array"]


class SparseLocomotion(Horizon):
    """One lane as a single environment; `info` holds the position that the reward looks at.

    A step pays 1 while the torso is more than `threshold` metres ahead of the start
    (`absolute=True`: or behind it). `observe_position=True` shows that position to the agent, as
    the first number. Further keyword arguments go to Gymnasium's v5 environment of the robot.
    """

    render_mode: str | None

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES}  # noqa: RUF012  (as gymnasium.Env)

    def __init__(
        self, task: str, horizon: int | None, render_mode: str | None, **kwargs: Any
    ) -> None:
        known = mujoco_task(task)
        self.set_horizon(known.horizon, horizon)
        self.render_mode = check_render_mode(render_mode, RENDER_MODES)
        self._workshop = Workshop(known, **kwargs)
        self.lane: Lane = self._workshop.lane(NO_LIMIT)
        self.observation_space = self._workshop.observation_space
        self.action_space = self._workshop.action_space
        base = self._workshop.base
        self.metadata = {"render_modes": RENDER_MODES, "render_fps": base.metadata["render_fps"]}
        self.dt: float = base.dt
        self._renderer: Any = None

    @property
    def model(self) -> Any:
        """MuJoCo's model."""
        return self.lane.model

    @property
    def data(self) -> Any:
        """MuJoCo's state."""
        return self.lane.data

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start an episode."""
        super().reset(seed=seed)
        self.lane.generator = self.np_random
        self.lane.reset()
        return self.lane.observation.copy(), self._info()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Take one step."""
        reward, terminated, _ = self.lane.step(np.asarray(action))
        truncated = self.lane.elapsed >= self.horizon
        return self.lane.observation.copy(), reward, terminated, truncated, self._info()

    def _info(self) -> dict[str, Any]:
        return {"x_position": float(self.lane.data.qpos[0])}

    def get_state(self) -> State:
        """All that the future depends on, as arrays."""
        return self.lane.get_state()

    def set_state(self, state: State) -> None:
        """Continue from what get_state returned, bit for bit."""
        self.lane.generator = self.np_random
        self.lane.set_state(state)

    def render(self) -> Any:
        """An image of the robot."""
        if self.render_mode is None:
            return None
        if self._renderer is None:
            self._renderer = self._workshop.renderer(self.lane)
        return draw(self._renderer, self.render_mode)

    def close(self) -> None:
        """Release the renderer."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None


class SparseHalfCheetah(SparseLocomotion):
    """HalfCheetah-v5's body; pays past 5 m."""

    def __init__(
        self, horizon: int | None = None, render_mode: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__("SparseHalfCheetah-v0", horizon, render_mode, **kwargs)


class SparseHopper(SparseLocomotion):
    """Hopper-v5's body and falls; pays past 1 m."""

    def __init__(
        self, horizon: int | None = None, render_mode: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__("SparseHopper-v0", horizon, render_mode, **kwargs)


class SparseWalker2d(SparseLocomotion):
    """Walker2d's body (feet as before v5) and falls; pays past 1 m."""

    def __init__(
        self, horizon: int | None = None, render_mode: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__("SparseWalker2d-v0", horizon, render_mode, **kwargs)


class SparseHalfCheetahVector(MujocoVectorEnv):
    """Several SparseHalfCheetah."""

    def __init__(self, num_envs: int = 1, threads: int = 1, **kwargs: Any) -> None:
        super().__init__("SparseHalfCheetah-v0", num_envs, threads, **kwargs)


class SparseHopperVector(MujocoVectorEnv):
    """Several SparseHopper."""

    def __init__(self, num_envs: int = 1, threads: int = 1, **kwargs: Any) -> None:
        super().__init__("SparseHopper-v0", num_envs, threads, **kwargs)


class SparseWalker2dVector(MujocoVectorEnv):
    """Several SparseWalker2d."""

    def __init__(self, num_envs: int = 1, threads: int = 1, **kwargs: Any) -> None:
        super().__init__("SparseWalker2d-v0", num_envs, threads, **kwargs)
