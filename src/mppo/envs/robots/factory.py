"""Lanes of a MuJoCo task: Gymnasium's environment read once, its model shared."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import load_env_creator
from gymnasium.spaces import Box

from mppo.envs.contract import Differs
from mppo.envs.generators import fresh_generator
from mppo.envs.robots.engine import mujoco, quieten
from mppo.envs.robots.gates import Gates, gates_around
from mppo.envs.robots.lane import MujocoLane
from mppo.envs.robots.own import own_robot
from mppo.envs.robots.rules import Robot
from mppo.envs.robots.sparse import past_line
from mppo.envs.tasks import OWN, Task
from mppo.errors import in_words

_COMPARED = 3  # steps
_SEED = 1


def _robot(task: Task) -> Robot:
    if task.robot == OWN:
        return own_robot(task.id)
    module: Any = importlib.import_module(f"mppo.envs.robots.{task.robot}")
    return module.ROBOT


def _actions(size: int) -> np.ndarray:
    return np.random.default_rng(_SEED).normal(size=(_COMPARED, size)).astype(np.float32)


def _first_steps(base: Any, paid: bool) -> list[Any]:
    seen, _ = base.reset(seed=_SEED)
    steps: list[Any] = [seen.tobytes()]
    for action in _actions(base.model.nu):
        seen, reward, terminated, _, _ = base.step(action)
        steps += [seen.tobytes(), paid and np.float64(reward).tobytes(), bool(terminated)]
    return steps


def _first_steps_of(lane: MujocoLane, paid: bool) -> list[Any]:
    lane.generator = fresh_generator(_SEED)
    lane.reset()
    steps: list[Any] = [lane.observation.tobytes()]
    for action in _actions(lane.model.nu):
        reward, terminated, _ = lane.step(action)
        seen = lane.observation.tobytes()
        steps += [seen, paid and np.float64(reward).tobytes(), terminated]
    return steps


def gymnasium_env(task: str, **kwargs: Any) -> Any:
    """Gymnasium's own environment of one of its ids, without wrappers."""
    spec: Any = gymnasium.spec(task)
    return load_env_creator(spec.entry_point)(**{**spec.kwargs, **kwargs})


class LaneFactory:
    """Makes the lanes of one task: parses the arguments once and shares the model.

    On a sparse task a step pays 1 while the torso is more than `threshold` metres ahead of the
    start (`absolute=True`: or behind it). `observe_position=True` shows that position to the
    agent, as the first number. `gates` are those of `expressed`. Further arguments go to
    Gymnasium's v5 environment of the robot, with whose first steps compiled ones are compared.
    """

    def __init__(
        self,
        task: Task,
        *,
        threshold: float | None = None,
        absolute: bool = False,
        observe_position: bool = False,
        gates: Sequence[Any] = (),
        **kwargs: Any,
    ) -> None:
        self.robot: Robot = _robot(task)
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
        self.gates: Gates | None = None
        if gates:
            self.gates, self.action_space = gates_around(self.base, gates)
        if task.threshold is not None:
            # MuJoCo calls a coordinate beyond this bad; Gymnasium's checker wants finite bounds.
            bound = float(mujoco.mjMAXVAL)
            self.observation_space = Box(-bound, bound, self.observation_space.shape, np.float64)
        self._compare(paid=task.threshold is None)

    def lane(self, horizon: int) -> MujocoLane:
        """A new lane."""
        return MujocoLane(self.robot, self.base, self.model, horizon, self.gates)

    def _compare(self, paid: bool) -> None:
        """Raise unless a lane's first steps are those of the robot's own environment, bit for bit.

        Sums may run in another order in another version, and sines be rounded otherwise elsewhere.
        """
        try:
            theirs = _first_steps(self.base, paid)
            same = theirs == _first_steps_of(MujocoLane(self.robot, self.base, self.model, 9), paid)
        except Exception as error:  # of a model that the rules were not made for
            raise Differs(f"{self.robot.gymnasium_id}: {in_words(error)}") from error
        if not same:
            raise Differs(f"{self.robot.gymnasium_id}: compiled steps gave other bits")

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
