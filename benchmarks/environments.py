"""Every environment at the speed of its own steps: python benchmarks/environments.py

Of environments that Python steps: collecting, policy included, against bare `env.step` of the same
actions from the same seeds. Of compiled robots: training against bare `mj_step` of the same states
and actions. One core, CPU time, in turn in one process; medians of the repetitions.
Environments whose package is missing are left out.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parent
ROBOTS = ("Ant", "HalfCheetah", "Hopper", "Humanoid", "HumanoidStandup", "InvertedDoublePendulum")
ROBOTS += ("InvertedPendulum", "Pusher", "Reacher", "Swimmer", "Walker2d")
TARGETS = {
    "AntMaze_UMaze-v5": 0.85,
    "PointMaze_UMaze-v3": 0.85,
    "Hopper-v4 in two wrappers": 0.85,
    "LunarLander-v3": 0.8,
    "BipedalWalker-v3": 0.8,
    "MiniGrid-Empty-8x8-v0, flat": 0.8,
    "CartPole-v1": 0.5,
    "Blackjack-v1": 0.5,
}


def makers() -> dict[str, Callable[[], Any]]:
    """How each environment is made."""
    import gymnasium
    from gymnasium.wrappers import ClipAction, FlattenObservation, TransformReward

    def made(name: str) -> Any:
        package = {"AntMaze": "gymnasium_robotics", "PointMaze": "gymnasium_robotics"}
        module = package.get(name.partition("_")[0], "minigrid" if "MiniGrid" in name else "")
        if module:
            gymnasium.register_envs(__import__(module))
        return gymnasium.make(name, disable_env_checker=True)

    def minigrid() -> Any:
        from minigrid.wrappers import ImgObsWrapper

        return FlattenObservation(ImgObsWrapper(made("MiniGrid-Empty-8x8-v0")))

    hopper = lambda: ClipAction(TransformReward(made("Hopper-v4"), lambda reward: reward))
    own = {"Hopper-v4 in two wrappers": hopper, "MiniGrid-Empty-8x8-v0, flat": minigrid}
    return {name: own.get(name, lambda name=name: made(name)) for name in TARGETS}


def collecting(make: Callable[[], Any], steps: int, repetitions: int) -> list[tuple[float, float]]:
    """Seconds of CPU time of collecting and of bare steps, for each repetition."""
    import jax

    from mppo.acting.actor import Actor
    from mppo.acting.agent import architecture_of
    from mppo.algorithm.methods import METHODS
    from mppo.envs.source import env_source
    from mppo.machine.seeding import Role, integer
    from mppo.rollouts.collector import Collector

    on, bare, found = env_source(make), make(), []
    collect = Collector(on.make(1), on.spaces, steps, 0, clip=True)
    architecture = architecture_of(METHODS["ppo"], on.spaces)
    actor = Actor(architecture, architecture.init(jax.random.key(0)))
    for n in range(repetitions + 1):  # the first one compiles
        started = time.process_time()
        seen = collect(actor, 0, n)
        ours = time.process_time() - started
        actions = [on.spaces.to_env_one(action, True) for action in seen.actions[0]]
        bare.reset(seed=integer(0, Role.ENVIRONMENT, n, 0))
        paid, started = 0.0, time.process_time()
        for action in actions:
            _, reward, terminated, truncated, _ = bare.step(action)
            paid += float(reward)
            if terminated or truncated:
                bare.reset()
        found.append((ours, time.process_time() - started))
        assert abs(paid - seen.rewards.sum()) <= 1e-3 * (1 + abs(paid)), "not the same episodes"
    return found[1:]


def training(robot: str, method_name: str, repetitions: int) -> list[tuple[float, float]]:
    """Seconds of an iteration and of bare physics of its episodes, for each repetition."""
    import jax

    from mppo.bench.replay import Replay
    from mppo.envs.source import env_source
    from mppo.files.evaluation import Evaluation
    from mppo.files.settings import method_named
    from mppo.training.run import Run

    method, warm_up = method_named(method_name), 2
    steps = method.batch_size * (warm_up + repetitions)
    run = Run(method, env_source(robot), steps, 0, Evaluation(0, 0, 0), 1)
    replay, found = Replay(robot, 0), []
    for n in range(warm_up + repetitions):
        started = time.process_time()
        run.iterate()
        jax.block_until_ready(run.state)
        ours = time.process_time() - started
        if n >= warm_up:
            episodes = replay.episodes(n, run.trajectories)  # type: ignore
            started = time.process_time()
            replay.seconds(episodes)
            found.append((ours, time.process_time() - started))
    return found


def row(name: str, steps: int, found: list[tuple[float, float]], target: float) -> str:
    """A row of the table: rates, the ratio with its range, and the target."""
    ratios = sorted(bare / ours for ours, bare in found)
    rates = [steps / median(times) for times in zip(*found, strict=True)]
    cells = [name, *(f"{rate:,.0f}" for rate in rates), f"{median(ratios):.3f}"]
    spread = f"{ratios[0]:.3f} to {ratios[-1]:.3f}"
    return "| " + " | ".join([*cells, spread, f">= {target}"]) + " |"


def main() -> None:
    """Measure, and print two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--only", choices=("collecting", "training"))
    parser.add_argument("--method", default="trpo")
    given = parser.parse_args()
    # beside this file there is a coverage.py, which Numba would take for the package of that name
    sys.path[:] = [place for place in sys.path if Path(place).resolve() != HERE]
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    from mppo.files.settings import method_named

    warnings.simplefilter("ignore")
    head = "| spread | target |\n|---|---|---|---|---|---|"
    if given.only != "training":
        print("| environment | collecting, steps a second | bare env.step | ratio " + head)
        for name, make in makers().items():
            try:
                found = collecting(make, given.steps, given.repetitions)
            except (ImportError, ModuleNotFoundError) as error:
                print(f"{name}: {error}")
                continue
            print(row(name, given.steps, found, TARGETS[name]), flush=True)
    if given.only != "collecting":
        batch = method_named(given.method).batch_size
        print(f"\n| robot | {given.method}, steps a second | bare mj_step | ratio " + head)
        for name in ROBOTS:
            found = training(f"{name}-v5", given.method, given.repetitions)
            print(row(f"{name}-v5", batch, found, 0.82 if name == "Hopper" else 0.75), flush=True)


if __name__ == "__main__":
    main()
