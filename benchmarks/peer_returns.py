"""Train a peer (Stable-Baselines3 PPO, sb3-contrib TRPO) with the paper's hyper-parameters.

Needs an environment of its own: see docs/results/base-algorithms.md. Writes one JSON line per
seed: the mean return of the last 100 training episodes at each 100,000 steps.
"""

import argparse
import json
import time

from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecNormalize

SETTINGS = {
    "trpo": {
        "envs": 5,
        "n_steps": 1000,
        "batch_size": 64,
        "learning_rate": 1e-3,
        "n_critic_updates": 5,
        "cg_max_steps": 20,
        "cg_damping": 0.1,
        "target_kl": 0.01,
        "line_search_shrinking_factor": 0.5,
    },
    "ppo": {
        "envs": 2,
        "n_steps": 1024,
        "batch_size": 64,
        "learning_rate": 3e-4,
        "n_epochs": 10,
        "clip_range": 0.2,
    },
}


class Curve(BaseCallback):
    """Mean return of the last 100 training episodes, at every interval."""

    def __init__(self, interval: int):
        super().__init__()
        self.interval, self.points = interval, []

    def _on_step(self) -> bool:
        if self.num_timesteps // self.interval > len(self.points):
            returns = [episode["r"] for episode in self.model.ep_info_buffer]
            self.points.append([self.num_timesteps, sum(returns) / len(returns)])
        return True


def main() -> None:
    """Train one algorithm on several seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("algorithm", choices=SETTINGS)
    parser.add_argument("--env", default="Hopper-v5")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    settings = dict(SETTINGS[options.algorithm])
    envs = settings.pop("envs")
    if options.algorithm == "trpo":
        from sb3_contrib import TRPO

        algorithm = TRPO
    else:
        algorithm = PPO
    for seed in options.seeds:
        vector = make_vec_env(options.env, envs, seed=seed)
        vector = VecNormalize(vector, norm_reward=False, clip_obs=5.0)
        model = algorithm(
            "MlpPolicy", vector, gamma=0.995, gae_lambda=0.97, seed=seed, device="cpu", **settings
        )
        curve = Curve(100_000)
        started = time.time()
        model.learn(options.steps, callback=curve)
        row = {
            "algorithm": options.algorithm,
            "env": options.env,
            "seed": seed,
            "curve": curve.points,
            "seconds": time.time() - started,
        }
        with open(options.out, "a") as file:
            file.write(json.dumps(row) + "\n")
        print(seed, curve.points[-1], flush=True)


if __name__ == "__main__":
    main()
