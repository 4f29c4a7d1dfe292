"""Robots of the user's: an XML model and three functions, stepped like Gymnasium's own.

The functions are those of `rules`. The same Python that a single environment calls is compiled for
training, and both are compared when a vector environment is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.mujoco import MujocoEnv
from gymnasium.spaces import Box

from mppo.envs.contract import check_count
from mppo.envs.robots.engine import mujoco
from mppo.envs.robots.rules import Body, Robot, Rule
from mppo.envs.tasks import BY_ID, OWN, Task, add_task
from mppo.errors import BadRequest

_ROBOTS: dict[str, Robot] = {}


def own_robot(name: str) -> Robot:
    """The robot that was registered by that name."""
    return _ROBOTS[name]


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
    _ROBOTS[name] = Robot(
        name, rule(observe), rule(reward), None if healthy is None else rule(healthy), False, True
    )
    gymnasium.register(
        name,
        entry_point="mppo.envs.robots.own:OwnRobotEnv",
        vector_entry_point="mppo.envs.batch:BatchVectorEnv",
        max_episode_steps=check_count("horizon", horizon),
        kwargs={"task": name},
    )
    settings = {"observation_size": observation_size, "frame_skip": frame_skip}
    _SETTINGS[name] = {"xml": xml, "reset_noise_scale": reset_noise_scale, **settings}
    words = f"{observation_size} numbers", "a robot of the user's"
    add_task(Task(name, observation_size, words[0], horizon, 0, 0, words[1], robot=OWN,
                  of_the_paper=False))  # fmt: skip


_SETTINGS: dict[str, dict[str, Any]] = {}


class OwnRobotEnv(MujocoEnv):
    """A registered robot as a single environment, stepped by Python."""

    metadata: dict[str, Any] = {  # noqa: RUF012  (as gymnasium.Env)
        "render_modes": ["human", "rgb_array", "depth_array", "rgbd_tuple"]
    }

    def __init__(self, task: str, **kwargs: Any) -> None:
        own, self._robot = _SETTINGS[task], _ROBOTS[task]
        self._xml, self._reset_noise_scale = own["xml"], own["reset_noise_scale"]
        self._terminate_when_unhealthy = True
        size = own["observation_size"]
        space = Box(-np.inf, np.inf, (size,), np.float64)
        text = self._xml.lstrip().startswith("<")
        path = "ant.xml" if text else self._xml  # Gymnasium insists on a file; it is not read
        super().__init__(path, own["frame_skip"], space, **kwargs)
        self.metadata = {**self.metadata, "render_fps": int(np.round(1.0 / self.dt))}
        self._numbers = np.array(self._robot.observe.numbers(self), np.float64)

    def _initialize_simulation(self) -> tuple[Any, Any]:
        if not self._xml.lstrip().startswith("<"):
            return super()._initialize_simulation()
        model = mujoco.MjModel.from_xml_string(self._xml)
        model.vis.global_.offwidth, model.vis.global_.offheight = self.width, self.height
        return model, mujoco.MjData(model)

    def _body(self, action: np.ndarray) -> Body:
        data, model = self.data, self.model
        flat = data.xpos, data.xipos, model.body_mass, data.cinert, data.cvel, data.qfrc_actuator
        flat += data.qfrc_constraint, data.site_xpos
        seen = data.qpos, data.qvel, data.ctrl, data.qpos, data.cfrc_ext.reshape(-1)
        single = action.dtype == np.float32
        return Body(*seen, single, *(array.reshape(-1) for array in flat))

    def _see(self, body: Body) -> np.ndarray:
        observation = np.zeros(self.observation_space.shape or ())
        self._robot.observe.function(body, self._numbers, observation)
        return observation

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Take one step."""
        before = float(self.data.qpos[0])
        self.do_simulation(action, self.frame_skip)
        body, rule = self._body(np.asarray(action)), self._robot.healthy
        seen = self._see(body)
        stands = True if rule is None else bool(rule.function(body, self._numbers))
        paid = float(self._robot.reward.function(body, self._numbers, before, stands))
        return seen, paid, not stands, False, {}

    def reset_model(self) -> np.ndarray:
        """Start near the model's own state."""
        noise, draw = self._reset_noise_scale, self.np_random
        qpos = self.init_qpos + draw.uniform(-noise, noise, self.model.nq)
        qvel = self.init_qvel + draw.uniform(-noise, noise, self.model.nv)
        self.set_state(qpos, qvel)
        return self._see(self._body(np.zeros(0, np.float32)))
