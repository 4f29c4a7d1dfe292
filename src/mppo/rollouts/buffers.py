"""The arrays of one batch while it is filled."""

from __future__ import annotations

import numpy as np

from mppo.algorithm.types import Earlier, Trajectories


class Buffers:
    """The arrays of one batch while it is filled: [E, T, ...]."""

    observations: np.ndarray
    next_observations: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray

    def __init__(self, envs: int, steps: int, observation_size: int, action_size: int):
        self.observations = np.empty((envs, steps, observation_size), np.float32)
        self.next_observations = np.empty((envs, steps, observation_size), np.float32)
        self.actions = np.empty((envs, steps, action_size), np.float32)
        self.rewards = np.empty((envs, steps), np.float32)
        self.terminated = np.zeros((envs, steps), bool)
        self.truncated = np.zeros((envs, steps), bool)

    def trajectories(self, earlier: Earlier, last: np.ndarray) -> Trajectories:
        """The finished batch; `last` [E, obs] is what was seen after the last step.

        Successors at episode ends are in place already; all others are the next row.
        """
        ended = self.terminated | self.truncated
        going = ~ended[:, :-1]
        self.next_observations[:, :-1][going] = self.observations[:, 1:][going]
        self.next_observations[:, -1][~ended[:, -1]] = last[~ended[:, -1]]
        return Trajectories(
            self.observations,
            self.actions,
            self.rewards,
            self.next_observations,
            self.terminated,
            self.truncated,
            earlier,
        )
