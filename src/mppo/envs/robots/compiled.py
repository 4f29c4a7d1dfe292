"""Many steps of one robot and its policy without the interpreter: the inner loop of training.

It calls MuJoCo's own `mj_step` and the robot's rules, each at its address: a compiled function
that is given an address can be kept on disk, one that is given a function cannot.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mppo.acting import kernel
from mppo.acting.kernel import Forward
from mppo.envs.contract import Limits, Rows
from mppo.envs.robots.engine import mujoco
from mppo.envs.robots.gates import Gates, pass_gates
from mppo.envs.robots.rules import HEALTHY, OBSERVE, REWARD, Body, clip
from mppo.machine.compilers import caller, native, types


class CompiledRule(NamedTuple):
    """A rule of a robot: where its function is, and the numbers it is given."""

    address: int
    numbers: np.ndarray


class Physics(NamedTuple):
    """Where MuJoCo's functions and one simulation of theirs are."""

    mj_step: int
    mj_forces: int  # 0 if nobody reads contact forces
    model: int
    data: int
    frame_skip: int
    warnings: np.ndarray  # MuJoCo's counters
    bad: np.ndarray  # which of them tell of bad numbers


class CompiledLane(NamedTuple):
    """One lane in the form that compiled code takes."""

    physics: Physics
    body: Body
    observe: CompiledRule
    healthy: CompiledRule
    reward: CompiledRule
    terminates: bool  # a fall ends the episode
    observation: np.ndarray
    gates: Gates


@lru_cache
def addresses() -> tuple[int, int] | None:
    """Where mj_step and mj_rnePostConstraint are; None if MuJoCo's library cannot be found."""
    for path in sorted(Path(mujoco.__file__).parent.glob("*mujoco*")):
        if ".so" in path.suffixes or path.suffix in (".dylib", ".dll"):
            try:
                library = ctypes.CDLL(str(path))
                functions = library.mj_step, library.mj_rnePostConstraint
            except (OSError, AttributeError):
                continue
            step, forces = (ctypes.cast(f, ctypes.c_void_p).value or 0 for f in functions)
            return step, forces
    return None


call_mujoco: Any = caller(types.void(types.int64, types.int64))  # of model and data
_call_observe, _call_healthy, _call_reward = map(caller, (OBSERVE, HEALTHY, REWARD))


@native
def bound_action(action: np.ndarray, limits: Limits) -> np.ndarray:
    """The action within its bounds, if it is to be."""
    if limits.squash:
        for i in range(action.size):
            action[i] = kernel.squash(np.float64(action[i]), limits.low[i], limits.high[i])
    elif limits.clip:
        for i in range(action.size):
            action[i] = clip(action[i], limits.low[i], limits.high[i])
    return action


@native
def after_step(lane: CompiledLane, before: float) -> tuple[float, bool]:
    """Fill the observation; return the reward and whether the robot is healthy."""
    body, observe, healthy, reward = lane.body, lane.observe, lane.healthy, lane.reward
    _call_observe(observe.address, (body, observe.numbers, lane.observation))
    is_healthy = _call_healthy(healthy.address, (body, healthy.numbers))
    return _call_reward(reward.address, (body, reward.numbers, before, is_healthy)), is_healthy


@native
def _simulate(physics: Physics) -> None:
    for _ in range(physics.frame_skip):
        call_mujoco(physics.mj_step, (physics.model, physics.data))
    if physics.mj_forces:
        call_mujoco(physics.mj_forces, (physics.model, physics.data))


@native
def _met_bad_number(physics: Physics) -> bool:
    met = False
    for i in physics.bad:
        met = met or bool(physics.warnings[i] > 0)
    return met


@native
def run_steps(
    lane: CompiledLane,
    net: Forward,
    limits: Limits,
    rows: Rows,
    start: int,
    stop: int,
    place: float,
    fresh: bool,
) -> tuple[int, float, bool]:
    """Steps start ... stop - 1, or fewer if the robot falls or MuJoCo meets a bad number.

    After a reset (`fresh`) it looks first: a call from Python takes as long as a step of a small
    robot. Returns how many were taken, where the robot is then, and whether it is healthy.
    """
    work = np.empty((2, net.sizes.max()), np.float32)
    ctrl, is_healthy = lane.body.ctrl, True
    if fresh:
        after_step(lane, place)
        place = lane.body.place[0]
    action = np.empty(ctrl.size, np.float32)
    for t in range(start, stop):
        seen = rows.observations[t]
        for i in range(seen.size):
            seen[i] = lane.observation[i]
        mean = kernel.run(net, seen, work)
        for i in range(action.size):
            action[i] = mean[i] + rows.noise[t, i]
            rows.actions[t, i] = action[i]
        bound_action(action, limits)
        pass_gates(action, lane.gates)
        for i in range(action.size):
            ctrl[i] = action[i]
        _simulate(lane.physics)
        rows.rewards[t], is_healthy = after_step(lane, place)
        place = lane.body.place[0]
        if _met_bad_number(lane.physics) or (lane.terminates and not is_healthy):
            return t + 1 - start, place, is_healthy
    return stop - start, place, is_healthy
