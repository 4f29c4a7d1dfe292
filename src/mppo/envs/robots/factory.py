"""The MuJoCo tasks: which robot, which Gymnasium class, dense or sparse reward."""

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.spaces import Box

from mppo.envs.contract import NO_LIMIT, check_horizon
from mppo.envs.robots.engine import mujoco, quieten
from mppo.envs.robots.lane import Lane
from mppo.envs.robots.rules import AntLane, HalfCheetahLane, HopperLane, SwimmerLane, Walker2dLane


@dataclass(frozen=True)
class Robot:
    """Where Gymnasium keeps a robot, and our lane for it."""

    module: str
    name: str
    lane: type[Lane]


_ANT = Robot("gymnasium.envs.mujoco.ant_v5", "AntEnv", AntLane)
_HALF_CHEETAH = Robot("gymnasium.envs.mujoco.half_cheetah_v5", "HalfCheetahEnv", HalfCheetahLane)
_HOPPER = Robot("gymnasium.envs.mujoco.hopper_v5", "HopperEnv", HopperLane)
_SWIMMER = Robot("gymnasium.envs.mujoco.swimmer_v5", "SwimmerEnv", SwimmerLane)
_WALKER2D = Robot("gymnasium.envs.mujoco.walker2d_v5", "Walker2dEnv", Walker2dLane)


@dataclass(frozen=True)
class MujocoTask:
    """A robot, and for the sparse tasks the distance (m) past which a step pays 1."""

    robot: Robot
    threshold: float | None = None
    xml_file: str | None = None  # None: Gymnasium's own
    horizon: int = 1000


MUJOCO_TASKS = {
    "Ant-v5": MujocoTask(_ANT),
    "HalfCheetah-v5": MujocoTask(_HALF_CHEETAH),
    "Hopper-v5": MujocoTask(_HOPPER),
    "Swimmer-v5": MujocoTask(_SWIMMER),
    "Walker2d-v5": MujocoTask(_WALKER2D),
    "SparseHalfCheetah-v0": MujocoTask(_HALF_CHEETAH, threshold=5.0),
    "SparseHopper-v0": MujocoTask(_HOPPER, threshold=1.0),
    # The feet of walker2d_v5.xml have another friction than those of the paper's time.
    "SparseWalker2d-v0": MujocoTask(_WALKER2D, threshold=1.0, xml_file="walker2d.xml"),
}


def mujoco_task(name: str) -> MujocoTask:
    """The task of that name, with or without "mppo/" before it."""
    task = MUJOCO_TASKS.get(name.removeprefix("mppo/"))
    if task is None:
        raise ValueError(f"task is {name!r}; allowed: {', '.join(MUJOCO_TASKS)}")
    return task


class Workshop:
    """Makes the lanes of one task: parses the arguments once and shares the model."""

    absolute: bool
    task: MujocoTask
    threshold: float
    model: Any

    def __init__(
        self,
        task: MujocoTask,
        *,
        threshold: float | None = None,
        absolute: bool = False,
        observe_position: bool = False,
        **kwargs: Any,
    ) -> None:
        if task.threshold is None and (threshold is not None or absolute or observe_position):
            raise ValueError(
                f"threshold={threshold!r}, absolute={absolute!r}, "
                f"observe_position={observe_position!r} concern the sparse tasks alone; "
                "leave them out, or take an mppo/Sparse… task"
            )
        self.task, self.absolute = task, bool(absolute)
        if task.threshold is not None:
            self.threshold = _checked_threshold(task.threshold if threshold is None else threshold)
            kwargs.setdefault("exclude_current_positions_from_observation", not observe_position)
        if task.xml_file is not None:
            kwargs.setdefault("xml_file", task.xml_file)
        quieten()
        robot = task.robot
        self.base: Any = getattr(importlib.import_module(robot.module), robot.name)(**kwargs)
        self.model = self.base.model
        # Without this flag MuJoCo answers a NaN by a silent return to the start pose.
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        self.kwargs = kwargs
        self.action_space: Box = self.base.action_space
        self.observation_space = self._observation_space()

    def _observation_space(self) -> Box:
        space: Box = self.base.observation_space
        if self.task.threshold is None:
            return space
        # MuJoCo itself calls a coordinate beyond this bad; Gymnasium's checker wants finite bounds.
        bound = float(mujoco.mjMAXVAL)
        return Box(-bound, bound, space.shape, np.float64)

    def lane(self, horizon: int = NO_LIMIT) -> Lane:
        """A new lane."""
        lane = self.task.robot.lane(self.base, self.model, check_horizon(horizon))
        if self.task.threshold is not None:
            lane.pay_past(self.threshold, self.absolute)
        return lane

    def renderer(self, lane: Lane) -> Any:
        """Gymnasium's renderer, looking at a lane."""
        from gymnasium.envs.mujoco.mujoco_rendering import MujocoRenderer

        base = self.base
        camera = self.kwargs.get("default_camera_config", base.mujoco_renderer.default_cam_config)
        return MujocoRenderer(
            self.model,
            lane.data,
            camera,
            base.width,
            base.height,
            self.kwargs.get("max_geom", 1000),
            base.camera_id,
            base.camera_name,
            self.kwargs.get("visual_options") or {},  # Gymnasium before 1.3 wants a dict
        )


def draw(renderer: Any, render_mode: str) -> Any:
    """One image; Gymnasium draws into whatever context was current, here it is the right one."""
    if renderer.viewer is not None:
        renderer.viewer.make_context_current()
    return renderer.render(render_mode)


def _checked_threshold(value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise ValueError(f"threshold is {value!r}; allowed: a distance in metres")
    if not np.isfinite(value):
        raise ValueError(f"threshold is {value!r}; allowed: a finite distance in metres")
    return float(value)
