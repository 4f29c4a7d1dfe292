"""MuJoCo locomotion as a simulation made of lanes, equal to Gymnasium's bit for bit."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium.envs.registration import load_env_creator
from gymnasium.spaces import Box

from mppo.envs.batch import BatchEnv
from mppo.envs.contract import Differs, State, check_count, fresh_generator
from mppo.envs.robots.engine import mujoco, quieten
from mppo.envs.robots.gates import Gates, gates_around
from mppo.envs.robots.lane import MujocoLane
from mppo.envs.robots.own import OWN_ROBOTS
from mppo.envs.robots.rules import Body, Robot, Rule
from mppo.envs.tasks import Task
from mppo.errors import in_words

RENDER_MODES: list[str] = ["rgb_array", "depth_array"]
_COMPARED = 20  # steps
_SEED = 1


def gymnasium_env(task: str, **kwargs: Any) -> Any:
    """Gymnasium's own environment of one of its ids, without wrappers."""
    spec: Any = gymnasium.spec(task)
    return load_env_creator(spec.entry_point)(**{**spec.kwargs, **kwargs})


def past_line_reward(body: Body, numbers: np.ndarray, before: float, is_healthy: bool) -> float:
    """1 if the robot is further ahead of the start than the threshold, or behind it if asked."""
    start, threshold, absolute = numbers
    moved = body.place[0] - start
    if absolute > 0:
        moved = abs(moved)
    return 1.0 if moved > threshold else 0.0


def past_line(threshold: float, absolute: bool) -> Rule:
    """What sparse tasks pay: 1 more than `threshold` metres ahead (`absolute`: or behind)."""
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float, np.number)):
        raise ValueError(f"threshold is {threshold!r}; allowed: a distance in metres")
    if not np.isfinite(threshold):
        raise ValueError(f"threshold is {threshold!r}; allowed: a finite distance in metres")
    return Rule(past_line_reward, lambda base: (base.init_qpos[0], threshold, absolute))


def _robot(
    task: Task,
    threshold: float | None = None,
    absolute: bool = False,
    observe_position: bool = False,
    **kwargs: Any,
) -> tuple[Robot, dict[str, Any]]:
    """The robot of a task, and the arguments of Gymnasium's environment of it."""
    if task.id in OWN_ROBOTS:
        robot: Robot = OWN_ROBOTS[task.id].robot
    else:
        robot = importlib.import_module(f"mppo.envs.robots.v5.{task.robot}").ROBOT
    if task.xml_file:
        kwargs.setdefault("xml_file", task.xml_file)
    if task.threshold is not None:
        line = task.threshold if threshold is None else threshold
        kwargs.setdefault("exclude_current_positions_from_observation", not observe_position)
        return replace(robot, reward=past_line(line, bool(absolute))), kwargs
    if threshold is not None or absolute or observe_position:
        raise ValueError(
            f"threshold={threshold!r}, absolute={absolute!r}, "
            f"observe_position={observe_position!r} concern the sparse tasks alone; "
            "leave them out, or take an mppo/Sparse… task"
        )
    return robot, kwargs


def _same_steps(base: Any, lane: MujocoLane, paid: bool) -> bool:
    """Whether a lane's first steps are those of the robot's own environment, bit for bit."""
    lane.generator = fresh_generator(_SEED)
    lane.reset()
    same = base.reset(seed=_SEED)[0].tobytes() == lane.observation.tobytes()
    draw = np.random.default_rng(_SEED)
    for action in draw.normal(size=(_COMPARED, base.model.nu)).astype(np.float32):
        seen, reward, terminated, *_ = base.step(action)
        ours, fallen, _ = lane.step(action)
        same &= seen.tobytes() == lane.observation.tobytes() and bool(terminated) == fallen
        same &= not paid or np.float64(reward).tobytes() == np.float64(ours).tobytes()
    return same


class RobotSimulation:
    """Several lanes of one MuJoCo task, which share its model.

    On a sparse task a step pays 1 while the torso is more than `threshold` metres ahead of the
    start (`absolute=True`: or behind it). `observe_position=True` shows that position to the
    agent, as the first number. `gates` are those of `expressed`. Further arguments go to
    Gymnasium's v5 environment of the robot, with whose first steps compiled ones are compared.
    With `threads` above 1 the lanes step in a thread pool; the numbers are the same.
    """

    render_modes: list[str] = RENDER_MODES

    def __init__(
        self,
        task: Task,
        num_envs: int,
        horizon: int,
        threads: int = 1,
        gates: Sequence[Any] = (),
        **kwargs: Any,
    ) -> None:
        self.robot, self.kwargs = _robot(task, **kwargs)
        quieten()
        self.base: Any = gymnasium_env(self.robot.gymnasium_id, **self.kwargs)
        # Without this flag MuJoCo answers a NaN by a silent return to the start pose.
        self.base.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        self.action_space: Box = self.base.action_space
        self.observation_space: Box = self.base.observation_space
        self.render_fps: int = self.base.metadata["render_fps"]
        passed: Gates | None = None
        if gates:
            passed, self.action_space = gates_around(self.base, gates)
        if task.threshold is not None:
            # MuJoCo calls a coordinate beyond this bad; Gymnasium's checker wants finite bounds.
            bound = float(mujoco.mjMAXVAL)
            self.observation_space = Box(-bound, bound, self.observation_space.shape, np.float64)
        self._compare(paid=task.threshold is None)
        self.lanes: list[MujocoLane] = [
            MujocoLane(self.robot, self.base, horizon, passed) for _ in range(num_envs)
        ]
        threads = check_count("threads", threads)
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._renderers: dict[int, Any] = {}

    def _compare(self, paid: bool) -> None:
        """Raise unless compiled steps are those of the robot's own environment.

        Sums may run in another order in another version, and sines be rounded otherwise elsewhere.
        """
        try:
            same = _same_steps(self.base, MujocoLane(self.robot, self.base, 9), paid)
        except Exception as error:  # of a model that the rules were not made for
            raise Differs(f"{self.robot.gymnasium_id}: {in_words(error)}") from error
        if not same:
            raise Differs(f"{self.robot.gymnasium_id}: compiled steps gave other bits")

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
            self._renderers[i] = self.renderer(self.lanes[i])
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

    def renderer(self, lane: MujocoLane) -> Any:
        """Gymnasium's renderer, looking at a lane."""
        from gymnasium.envs.mujoco.mujoco_rendering import MujocoRenderer

        base, own = self.base, self.kwargs.get
        camera = own("default_camera_config", base.mujoco_renderer.default_cam_config)
        shot = camera, base.width, base.height, own("max_geom", 1000)
        shot += base.camera_id, base.camera_name
        options = own("visual_options") or {}  # Gymnasium before 1.3 wants a dict
        return MujocoRenderer(base.model, lane.data, *shot, options)


class RobotEnv(BatchEnv):
    """A sparse task as a single environment, with `model`, `data` and `dt` as Gymnasium's have."""

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES}  # noqa: RUF012  (as gymnasium.Env)

    def __init__(self, task: str, **kwargs: Any) -> None:
        super().__init__(task, **kwargs)
        simulation = cast(RobotSimulation, self.simulation)
        self.model: Any = simulation.base.model
        self.data: Any = simulation.lanes[0].data
        self.dt: float = simulation.base.dt
