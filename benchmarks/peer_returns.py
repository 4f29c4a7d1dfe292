# pyright: reportMissingImports=false
"""Train a peer (Stable-Baselines3 PPO, sb3-contrib TRPO) with the paper's hyper-parameters.

Needs an environment of its own: see docs/results/base-algorithms.md. Writes one JSON line per
seed: the mean return of the last 100 training episodes at each interval. Observations that are no
single array are flattened.
"""

import argparse
import json
import runpy
import time
from pathlib import Path

from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecNormalize

SCRIPT = Path(__file__).parents[1] / "src" / "mppo" / "bench" / "peer_script.py"
PEERS = runpy.run_path(str(SCRIPT))  # by path: mppo is not in this environment
make_flat = runpy.run_path(str(SCRIPT.with_name("catalogue.py")))["make_flat"]
ENVS = {"trpo": 5, "ppo": 2}
SETTINGS = {
    name: {"n_steps": PEERS["BATCH"][name.upper()] // envs, **PEERS[name.upper()]}
    for name, envs in ENVS.items()
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
    parser.add_argument("--package", default="", help="the module that registers it")
    parser.add_argument("--interval", type=int, default=100_000, help="steps between two points")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    settings, envs = SETTINGS[options.algorithm], ENVS[options.algorithm]
    if options.algorithm == "trpo":
        from sb3_contrib import TRPO

        algorithm = TRPO
    else:
        algorithm = PPO
    for seed in options.seeds:
        vector = make_vec_env(lambda: make_flat(options.env, options.package), envs, seed=seed)
        vector = VecNormalize(vector, norm_reward=False, clip_obs=5.0)
        model = algorithm(
            "MlpPolicy", vector, seed=seed, device="cpu", **PEERS["DISCOUNT"], **settings
        )
        curve = Curve(options.interval)
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
