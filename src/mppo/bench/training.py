"""A training run that is timed from outside, iteration by iteration."""

from __future__ import annotations

import sys
import tempfile
import time
from typing import Any

from mppo.bench.measured import Training
from mppo.bench.replay import Replay
from mppo.bench.resident import resident_mib
from mppo.config import method_named, overridden
from mppo.lazy import jax
from mppo.train import train


class Clock:
    """Callback of a run: the wall time of each iteration, everything between included."""

    replay: Replay | None
    episodes: int

    def __init__(self, training: Training):
        self.training = training
        self.replay = Replay(training.env, training.seed) if training.replay else None
        self.seconds: list[float] = []
        self.bare: list[float] = []
        self.episodes = 0
        self._seen, self._since = 0, time.perf_counter()

    def __call__(self, event: str, row: dict[str, Any]) -> None:
        if event != "iteration":
            return
        for array in jax.live_arrays():  # nothing may go on computing while something else is timed
            if not array.is_deleted():
                array.block_until_ready()
        took = time.perf_counter() - self._since
        self._seen += 1
        if self._seen > self.training.warmup:
            self.seconds.append(took)
            self._live_again(row)
        elif self._seen == self.training.warmup and self.training.together:
            print("ready", flush=True)
            sys.stdin.readline()
        self._since = time.perf_counter()

    def _live_again(self, row: dict[str, Any]) -> None:
        if self.replay is not None:
            episodes = self.replay.episodes(row["iteration"], row["trajectories"])
            self.episodes += len(episodes)
            self.bare.append(self.replay.seconds(episodes))


def measure(training: Training) -> dict[str, Any]:
    """Train, and say how long each iteration took.

    The run writes its directory, as one from the shell does; evaluation is off.
    """
    method = overridden(method_named(training.method), training.overrides)
    clock = Clock(training)
    with tempfile.TemporaryDirectory() as folder:
        train(
            method,
            training.env,
            steps=method.batch_size * (training.warmup + training.iterations),
            seed=training.seed,
            out=f"{folder}/run",
            eval_every=0,
            workers=training.workers,
            callback=clock,
        )
    steps = method.batch_size * len(clock.seconds)
    found = {
        "batch_size": method.batch_size,
        "steps": steps,
        "seconds": clock.seconds,
        "rate": steps / sum(clock.seconds),
        "resident_mib": resident_mib(),
    }
    if clock.bare:
        found |= {
            "bare_seconds": clock.bare,
            "bare_rate": steps / sum(clock.bare),
            "episodes_replayed_bit_equal": clock.episodes,
        }
    return found
