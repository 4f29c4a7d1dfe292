"""An environment that breaks its contract in a chosen way at a chosen step."""

from __future__ import annotations

from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.envs.mujoco.hopper_v5 import HopperEnv

NAN, INF = float("nan"), float("inf")
STEPS_TAKEN = {"number": 0, "after the fault": 0, "faults": 0}
"""Of all environments together; the tests read and clear it."""


class Trouble(Exception):
    """What a faulty environment raises."""


def _count(is_bad: bool) -> None:
    STEPS_TAKEN["after the fault"] += STEPS_TAKEN["faults"]
    STEPS_TAKEN["number"] += 1
    STEPS_TAKEN["faults"] += is_bad


class Faulty(gymnasium.Env):
    """A walk on a line, good until step `at` (counted over all environments together)."""

    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = spaces.Box(-1, 1, (1,), np.float32)

    def __init__(self, kind: str, at: int):
        self.kind, self.at = kind, at

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict]:
        super().reset(seed=seed)
        self.x, self.time = self.np_random.normal(), 0
        if self.kind.endswith("in reset") and STEPS_TAKEN["number"] >= self.at - 1:
            STEPS_TAKEN["faults"] += 1
            if self.kind == "exception in reset":
                raise Trouble("no start")
            return np.array([NAN, 0], np.float32), {}
        return self._seen(), {}

    def _seen(self) -> np.ndarray:
        return np.array([self.x, self.time], np.float32)

    def step(self, action: np.ndarray) -> tuple[Any, Any, Any, Any, Any]:
        self.x, self.time = self.x + float(action[0]), self.time + 1
        seen, reward, terminated = self._seen(), -abs(self.x), False
        is_bad = STEPS_TAKEN["number"] + 1 == self.at and not self.kind.endswith("in reset")
        _count(is_bad)
        if is_bad:
            seen, reward, terminated = self._bad(seen, reward)
        return seen, reward, terminated, self.time >= 50, {}

    def _bad(self, seen: Any, reward: Any) -> tuple[Any, Any, Any]:
        if self.kind == "exception in step":
            raise Trouble("no step")
        observations = {
            "NaN observation": np.array([NAN, 0], np.float32),
            "infinite observation": np.array([0, -INF], np.float32),
            "observation's shape": np.zeros(3, np.float32),
            "observation's type": np.array(["a", "b"], object),
        }
        rewards = {"NaN reward": NAN, "infinite reward": INF, "reward's type": "much"}
        flag = "yes" if self.kind == "terminated's type" else False
        return observations.get(self.kind, seen), rewards.get(self.kind, reward), flag


class BlownUp(HopperEnv):
    """Gymnasium's own Hopper, thrown beyond MuJoCo's limits at step `at`; MuJoCo resets it."""

    def __init__(self, kind: str, at: int, **kwargs: Any):
        self.at = at
        super().__init__(**kwargs)

    def step(self, action: np.ndarray) -> tuple:
        is_bad = STEPS_TAKEN["number"] + 1 == self.at
        _count(is_bad)
        if is_bad:
            self.data.qvel[:] = 1e12
        return super().step(action)


gymnasium.register("campaign/Faulty-v0", cast(Any, Faulty))
gymnasium.register("campaign/BlownUp-v0", BlownUp, max_episode_steps=50)
