"""A training run that is timed from outside, iteration by iteration."""

from __future__ import annotations

import sys
import tempfile
import time
from typing import Any

from mppo.bench.measured import Training
from mppo.bench.replay import Replay
from mppo.bench.resident import resident_mib
from mppo.callbacks import Callback
from mppo.files.settings import method_named, overridden
from mppo.machine.lazy import jax
from mppo.training.start import train


class Clock(Callback):
    """The wall time of each iteration, everything between included."""

    wanted: Training
    replay: Replay | None
    episodes: int

    def __init__(self, wanted: Training):
        self.wanted = wanted
        self.replay = Replay(wanted.env, wanted.seed) if wanted.replay else None
        self.seconds: list[float] = []
        self.bare: list[float] = []
        self.episodes = 0
        self._seen, self._since = 0, time.perf_counter()

    def on_iteration(self, row: dict[str, Any]) -> None:
        for array in jax.live_arrays():  # nothing may go on computing while something else is timed
            if not array.is_deleted():
                array.block_until_ready()
        took = time.perf_counter() - self._since
        self._seen += 1
        if self._seen > self.wanted.warmup:
            self.seconds.append(took)
            self._live_again(row["iteration"])
        elif self._seen == self.wanted.warmup and self.wanted.together:
            print("ready", flush=True)
            sys.stdin.readline()
        self._since = time.perf_counter()

    def _live_again(self, iteration: int) -> None:
        seen = self.training.run.trajectories
        if self.replay is not None and seen is not None:
            episodes = self.replay.episodes(iteration, seen)
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
