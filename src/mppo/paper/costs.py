"""What runs cost on this machine: a short measurement, kept in the user's cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mppo.algorithm.methods import METHODS
from mppo.algorithm.optimisers.ppo import Ppo
from mppo.experiments.spec import RunSpec
from mppo.machine.threads import ONE_THREAD
from mppo.paper.artefacts import MAZE, TASKS

SIMULATED = 2_000  # steps of every task
ITERATIONS = 4  # of every kind of method; the first one compiles
KINDS = ("trpo", "ppo")
"""Methods whose updates cost differently; paths and bonuses hardly matter."""
Calibration = dict[str, dict[str, float]]
"""Seconds for a simulated step by task, and for an update by kind of method."""


def cost(run: RunSpec, seconds: Calibration) -> float:
    """Seconds of one core for a run, if every evaluation lasts to its horizon."""
    from mppo.envs.tasks import task_of

    horizon = task_of(run.env).horizon
    episodes = run.evaluation.episodes + run.evaluation.deterministic_episodes
    evaluated = episodes * horizon / run.evaluation.every if run.evaluation.every else 0.0
    kind = "ppo" if isinstance(run.method.optimiser, Ppo) else "trpo"
    simulation = run.steps * (1 + evaluated) * seconds["step"][run.env]
    return simulation + run.steps / run.batch_size * seconds["update"][kind]


def calibration(measure: bool, say: Callable[[str], None]) -> Calibration | None:
    """What was measured here before, or now; None if nothing was and nothing may be."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    file = Path(home) / "mppo" / "calibration.json"
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
        whole = set(TASKS) <= set(known["step"]) and set(KINDS) <= set(known["update"])
        known = known if whole and known["machine"] == _machine() else None  # of this machine
    except (OSError, ValueError, KeyError, TypeError):
        known = None
    if known is not None or not measure:
        return known
    say("measuring this machine (half a minute, once; best when nothing else is under way) ...")
    command = [sys.executable, "-m", "mppo.paper.costs"]
    environment = {**os.environ, **ONE_THREAD}
    answer = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    seconds = {"machine": _machine(), **json.loads(answer.stdout)}
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.write_text(json.dumps(seconds, indent=1) + "\n", encoding="utf-8")
    except OSError:
        say(f"cannot keep the measurement in {file}")
    return seconds


def _machine() -> dict[str, Any]:
    """What a measurement depends on; of any type that JSON has."""
    from mppo.bench.machine import description

    machine = description()
    return {name: machine[name] for name in ("processor", "cores", "versions")}


def measure_all() -> Calibration:
    """Measure steps of every task and updates of every kind of method, in this process."""
    from mppo.bench.measure import iteration_seconds
    from mppo.envs.source import env_source
    from mppo.files.evaluation import Evaluation
    from mppo.training.run import Run

    update = {}
    for kind in KINDS:
        method = METHODS[kind]
        run = Run(method, env_source(MAZE), ITERATIONS * method.batch_size, 0, Evaluation(0), 1)
        update[kind] = min(iteration_seconds(run) - run.simulation for _ in range(ITERATIONS))
        run.close()
    return {"step": {env: _step_seconds(env) for env in TASKS}, "update": update}


def _step_seconds(env: str) -> float:
    """Seconds of one step with a random policy, policy included."""
    from mppo.acting.actor import Actor
    from mppo.acting.agent import architecture_of
    from mppo.envs.source import env_source
    from mppo.machine.lazy import jax
    from mppo.rollouts.collector import Collector

    method, on = METHODS["trpo"], env_source(env)
    architecture, envs = architecture_of(method, on.spaces), on.envs_for(method.batch_size)
    actor = Actor(architecture, architecture.init(jax.random.key(0)))
    steps = SIMULATED // envs
    collector = Collector(on.make(envs), on.spaces, steps, 0, "fresh", False, method.gamma, 1)
    try:
        collector(actor, 0, 0)
        started = time.perf_counter()
        collector(actor, 0, 1)
        return (time.perf_counter() - started) / (steps * envs)
    finally:
        collector.close()


if __name__ == "__main__":
    print(json.dumps(measure_all()))
