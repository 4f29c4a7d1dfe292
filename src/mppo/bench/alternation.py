"""One run on one core and on all, iteration by iteration in turn: drift of the machine cancels."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from mppo.bench.measured import Training
from mppo.bench.replay import Replay
from mppo.envs.source import task
from mppo.files.evaluation import Evaluation
from mppo.files.settings import method_named, overridden
from mppo.machine.lazy import jax
from mppo.training.run import Run


class WorkersDiffer(RuntimeError):
    """The number of threads changed the result, so the two runs are not the same work."""


def alternate(training: Training) -> dict[str, Any]:
    """Seconds of each iteration with one thread and with several, and of bare physics alike.

    The two runs have the same seed and so do the same work; that they end with the same bits is
    checked. The update is on one core in both.
    """
    method = overridden(method_named(training.method), training.overrides)
    rounds = training.warmup + training.iterations
    runs = {
        name: Run(
            method,
            task(training.env),
            method.batch_size * rounds,
            training.seed,
            Evaluation(0, 0, 0),
            workers,
        )
        for name, workers in (("one", 1), ("all", training.workers))
    }
    replay = Replay(training.env, training.seed)
    seconds: dict[str, list[float]] = {name: [] for name in ("one", "all", "bare one", "bare all")}
    for n in range(rounds):
        taken = {name: _timed(run) for name, run in runs.items()}
        seen = runs["one"].trajectories
        assert seen is not None
        episodes = replay.episodes(n, seen)  # of both: their bits are compared at the end
        for name, run in runs.items():
            bare = replay.seconds(episodes, run.workers)
            if n >= training.warmup:
                seconds[name].append(taken[name])
                seconds[f"bare {name}"].append(bare)
    one, other = (
        jax.tree.leaves((run.state.population, run.state.values)) for run in runs.values()
    )
    if any(
        np.asarray(a).tobytes() != np.asarray(b).tobytes() for a, b in zip(one, other, strict=True)
    ):
        raise WorkersDiffer(f"{training.workers} threads gave other numbers than one")
    for run in runs.values():
        run.close()
    steps = method.batch_size * training.iterations
    return {
        "steps": steps,
        "seconds": seconds,
        "rates": {k: steps / sum(v) for k, v in seconds.items()},
    }


def _timed(run: Run) -> float:
    started = time.perf_counter()
    run.iterate()
    jax.block_until_ready(run.state)
    return time.perf_counter() - started
