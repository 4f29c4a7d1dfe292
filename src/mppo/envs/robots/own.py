"""Robots of the user's: an XML model and three functions, stepped like Gymnasium's own.

The functions are those of `rules`. The same Python that a single environment calls is compiled for
training, and both are compared when a vector environment is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.envs.mujoco import MujocoEnv
from gymnasium.spaces import Box

from mppo.envs.contract import check_count
from mppo.envs.robots.engine import mujoco
from mppo.envs.robots.rules import Body, Robot, Rule, body_of, uniform_start
from mppo.envs.tasks import BY_ID, OWN, Task
from mppo.errors import BadRequest


class OwnRobot(NamedTuple):
    """What was registered under a name."""

    robot: Robot
    xml: str
    observation_size: int
    frame_skip: int
    reset_noise_scale: float


OWN_ROBOTS: dict[str, OwnRobot] = {}


def register_robot(
    name: str,
    xml: str,
    observe: Callable[[Body, np.ndarray, np.ndarray], None],
    reward: Callable[[Body, np.ndarray, float, bool], float],
    healthy: Callable[[Body, np.ndarray], bool] | None = None,
    *,
    observation_size: int,
    numbers: Sequence[float] = (),
    frame_skip: int = 5,
    horizon: int = 1000,
    reset_noise_scale: float = 0.01,
) -> None:
    """Make a MuJoCo model an environment of this name, compiled for training.

    `xml` is a model or the path of one. After each step `observe(body, numbers, observation)`
    fills the observation, `healthy(body, numbers)` says whether the episode goes on, and
    `reward(body, numbers, before, is_healthy)` what the step pays; `before` is qpos[0] before it.
    They are Python that Numba compiles; all of them are given the same `numbers`. An episode
    starts at the model's own state, with uniform noise of `reset_noise_scale`.
    """
    if name in gymnasium.registry or name in BY_ID:
        raise BadRequest(f'there is an environment "{name}" already; choose another name')
    check_count("observation_size", observation_size)
    rule = lambda function: Rule(function, lambda base: tuple(numbers))
    falls = None if healthy is None else rule(healthy)
    robot = Robot(name, rule(observe), rule(reward), falls, reads_forces=True)
    OWN_ROBOTS[name] = OwnRobot(robot, xml, observation_size, frame_skip, reset_noise_scale)
    gymnasium.register(
        name,
        entry_point="mppo.envs.robots.own:OwnRobotEnv",
        vector_entry_point="mppo.envs.batch:BatchVectorEnv",
        max_episode_steps=check_count("horizon", horizon),
        kwargs={"task": name},
    )
    BY_ID[name] = Task(name, horizon, robot=OWN)


class OwnRobotEnv(MujocoEnv):
    """A registered robot as a single environment, stepped by Python."""

    metadata: dict[str, Any] = {  # noqa: RUF012  (as gymnasium.Env)
        "render_modes": ["human", "rgb_array", "depth_array", "rgbd_tuple"]
    }

    def __init__(self, task: str, **kwargs: Any) -> None:
        own = OWN_ROBOTS[task]
        self._robot, self._xml, self._reset_noise_scale = own.robot, own.xml, own.reset_noise_scale
        self._terminate_when_unhealthy = True
        space = Box(-np.inf, np.inf, (own.observation_size,), np.float64)
        text = self._xml.lstrip().startswith("<")
        path = "ant.xml" if text else self._xml  # Gymnasium insists on a file; it is not read
        super().__init__(path, own.frame_skip, space, **kwargs)
        self.metadata = {**self.metadata, "render_fps": int(np.round(1.0 / self.dt))}
        self._numbers = np.array(self._robot.observe.numbers(self), np.float64)

    def _initialize_simulation(self) -> tuple[Any, Any]:
        if not self._xml.lstrip().startswith("<"):
            return super()._initialize_simulation()
        model = mujoco.MjModel.from_xml_string(self._xml)
        model.vis.global_.offwidth, model.vis.global_.offheight = self.width, self.height
        return model, mujoco.MjData(model)

    def _see(self, body: Body) -> np.ndarray:
        observation = np.zeros(self.observation_space.shape or ())
        self._robot.observe.function(body, self._numbers, observation)
        return observation

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Take one step."""
        before = float(self.data.qpos[0])
        self.do_simulation(action, self.frame_skip)
        single = np.asarray(action).dtype == np.float32
        body, rule = self._body(single), self._robot.healthy
        seen = self._see(body)
        stands = True if rule is None else bool(rule.function(body, self._numbers))
        paid = float(self._robot.reward.function(body, self._numbers, before, stands))
        return seen, paid, not stands, False, {}

    def reset_model(self) -> np.ndarray:
        """Start near the model's own state."""
        self.set_state(*uniform_start(self, self.np_random))
        return self._see(self._body())

    def _body(self, single: bool = True) -> Body:
        return body_of(self.model, self.data, self.data.qpos, single)
