"""Lanes of a MuJoCo task: Gymnasium's environment read once, its model shared."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import load_env_creator
from gymnasium.spaces import Box

from mppo.envs.robots.engine import mujoco, quieten
from mppo.envs.robots.lane import MujocoLane
from mppo.envs.robots.rules import Robot
from mppo.envs.robots.sparse import past_line
from mppo.envs.tasks import Task


def gymnasium_env(task: str, **kwargs: Any) -> Any:
    """Gymnasium's own environment of one of its ids, without wrappers."""
    creator: Any = gymnasium.spec(task).entry_point
    return load_env_creator(creator)(**kwargs)


class LaneFactory:
    """Makes the lanes of one task: parses the arguments once and shares the model.

    On a sparse task a step pays 1 while the torso is more than `threshold` metres ahead of the
    start (`absolute=True`: or behind it). `observe_position=True` shows that position to the
    agent, as the first number. Further arguments go to Gymnasium's v5 environment of the robot.
    """

    def __init__(
        self,
        task: Task,
        *,
        threshold: float | None = None,
        absolute: bool = False,
        observe_position: bool = False,
        **kwargs: Any,
    ) -> None:
        module: Any = importlib.import_module(f"mppo.envs.robots.{task.robot}")
        self.robot: Robot = module.ROBOT
        if task.threshold is not None:
            line = task.threshold if threshold is None else threshold
            self.robot = replace(self.robot, reward=past_line(line, bool(absolute)))
            kwargs.setdefault("exclude_current_positions_from_observation", not observe_position)
        elif threshold is not None or absolute or observe_position:
            raise ValueError(
                f"threshold={threshold!r}, absolute={absolute!r}, "
                f"observe_position={observe_position!r} concern the sparse tasks alone; "
                "leave them out, or take an mppo/Sparse… task"
            )
        if task.xml_file:
            kwargs.setdefault("xml_file", task.xml_file)
        quieten()
        self.base: Any = gymnasium_env(self.robot.gymnasium_id, **kwargs)
        self.model: Any = self.base.model
        # Without this flag MuJoCo answers a NaN by a silent return to the start pose.
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        self.kwargs: dict[str, Any] = kwargs
        self.action_space: Box = self.base.action_space
        self.observation_space: Box = self.base.observation_space
        if task.threshold is not None:
            # MuJoCo calls a coordinate beyond this bad; Gymnasium's checker wants finite bounds.
            bound = float(mujoco.mjMAXVAL)
            self.observation_space = Box(-bound, bound, self.observation_space.shape, np.float64)

    def lane(self, horizon: int) -> MujocoLane:
        """A new lane."""
        return MujocoLane(self.robot, self.base, self.model, horizon)

    def renderer(self, lane: MujocoLane) -> Any:
        """Gymnasium's renderer, looking at a lane."""
        from gymnasium.envs.mujoco.mujoco_rendering import MujocoRenderer

        base, own = self.base, self.kwargs.get
        camera = own("default_camera_config", base.mujoco_renderer.default_cam_config)
        shot = camera, base.width, base.height, own("max_geom", 1000)
        view = (
            base.camera_id,
            base.camera_name,
            own("visual_options") or {},
        )  # Gymnasium before 1.3 wants a dict
        return MujocoRenderer(self.model, lane.data, *shot, *view)
