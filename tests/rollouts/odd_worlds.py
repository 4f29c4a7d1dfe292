"""Environments that worker processes can import without JAX; some of them misbehave on request."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import gymnasium
import numpy as np
from gymnasium import spaces


class Pier(gymnasium.Env):
    """A walk on -1 ... 1 with random wind, over at either edge or after 9 steps.

    `trouble` comes at step `at` of the first episode; with a `marker` file only the first time,
    in whichever process that is.
    """

    observation_space = spaces.Box(-1, 1, (1,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self, trouble: str = "", at: int = 5, marker: str = "", seconds: float = 0.0):
        self.trouble, self.at, self.marker, self.seconds = trouble, at, marker, seconds
        self.seen = np.zeros(1, np.float32)  # the same array again and again
        self.steps = 0  # in all

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time, self.seen[0] = 0, self.np_random.uniform(-0.2, 0.2)
        return self.seen, {}

    def step(self, action):
        self.steps += 1
        if self.trouble and self.steps == self.at:
            self.misbehave()
        if self.seconds:
            time.sleep(self.seconds)
        self.time += 1
        self.seen += np.float32(0.1 * (2 * int(action) - 1) + self.np_random.normal(0, 0.1))
        np.clip(self.seen, -1, 1, out=self.seen)
        reward = float(self.seen[0]) + 100 * ("jax" in sys.modules and self.trouble == "jax")
        return self.seen, reward, bool(abs(self.seen[0]) == 1), self.time >= 9, {}

    def misbehave(self) -> None:
        if self.marker:
            try:
                Path(self.marker).touch(exist_ok=False)
            except FileExistsError:
                return
        if self.trouble == "exits":
            os._exit(3)
        if self.trouble == "is killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.trouble == "hangs":
            time.sleep(600)
        if self.trouble == "raises":
            raise KeyError("no such pier")
        if self.trouble == "leaves":
            sys.exit("enough")
        if self.trouble == "prints":
            while True:
                print("wind " * 1000)


class Screen(Pier):
    """Cannot be made where there is no screen, though the first one could."""

    def __init__(self, marker: str):
        super().__init__()
        if Path(marker).exists():
            raise RuntimeError("X11: The DISPLAY environment variable is missing")
        Path(marker).touch()


def pier():
    """A fresh pier."""
    return Pier()


def slow_pier():
    """A pier whose steps take two milliseconds."""
    return Pier(seconds=0.002)
