"""The limit: bare `mj_step` on the very actions and reset states of a recorded batch."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from mppo.algorithm.types import Trajectories
from mppo.envs import native_vector
from mppo.envs.batch import lanes_of
from mppo.envs.robots.compiled import addresses, call_mujoco
from mppo.envs.robots.engine import PHYSICS, mujoco, physics_of
from mppo.machine.compilers import native
from mppo.machine.seeding import Role, generator
from mppo.machine.sharing import CHUNK, share

Robot = Any  # MuJoCo's own objects and what holds them: their fields have no types
ROBOTS = 5  # side by side in a threaded replay, as in training


class ReplayDiffers(RuntimeError):
    """The replay is not the recorded trajectory, so its time would mean nothing."""


class Episode(NamedTuple):
    """What bare physics needs to live through an episode again, and how it ended."""

    start: np.ndarray  # the integration state after the reset, warm start included
    controls: list[np.ndarray]  # float64, as MuJoCo holds them: nothing is left to convert
    end: np.ndarray


class Replay:
    """Lives through batches of a run on one MuJoCo task again."""

    def __init__(self, env: str, seed: int):
        vector = native_vector(env, 1)
        lanes: Any = lanes_of(vector) if vector is not None else ()
        if not lanes:
            raise ValueError(f"{env} is no MuJoCo task of ours; there is no bare mj_step of it")
        self.lane: Robot = lanes[0]
        self.seed = seed

    def episodes(self, iteration: int, seen: Trajectories) -> list[Episode]:
        """The episodes of a batch; every observation is compared bit for bit."""
        episodes: list[Episode] = []
        for e in range(len(seen.actions)):
            self.lane.generator = generator(self.seed, Role.ENVIRONMENT, iteration, e)
            episodes += _lived_again(self.lane, seen, e)
        return episodes

    def seconds(self, episodes: list[Episode], threads: int | None = None) -> float:
        """Time of bare physics for all of them: in Python, or in threads without it."""
        physics = (self.lane.model, self.lane.frame_skip, episodes)
        return _seconds_in_python(*physics) if threads is None else _seconds(*physics, threads)


def _seconds_in_python(model: Robot, frame_skip: int, episodes: list[Episode]) -> float:
    """Seconds of nothing but physics; each end is compared bit for bit, outside the clock."""
    data = mujoco.MjData(model)
    control, step = data.ctrl, mujoco.mj_step
    total = 0.0
    for start, controls, end in episodes:
        started = time.perf_counter()
        mujoco.mj_setState(model, data, start, PHYSICS)
        for action in controls:
            control[:] = action
            step(model, data, frame_skip)
        total += time.perf_counter() - started
        if physics_of(model, data).tobytes() != end.tobytes():
            raise ReplayDiffers("bare mj_step ended an episode in another state than the run")
    return total


def _seconds(model: Robot, frame_skip: int, episodes: list[Episode], threads: int) -> float:
    """The same in compiled code: what several threads can do at most with these episodes.

    As in training, a few robots live through one episode after the other, and a thread takes the
    robot that waited longest for one chunk of steps.
    """
    functions = addresses()
    if functions is None:
        raise ValueError("MuJoCo's library was not found, so nothing can step it without Python")
    robots = [mujoco.MjData(model) for _ in range(min(ROBOTS, len(episodes)))]
    controls = [np.array(episode.controls) for episode in episodes]
    ends: dict[int, np.ndarray] = {}

    def live(robot: Robot, n: int, start: int, stop: int) -> None:
        if start == 0:
            mujoco.mj_setState(model, robot, episodes[n].start, PHYSICS)
        some = controls[n][start:stop]
        _live(functions[0], model._address, robot._address, robot.ctrl, some, frame_skip)

    def advance(piece: tuple[Any, int, int]) -> tuple[Any, int, int] | None:
        robot, n, start = piece
        live(robot, n, start, start + CHUNK)
        start += CHUNK
        if start < len(controls[n]):
            return robot, n, start
        ends[n] = physics_of(model, robot)
        n += len(robots)  # its next episode
        return (robot, n, 0) if n < len(episodes) else None

    for robot in robots:  # compiles, and touches all memory that a step needs
        live(robot, 0, 0, 1)
    with ThreadPoolExecutor(threads) as pool:
        started = time.perf_counter()
        share(pool, threads, [(robot, n, 0) for n, robot in enumerate(robots)], advance)
        total = time.perf_counter() - started
    for n, episode in enumerate(episodes):
        if ends[n].tobytes() != episode.end.tobytes():
            raise ReplayDiffers("bare mj_step ended an episode in another state than the run")
    return total


@native
def _live(
    step: int, model: int, data: int, ctrl: np.ndarray, controls: np.ndarray, frame_skip: int
) -> None:
    for t in range(controls.shape[0]):
        for i in range(ctrl.size):
            ctrl[i] = controls[t, i]
        for _ in range(frame_skip):
            call_mujoco(step, (model, data))


def _lived_again(lane: Robot, seen: Trajectories, e: int) -> list[Episode]:
    """Resets draw from the run's stream; raw actions do, for MuJoCo clamps what is out of range."""
    actions = np.asarray(seen.actions[e])
    ended = np.asarray(seen.terminated[e] | seen.truncated[e])
    stops = sorted({*(np.flatnonzero(ended) + 1).tolist(), len(ended)})
    episodes, first = [], 0
    for stop in stops:
        lane.reset()
        start = physics_of(lane.model, lane.data)
        for t in range(first, stop):
            _same(lane.observation, seen.observations[e, t])
            lane.step(actions[t])
        _same(lane.observation, seen.next_observations[e, stop - 1])
        rows = list(actions[first:stop].astype(np.float64))
        episodes.append(Episode(start, rows, physics_of(lane.model, lane.data)))
        first = stop
    return episodes


def _same(observation: np.ndarray, recorded: np.ndarray) -> None:
    if observation.astype(np.float32).tobytes() != np.asarray(recorded, np.float32).tobytes():
        raise ReplayDiffers("the replay saw another observation than the recorded run")
