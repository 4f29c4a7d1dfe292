"""What a policy trained on SparseCartPoleSwingup does: does it balance the pole, or let it turn?

    python benchmarks/swingup_turns.py runs/paper/runs/RUN_ID ...

For each run ten episodes: return, net turns of the pole, longest stretch of upright steps.
"""

import sys
from itertools import groupby
from math import tau
from pathlib import Path
from typing import Any

import gymnasium

import mppo
from mppo.files.checkpoints import read_json


def episode(agent: mppo.Agent, seed: int, arguments: dict) -> tuple[int, float, int]:
    """Return, net turns and longest upright stretch."""
    env = gymnasium.make("mppo.envs:mppo/SparseCartPoleSwingup-v0", **arguments)
    whole: Any = env.unwrapped  # its angle counts turns, also where what is observed does not
    observation, _ = env.reset(seed=seed)
    before, upright, over = whole.simulation.dynamics.arrays()["state"][1, 0], [], False
    while not over:
        action, _ = agent.predict(observation)
        observation, reward, terminated, truncated, _ = env.step(action)
        upright.append(bool(reward))
        over = terminated or truncated
    state = whole.simulation.dynamics.arrays()["state"]
    stretches = [len(list(steps)) for up, steps in groupby(upright) if up]
    return sum(upright), (state[1, 0] - before) / tau, max(stretches, default=0)


def main() -> None:
    for directory in map(Path, sys.argv[1:]):
        run = read_json(directory / "run.json", 1 << 20)
        agent = mppo.load(directory)
        found = [episode(agent, seed, run["env_kwargs"]) for seed in range(10)]
        returns, turns, stretches = zip(*found, strict=True)
        print(
            f"{run['method_name']}, seed {run['seed']}, {run['env_kwargs'] or 'raw'}: return "
            f"{min(returns)} to {max(returns)}, net turns {min(map(abs, turns)):.1f} to "
            f"{max(map(abs, turns)):.1f}, longest upright {min(stretches)} to {max(stretches)}"
        )


if __name__ == "__main__":
    main()
