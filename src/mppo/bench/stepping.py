"""A measured process that steps one environment: training, collecting and bare `env.step`.

The parent starts `python -m mppo.bench.stepping CORES TASK`, both JSON, and reads one line of JSON.
As in `measure`, nothing heavy is imported before the process has taken its cores.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mppo.bench.measure import Sample, answer, iteration_seconds
from mppo.machine.lazy import jax


@dataclass(frozen=True)
class Stepping:
    """What is measured of an environment, and how often."""

    env: str
    id: str
    package: str
    steps: int
    """Steps of collecting and of bare environments in a repetition."""
    repetitions: int
    envs: int = 0
    waits: bool = False
    """Whether wall time is taken, since CPU time says nothing of a step."""
    anew: bool = False
    """Whether the environments of collecting and of bare steps are made for each repetition."""
    together: bool = False
    """Whether only bare steps are measured, from when the parent says so."""


def measured(task: Stepping) -> Sample:
    """What the parent wants of an environment."""
    return measure_together(task) if task.together else measure_in_turn(task)


def measure_in_turn(task: Stepping) -> Sample:
    """Seconds of training, of collecting, and of bare steps, for each repetition in turn.

    Bare steps are those of the same actions from the same seeds (`again`), unless compiled code
    steps the environment from streams of its own, and those of random actions (`random`).
    """
    from mppo.bench.catalogue import make
    from mppo.envs.source import env_source
    from mppo.files.evaluation import Evaluation
    from mppo.files.settings import method_named, overridden
    from mppo.training.run import Run

    clock = time.perf_counter if task.waits else time.process_time
    on, bare = env_source(task.env), make(task.id, task.package)
    method = overridden(method_named("ppo"), {"envs": task.envs} if task.envs else {})
    rounds = task.repetitions + 2  # the first ones compile
    run = Run(method, on, method.batch_size * rounds, 0, Evaluation(0, 0, 0), 1)
    collect = _collecting(task, on, clock)
    seconds: dict[str, list[float]] = {}
    for n in range(rounds):
        if task.anew:
            collect, bare = _collecting(task, on, clock), make(task.id, task.package)
        took = {"training": iteration_seconds(run, clock)}
        took["collecting"], actions, paid = collect(n)
        if not on.native:
            took["again"] = _again(bare, n, actions, paid, clock)
        took["random"] = _at_random(bare, n, task.steps, clock)
        for name, value in took.items() if n >= 2 else ():
            seconds.setdefault(name, []).append(value)
    steps = dict.fromkeys(seconds, task.steps) | {"training": method.batch_size}
    return {"steps": steps, "seconds": seconds, "native": on.native, "envs": run.envs}


def _collecting(task: Stepping, on: Any, clock: Callable[[], float]) -> Callable[[int], Any]:
    """Collect a batch in one environment: seconds, the actions as it took them, all rewards."""
    from mppo.acting.actor import Actor
    from mppo.acting.agent import architecture_of
    from mppo.algorithm.methods import METHODS
    from mppo.rollouts.collector import Collector

    collector = Collector(on.make(1), on.spaces, task.steps, 0, clip=True)
    architecture = architecture_of(METHODS["ppo"], on.spaces)
    actor = Actor(architecture, architecture.init(jax.random.key(0)))

    def collect(n: int) -> tuple[float, list[Any], float]:
        started = clock()
        seen = collector(actor, 0, n)
        took = clock() - started
        actions = [on.spaces.to_env_one(action, True) for action in seen.actions[0]]
        return took, actions, float(seen.rewards.sum())

    return collect


def _again(env: Any, n: int, actions: list[Any], paid: float, clock: Callable[[], float]) -> float:
    """Seconds of the same actions without anything around them; the rewards must be the same."""
    from mppo.machine.seeding import Role, integer

    env.reset(seed=integer(0, Role.ENVIRONMENT, n, 0))
    took, rewards = _stepped(env, actions, clock)
    if abs(rewards - paid) > 1e-3 * (1 + abs(paid)):
        raise RuntimeError(f"bare steps were paid {rewards} and collecting {paid}: not the same")
    return took


def _at_random(env: Any, n: int, steps: int, clock: Callable[[], float]) -> float:
    env.action_space.seed(n)
    actions = [env.action_space.sample() for _ in range(steps)]
    env.reset(seed=n)
    return _stepped(env, actions, clock)[0]


def _stepped(env: Any, actions: list[Any], clock: Callable[[], float]) -> tuple[float, float]:
    rewards, started = 0.0, clock()
    for action in actions:
        _, reward, terminated, truncated, _ = env.step(action)
        rewards += float(reward)
        if terminated or truncated:
            env.reset()
    return clock() - started, rewards


def measure_together(task: Stepping) -> Sample:
    """Bare steps with random actions, beside another process that does the same."""
    from mppo.bench.catalogue import make

    env = make(task.id, task.package)
    _at_random(env, 0, 100, time.perf_counter)
    print("ready", flush=True)
    sys.stdin.readline()
    seconds = [_at_random(env, n, task.steps, time.perf_counter) for n in range(task.repetitions)]
    return {"rate": task.steps * len(seconds) / sum(seconds), "seconds": seconds}


if __name__ == "__main__":
    answer(Stepping, measured, sys.argv[1:])
