"""Many steps of one robot and its policy without the interpreter: the inner loop of training.

It calls MuJoCo's own `mj_step` and repeats what `Lane.step` does with the result, bit for bit;
`Lane` stays the readable form and the one that single steps use.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from mppo.acting import kernel
from mppo.acting.kernel import Forward
from mppo.envs.contract import Halt, Limits, Rows
from mppo.envs.robots.engine import mujoco
from mppo.envs.robots.lane import ANT, HOPPER, PLAIN, WALKER
from mppo.machine.compilers import native

Range = tuple[float, float]


class Body(NamedTuple):
    """One lane in the form that the compiled code takes: addresses, views of MuJoCo's memory."""

    mj_step: int
    mj_forces: int
    model: int
    data: int
    frame_skip: int
    dt: float
    qpos: np.ndarray
    qvel: np.ndarray
    ctrl: np.ndarray
    place: np.ndarray  # begins with the coordinate that counts as progress
    observation: np.ndarray
    skipped: int  # entries of qpos that are not observed
    warnings: np.ndarray  # counters of MuJoCo
    bad: np.ndarray  # which of them tell of bad numbers
    forward_weight: float
    ctrl_weight: float
    sparse: bool
    absolute: bool
    start: float
    threshold: float
    terminates: bool
    # what the robots differ in
    kind: int = PLAIN
    healthy_reward: float = 0.0
    z_range: Range = (0.0, 0.0)
    angle_range: Range = (0.0, 0.0)
    state_range: Range = (0.0, 0.0)
    forces: np.ndarray = np.zeros(0)  # on all bodies
    force_range: Range = (0.0, 0.0)
    contact_weight: float = 0.0
    sees_forces: bool = False


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


@intrinsic
def _call_at(context, function, model, data):
    """Call a C function of (model, data) at an address; an address as argument can be cached."""

    def generate(target, builder, signature, arguments):
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, pointer])
        where = builder.inttoptr(arguments[0], kind.as_pointer())
        builder.call(where, [builder.inttoptr(a, pointer) for a in arguments[1:]])
        return target.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


call: Any = _call_at  # its first argument is the compiler's


@native
def _squares(values: np.ndarray) -> float:
    """sum(values * values) in NumPy's order: eight sums side by side, then the rest."""
    n = values.size
    if n < 8:
        total = values[0] * values[0]
        for i in range(1, n):
            total += values[i] * values[i]
        return total
    sums = np.empty(8, values.dtype)
    for i in range(8):
        sums[i] = values[i] * values[i]
    whole = n - n % 8
    for i in range(8, whole):
        sums[i % 8] += values[i] * values[i]
    left = (sums[0] + sums[1]) + (sums[2] + sums[3])
    total = left + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
    for i in range(whole, n):
        total += values[i] * values[i]
    return total


@native
def _clipped(value: float, low: float, high: float) -> float:
    """A NaN stays one."""
    if value < low:
        return low
    return high if value > high else value


@native
def _observe(body: Body, forces: np.ndarray) -> None:
    at = 0
    for i in range(body.skipped, body.qpos.size):
        body.observation[at] = body.qpos[i]
        at += 1
    clips = body.kind == WALKER or body.kind == HOPPER
    for value in body.qvel:
        body.observation[at] = _clipped(value, -10.0, 10.0) if clips else value
        at += 1
    if body.kind == ANT:
        for i in range(forces.size):
            forces[i] = _clipped(body.forces[i], body.force_range[0], body.force_range[1])
        if body.sees_forces:
            for i in range(6, forces.size):  # without the world's, which are zero
                body.observation[at] = forces[i]
                at += 1


@native
def _is_healthy(body: Body) -> bool:
    if body.kind == PLAIN:
        return True
    if body.kind == ANT:
        finite = bool(np.isfinite(body.qpos).all() and np.isfinite(body.qvel).all())
        return finite and body.z_range[0] <= body.qpos[2] <= body.z_range[1]
    z, angle = body.qpos[1], body.qpos[2]
    healthy = body.z_range[0] < z < body.z_range[1]
    healthy = healthy and body.angle_range[0] < angle < body.angle_range[1]
    if body.kind == HOPPER:
        low, high = body.state_range
        for i in range(2, body.qpos.size):
            healthy = healthy and low < body.qpos[i] < high
        for value in body.qvel:
            healthy = healthy and low < value < high
    return healthy


@native
def _pay(body: Body, before: float, action: np.ndarray, forces: np.ndarray, healthy: bool) -> float:
    if body.sparse:
        moved = body.place[0] - body.start
        if body.absolute:
            moved = abs(moved)
        return 1.0 if moved > body.threshold else 0.0
    reward = body.forward_weight * ((body.place[0] - before) / body.dt)
    if body.kind != PLAIN:
        reward = reward + (body.healthy_reward if healthy else 0.0)
    control = float(np.float32(body.ctrl_weight) * _squares(action))
    if body.kind == ANT:
        return reward - (control + body.contact_weight * _squares(forces))
    return reward - control


@native
def stretch(
    body: Body, net: Forward, limits: Limits, rows: Rows, start: int, stop: int, x: float
) -> Halt:
    """Steps start ... stop - 1, or fewer if the robot falls or MuJoCo meets a bad number."""
    work = np.empty((2, net.sizes.max()), np.float32)
    action = np.empty(body.ctrl.size, np.float32)
    forces = np.zeros(body.forces.size)
    healthy = True
    for t in range(start, stop):
        seen = rows.observations[t]
        for i in range(seen.size):
            seen[i] = body.observation[i]
        mean = kernel.run(net, seen, work)
        for i in range(action.size):
            action[i] = mean[i] + rows.noise[t, i]
            rows.actions[t, i] = action[i]
            if limits.clip:
                action[i] = _clipped(action[i], limits.low[i], limits.high[i])
            body.ctrl[i] = action[i]
        for _ in range(body.frame_skip):
            call(body.mj_step, body.model, body.data)
        if body.kind == ANT:
            call(body.mj_forces, body.model, body.data)
        _observe(body, forces)
        healthy = _is_healthy(body)
        rows.rewards[t] = _pay(body, x, action, forces, healthy)
        x = body.place[0]
        for i in body.bad:
            if body.warnings[i] > 0:
                return Halt(t + 1 - start, x, healthy, True)
        if body.terminates and not healthy:
            return Halt(t + 1 - start, x, healthy, False)
    return Halt(stop - start, x, healthy, False)
