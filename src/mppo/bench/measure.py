"""A measured process: what it trains, how it is started, and what happens inside it.

The parent starts `python -m mppo.bench.measure CORES WORKLOAD`, both JSON, and reads one line of
JSON. Both sides import this module, so nothing heavy is imported at its top: the child takes its
cores before it loads what starts threads.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mppo.bench.machine import cores
from mppo.bench.memory import resident_mib, return_large_buffers
from mppo.callbacks import Callback
from mppo.machine.lazy import jax

if TYPE_CHECKING:
    from mppo.bench.replay import Replay
    from mppo.training.run import Run

TIMEOUT = 3600  # seconds after which a measured process is given up
Sample = dict[str, Any]
"""What a process measured: JSON, which the parent keeps as it is."""


class MeasurementFailed(RuntimeError):
    """A measured process ended otherwise than well."""


class Skipped(RuntimeError):
    """A part cannot be measured here; the message says what it needs."""


class WorkersDiffer(RuntimeError):
    """The number of threads changed the result, so the two runs are not the same work."""


@dataclass(frozen=True)
class Workload:
    """What a measured process trains, for how long, and what it measures beside."""

    method: str
    env: str
    iterations: int
    warmup: int = 2
    """Iterations before the clock runs: they compile."""
    workers: int = 1
    seed: int = 0
    overrides: dict[str, Any] = field(default_factory=dict)
    replay: bool = False
    """Whether bare physics lives through every measured iteration right after it."""
    alternate: bool = False
    """Whether the run is made twice in turn, with one thread and with `workers`."""
    together: bool = False
    """Whether the clock starts only when the parent says so: for runs side by side."""
    steady_memory: bool = False
    """Whether large buffers go back to the system after each update."""


class MeasuredProcess:
    """A process that prints one line of JSON when it is done."""

    def __init__(self, command: list[str], environment: dict[str, str], label: Sample):
        self.label, self._errors = label, tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def wait_until_ready(self) -> None:
        """Wait until it has warmed up and waits for `go` itself."""
        assert self._process.stdout is not None
        if self._process.stdout.readline().strip() != "ready":
            self.result()
            raise MeasurementFailed("it ended without waiting for the start")

    def go(self) -> None:
        """Let its clock start."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write("go\n")
            self._process.stdin.flush()

    def result(self) -> Sample:
        """Wait for its end; its last line, read."""
        try:
            out, _ = self._process.communicate(timeout=TIMEOUT)
            if self._process.returncode:
                self._errors.seek(0)
                lines = self._errors.read().decode(errors="replace").strip().splitlines()
                code = f"exit code {self._process.returncode}"
                raise MeasurementFailed(lines[-1] if lines else code)
            return json.loads(out.strip().splitlines()[-1])
        except subprocess.TimeoutExpired as error:
            raise MeasurementFailed(f"no result after {TIMEOUT} s") from error
        finally:
            self.stop()

    def stop(self) -> None:
        """End it if it still runs."""
        self._process.kill()
        self._errors.close()
        with suppress(BrokenPipeError), self._process:
            pass  # its end is waited for, and its streams are closed


class Clock(Callback):
    """Callback of a run: the wall time of each iteration, everything between included."""

    def __init__(self, workload: Workload, replay: Replay | None):
        self.workload, self.replay = workload, replay
        self.seconds: list[float] = []
        self.bare: list[float] = []
        self.episodes = 0
        self._iterations, self._since = 0, time.perf_counter()

    def on_iteration(self, row: dict[str, Any]) -> None:
        for array in jax.live_arrays():  # nothing may go on computing while something else is timed
            if not array.is_deleted():
                array.block_until_ready()
        took = time.perf_counter() - self._since
        self._iterations += 1
        if self._iterations > self.workload.warmup:
            self.seconds.append(took)
            trajectories = self.training.run.trajectories
            if self.replay is not None and trajectories is not None:
                episodes = self.replay.episodes(row["iteration"], trajectories)
                self.episodes += len(episodes)
                self.bare.append(self.replay.seconds(episodes))
        elif self._iterations == self.workload.warmup and self.workload.together:
            print("ready", flush=True)
            sys.stdin.readline()
        self._since = time.perf_counter()


def measure_training(workload: Workload) -> Sample:
    """Train, and say how long each iteration took.

    The run writes its directory, as one from the shell does; evaluation is off.
    """
    from mppo.bench.replay import Replay
    from mppo.files.settings import method_named, overridden
    from mppo.training.start import train

    method = overridden(method_named(workload.method), workload.overrides)
    clock = Clock(workload, Replay(workload.env, workload.seed) if workload.replay else None)
    with tempfile.TemporaryDirectory() as folder:
        train(
            method,
            workload.env,
            steps=method.batch_size * (workload.warmup + workload.iterations),
            seed=workload.seed,
            out=f"{folder}/run",
            eval_every=0,
            workers=workload.workers,
            callback=clock,
        )
    steps = method.batch_size * len(clock.seconds)
    sample = {
        "batch_size": method.batch_size,
        "steps": steps,
        "seconds": clock.seconds,
        "rate": steps / sum(clock.seconds),
        "resident_mib": resident_mib(),
    }
    if clock.bare:
        sample |= {
            "bare_seconds": clock.bare,
            "bare_rate": steps / sum(clock.bare),
            "episodes_replayed_bit_equal": clock.episodes,
        }
    return sample


def measure_in_turn(workload: Workload) -> Sample:
    """Seconds of each iteration with one thread and with several, and of bare physics alike.

    The two runs have the same seed and so do the same work; that they end with the same bits is
    checked. They take turns iteration by iteration, so that drift of the machine cancels. The
    update is on one core in both.
    """
    from mppo.bench.replay import Replay
    from mppo.envs.source import env_source
    from mppo.files.evaluation import Evaluation
    from mppo.files.settings import method_named, overridden
    from mppo.training.run import Run

    method = overridden(method_named(workload.method), workload.overrides)
    rounds = workload.warmup + workload.iterations
    settings = (method, env_source(workload.env), method.batch_size * rounds, workload.seed)
    threads = {"one": 1, "all": workload.workers}
    runs = {name: Run(*settings, Evaluation(0, 0, 0), n) for name, n in threads.items()}
    replay = Replay(workload.env, workload.seed)
    seconds: dict[str, list[float]] = {name: [] for name in ("one", "all", "bare one", "bare all")}
    for n in range(rounds):
        took = {name: iteration_seconds(run) for name, run in runs.items()}
        trajectories = runs["one"].trajectories
        assert trajectories is not None
        episodes = replay.episodes(n, trajectories)  # of both: their bits are compared at the end
        for name in runs:
            bare = replay.seconds(episodes, threads[name])
            if n >= workload.warmup:
                seconds[name].append(took[name])
                seconds[f"bare {name}"].append(bare)
    if _bits(runs["one"]) != _bits(runs["all"]):
        raise WorkersDiffer(f"{workload.workers} threads gave other numbers than one")
    for run in runs.values():
        run.close()
    steps = method.batch_size * workload.iterations
    rates = {name: steps / sum(took) for name, took in seconds.items()}
    return {"steps": steps, "seconds": seconds, "rates": rates}


def iteration_seconds(run: Run, clock: Callable[[], float] = time.perf_counter) -> float:
    """How long one iteration of a run takes, by some clock."""
    started = clock()
    run.iterate()
    jax.block_until_ready(run.state)
    return clock() - started


def _bits(run: Run) -> list[bytes]:
    """What a run has learnt, bit for bit."""
    leaves = jax.tree.leaves((run.state.population, run.state.values))
    return [leaf.tobytes() for leaf in jax.device_get(leaves)]


def measured(workload: Workload) -> Sample:
    """What the parent wants of a workload."""
    if workload.steady_memory:
        return_large_buffers()
    return measure_in_turn(workload) if workload.alternate else measure_training(workload)


def answer(task: Callable[..., Any], measure: Callable[[Any], Sample], words: list[str]) -> None:
    """Keep to the cores that the parent names, then measure the task that it gives."""
    wanted, fields = map(json.loads, words)
    if wanted:
        os.sched_setaffinity(0, wanted)
    print(json.dumps({"cores": cores(), **measure(task(**fields))}), flush=True)


if __name__ == "__main__":
    answer(Workload, measured, sys.argv[1:])
