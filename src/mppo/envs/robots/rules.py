"""What the robots differ in: when they fall, what they see and what they are paid for."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from mppo.envs.robots.lane import ANT, HOPPER, WALKER, Lane

_sum, _maximum, _minimum, _copyto = np.add.reduce, np.maximum, np.minimum, np.copyto


class SwimmerLane(Lane):
    """Swimmer: never ends, pays speed minus control cost."""


class HalfCheetahLane(Lane):
    """HalfCheetah: as Swimmer, but normal noise on the starting velocities."""

    def _velocity_noise(self) -> np.ndarray:
        return self._noise * self.generator.standard_normal(self.model.nv)


class Walker2dLane(Lane):
    """Walker2d: ends at a fall, pays for being upright, clips the observed velocities to ±10."""

    def __init__(self, base: Any, model: Any, horizon: int) -> None:
        super().__init__(base, model, horizon)
        self._terminates = base._terminate_when_unhealthy
        self._healthy_reward = base._healthy_reward
        self._z_range, self._angle_range = base._healthy_z_range, base._healthy_angle_range
        self._low, self._high = np.full(model.nv, -10.0), np.full(model.nv, 10.0)

    def _read(self) -> None:
        # Plain floats decide: on a dozen numbers they are several times faster than NumPy.
        qvel = self._qvel.tolist()
        self._x, z, angle = self._qpos[:3].tolist()
        self._show(min(qvel), max(qvel))
        low, high = self._z_range
        left, right = self._angle_range
        self._healthy = low < z < high and left < angle < right

    def _show(self, least: float, most: float) -> None:
        _copyto(self._obs_qpos, self._seen_qpos)
        if least >= -10.0 and most <= 10.0:  # false as well if a NaN hid the extremes
            _copyto(self._obs_qvel, self._qvel)
        else:
            _maximum(self._qvel, self._low, out=self._obs_qvel)
            _minimum(self._obs_qvel, self._high, out=self._obs_qvel)

    def _dense_reward(self, before: float, action: np.ndarray) -> float:
        forward = self._forward_weight * ((self._x - before) / self._dt)
        rewards = forward + self._healthy * self._healthy_reward
        return float(rewards - self._control_cost(action))

    def _rules(self) -> dict[str, Any]:
        return {
            "kind": WALKER,
            "healthy_reward": float(self._healthy_reward),
            "z_range": _pair(self._z_range),
            "angle_range": _pair(self._angle_range),
        }


class HopperLane(Walker2dLane):
    """Hopper: as Walker2d, and ends when any other state entry leaves its range."""

    def __init__(self, base: Any, model: Any, horizon: int) -> None:
        super().__init__(base, model, horizon)
        self._state_range = base._healthy_state_range

    def _rules(self) -> dict[str, Any]:
        return super()._rules() | {"kind": HOPPER, "state_range": _pair(self._state_range)}

    def _read(self) -> None:
        qpos = self._qpos.tolist()
        self._x, z, angle = qpos[:3]
        values = qpos[2:] + self._qvel.tolist()
        least, most, total = min(values), max(values), sum(values)
        self._show(least, most)
        lowest, highest = self._state_range
        low, high = self._z_range
        left, right = self._angle_range
        upright = low < z < high and left < angle < right
        # min and max may step over a NaN, the sum does not.
        self._healthy = upright and lowest < least and most < highest and total == total


class AntLane(Lane):
    """Ant: pays the torso's speed and health minus control and contact costs."""

    def __init__(self, base: Any, model: Any, horizon: int) -> None:
        super().__init__(base, model, horizon)
        self._terminates = base._terminate_when_unhealthy
        self._healthy_reward, self._z_range = base._healthy_reward, base._healthy_z_range
        self._contact_weight, self._needs_forces = base._contact_cost_weight, True
        self._torso = self.data.body(base._main_body).xpos
        self._forces = self.data.cfrc_ext.reshape(-1)
        self._force_range = low, high = base._contact_force_range
        self._low = np.full(self._forces.shape, float(low))
        self._high = np.full(self._forces.shape, float(high))
        self._clipped = np.zeros(self._forces.shape)
        self._squares = np.zeros(self._forces.shape)
        self._seen_forces = self._clipped[6:]  # without the world's, which are zero
        self._obs_forces = self.observation[self._obs_qpos.size + model.nv :]
        self._observes_forces = base._include_cfrc_ext_in_observation

    def _rules(self) -> dict[str, Any]:
        return {
            "kind": ANT,
            "place": self._torso,
            "healthy_reward": float(self._healthy_reward),
            "z_range": _pair(self._z_range),
            "forces": self._forces,
            "force_range": _pair(self._force_range),
            "contact_weight": float(self._contact_weight),
            "sees_forces": bool(self._observes_forces),
        }

    def _velocity_noise(self) -> np.ndarray:
        return self._noise * self.generator.standard_normal(self.model.nv)

    def _read(self) -> None:
        self._x = self._torso.item(0)
        _copyto(self._obs_qpos, self._seen_qpos)
        _copyto(self._obs_qvel, self._qvel)
        _maximum(self._forces, self._low, out=self._clipped)
        _minimum(self._clipped, self._high, out=self._clipped)
        if self._observes_forces:
            _copyto(self._obs_forces, self._seen_forces)
        low, high = self._z_range
        self._healthy = low <= self._qpos.item(2) <= high and self._finite()

    def _finite(self) -> bool:
        # A finite sum proves finite terms; only a sum that overflows needs the second look.
        if isfinite(sum(self._qpos.tolist()) + sum(self._qvel.tolist())):
            return True
        return bool(np.isfinite(self._qpos).all() and np.isfinite(self._qvel).all())

    def _dense_reward(self, before: float, action: np.ndarray) -> float:
        forward = ((self._x - before) / self._dt) * self._forward_weight
        rewards = forward + self._healthy * self._healthy_reward
        control = self._control_cost(action)
        np.multiply(self._clipped, self._clipped, out=self._squares)
        contact = float(self._contact_weight * _sum(self._squares))
        return float(rewards - (control + contact))


def _pair(ends: Any) -> tuple[float, float]:
    low, high = ends
    return float(low), float(high)
