"""What runs cost on this machine: a short measurement, kept in the user's cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def cost(run: RunSpec, measured: Calibration) -> float:
    """Seconds of one core for a run, if every evaluation lasts to its horizon."""
    from mppo.envs import tasks

    horizon = next(task.horizon for task in tasks.TASKS if task.id == run.env)
    evaluation = run.evaluation
    beside = evaluation.episodes + evaluation.deterministic_episodes
    evaluated = beside * horizon / evaluation.every if evaluation.every else 0.0
    updates = run.steps / run.batch_size
    kind = "ppo" if isinstance(run.method.optimiser, Ppo) else "trpo"
    return (
        run.steps * measured["step"][run.env] * (1 + evaluated) + updates * measured["update"][kind]
    )


def calibration(measure: bool, say: Callable[[str], None]) -> Calibration | None:
    """What was measured here before, or now; None if it must not be."""
    file = _cache()
    known = _read(file)
    if known is not None or not measure:
        return known
    say("measuring this machine (half a minute, once; best when nothing else is under way) ...")
    answer = subprocess.run(
        [sys.executable, "-m", "mppo.paper.costs"],
        env={**os.environ, **ONE_THREAD},
        stdout=subprocess.PIPE,
        check=True,
    )
    found = {"machine": _machine(), **json.loads(answer.stdout)}
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    except OSError:
        say(f"cannot keep the measurement in {file}")
    return found


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "mppo" / "calibration.json"


def _machine() -> dict[str, Any]:
    from mppo.bench.machine import description

    found = description()
    return {name: found[name] for name in ("processor", "cores", "versions")}


def _read(file: Path) -> Calibration | None:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        fits = found["machine"] == _machine()
        fits = fits and set(TASKS) <= set(found["step"]) and set(KINDS) <= set(found["update"])
        return found if fits else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def measured() -> Calibration:
    """Measure steps of every task and updates of every kind of method, in this process."""
    from mppo.algorithm.methods import METHODS
    from mppo.envs.source import task
    from mppo.files.evaluation import Evaluation
    from mppo.training.run import Run

    step: dict[str, float] = {}
    update: dict[str, float] = {}
    for env in TASKS:
        step[env] = _step(env)
    for kind in KINDS:
        method = METHODS[kind]
        run = Run(method, task(MAZE), ITERATIONS * method.batch_size, 0, Evaluation(0), 1)
        update[kind] = _update(run)
        run.close()
    return {"step": step, "update": update}


def _update(run: Any) -> float:
    """The quickest update of some iterations."""
    import time

    seconds = []
    for _ in range(ITERATIONS):
        started = time.perf_counter()
        run.iterate()
        seconds.append(time.perf_counter() - started - run.simulation)
    return min(seconds)


def _step(env: str) -> float:
    """Seconds of one step with a random policy, policy included."""
    import time

    from mppo.acting.actor import Actor
    from mppo.algorithm.methods import METHODS
    from mppo.algorithm.policies import Architecture
    from mppo.envs.source import task
    from mppo.machine.lazy import jax
    from mppo.rollouts.collector import Collector

    method, on = METHODS["trpo"], task(env)
    spaces = on.spaces
    architecture = Architecture(
        spaces.observation_size, spaces.head, method.network, True, spaces.action_scale
    )
    actor = Actor(architecture, architecture.init(jax.random.key(0)))
    envs = on.envs_for(method.batch_size)
    collector = Collector(
        on.make(envs), spaces, SIMULATED // envs, 0, "fresh", False, method.gamma, 1
    )
    try:
        collector(actor, 0, 0)
        started = time.perf_counter()
        collector(actor, 0, 1)
        return (time.perf_counter() - started) / (SIMULATED // envs * envs)
    finally:
        collector.close()


if __name__ == "__main__":
    print(json.dumps(measured()))
