"""Train on an environment of one's own and use the policy: any Gymnasium environment will do."""

import gymnasium
import numpy as np

import mppo


class Thermostat(gymnasium.Env):
    """Keep a room at 20 degrees by heating (1) or not (0)."""

    def __init__(self):
        self.observation_space = gymnasium.spaces.Box(-50.0, 50.0, (1,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.degrees, self.time = self.np_random.uniform(5.0, 30.0), 0
        return np.array([self.degrees - 20.0], np.float32), {}

    def step(self, action):
        self.degrees += 1.0 if action == 1 else -1.0
        self.time += 1
        reward = 1.0 if abs(self.degrees - 20.0) < 2.0 else 0.0
        return np.array([self.degrees - 20.0], np.float32), reward, False, self.time >= 50, {}


if __name__ == "__main__":
    agent = mppo.train("ppo", Thermostat, steps=20_000, eval_every=0)
    for degrees in (10.0, 30.0):
        action, _ = agent.predict(np.array([degrees - 20.0], np.float32), deterministic=True)
        print(f"at {degrees} degrees: {'heat' if action == 1 else 'wait'}")
