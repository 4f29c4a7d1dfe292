"""The parts about speed: the limit, tasks, cores, two runs, K paths, start-up."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from mppo.algorithm.methods import METHODS
from mppo.bench.measure import MeasurementFailed, Sample, Skipped
from mppo.bench.ratios import Part, Ratio, Table, quotients, spread

if TYPE_CHECKING:
    from mppo.bench.session import Session

MAZE, CART = "mppo/Maze-v0", "mppo/SparseCartPoleSwingup-v0"
PENDULUM = "mppo/SparseDoublePendulum-v0"
LIMITS = {("trpo", "Hopper-v5"): 0.75, ("ppo", "Hopper-v5"): 0.65}
FURTHER_LIMITS = (("trpo", "HalfCheetah-v5"), ("trpo", "Ant-v5"), ("trpo", "Swimmer-v5"))
MAZE_RATE, BARE_HOPPER_RATE = 30_000, 8_000  # of the target: steps a second on the same core
RATED_TASKS = ("Hopper-v5", "HalfCheetah-v5", "Ant-v5", "Swimmer-v5", MAZE, CART, PENDULUM)
RATED_METHODS = ("trpo", "ppo", "mp-trpo")
SPEED_UP = {("trpo", "Hopper-v5"): 1.6, ("trpo", "Ant-v5"): 1.6}  # of two cores
PATHS = (1, 2, 4, 8, 16, 64)


def limit(session: Session) -> Part:
    """Training against bare `mj_step` of the same states and actions, on the same core."""
    maze = ("mp-trpo", MAZE)
    cases = [*LIMITS, *(() if session.quick else FURTHER_LIMITS)]
    measure = lambda case, r: session.train(
        *case, 100_000 if case == maze else 50_000, repetition=r, replay=case != maze
    )
    samples = session.repeat("limit", [*cases, maze], measure, ", one core", FURTHER_LIMITS)
    ratios, rows = [], []
    for method, env in cases:
        rate, bare = (_column(samples[method, env], name) for name in ("rate", "bare_rate"))
        what = f"{method} {env}, 1 core / bare mj_step"
        target = LIMITS.get((method, env))
        ratios.append(Ratio(f"limit-{method}-{env}", what, quotients(rate, bare), target))
        rows.append([method, _short(env), spread(rate), spread(bare)])
    rate, bare = _column(samples[maze], "rate"), _column(samples[cases[0]], "bare_rate")
    what, target = "mp-trpo Maze, 1 core / bare mj_step Hopper", MAZE_RATE / BARE_HOPPER_RATE
    ratios.append(Ratio("limit-maze", what, quotients(rate, bare), target))
    rows.append(["mp-trpo", _short(MAZE), spread(rate), None])
    columns = ["method", "task", "training", "bare mj_step"]
    return Part(ratios, [Table("limit", "Steps a second on one core", columns, rows)])


def rates(session: Session) -> Part:
    """Steps a second of every task and method, on one core and on all."""
    cases = [(method, env) for env in RATED_TASKS for method in RATED_METHODS]
    cases = cases[:1] if session.quick else cases
    every = ("one", "all") if len(session.cores) != 1 else ("one",)
    measure = lambda case, r: {on: session.train(*case, 25_000, on, r)["rate"] for on in every}
    samples = session.repeat("rates", cases, measure, few=cases)
    ratios, rows = [], []
    for (method, env), some in samples.items():
        one, both = _column(some, "one"), _column(some, "all") if "all" in every else None
        rows.append([method, _short(env), spread(one), spread(both) if both else None])
        if both and (method, env) not in SPEED_UP:
            what = f"{method} {_short(env)}, {len(session.cores)} cores / 1"
            ratios.append(Ratio(f"cores-{method}-{env}", what, quotients(both, one)))
    columns = ["method", "task", "1 core", f"{len(session.cores) or 'all'} cores"]
    return Part(ratios, [Table("rates", "Steps a second of training", columns, rows)])


def cores(session: Session) -> Part:
    """One run on all cores against the same run on one, and the same of bare `mj_step`."""
    if len(session.cores) < 2:
        raise Skipped("one run on several cores needs two cores to pin it to")
    cases = list(SPEED_UP)[: session.size(len(SPEED_UP), 1)]
    measure = lambda case, r: session.train(*case, 25_000, "all", r, alternate=True)["rates"]
    ratios, rows = [], []
    for (method, env), some in session.repeat("cores", cases, measure, ", in turn").items():
        judged = SPEED_UP[method, env] if len(session.cores) == 2 else None
        for prefix, name, target in (("", method, judged), ("bare ", "bare mj_step", None)):
            low, high = _column(some, f"{prefix}one"), _column(some, f"{prefix}all")
            what = f"{name} {_short(env)}, {len(session.cores)} cores / 1"
            key = f"cores-{prefix.strip() or method}-{env}"
            ratios.append(Ratio(key, what, quotients(high, low), target))
            rows.append([name, _short(env), spread(low), spread(high)])
    columns = ["what", "task", "1 core", f"{len(session.cores)} cores"]
    return Part(ratios, [Table("cores", "Steps a second", columns, rows)])


def two_runs(session: Session) -> Part:
    """Two runs on two cores against one run on one core: the same run, so the same work."""
    if len(session.cores) < 2:
        raise Skipped("two runs side by side need two cores to pin them to")

    def total(*turns: int) -> float:
        start = partial(session.start, "trpo", "Hopper-v5", 50_000, together=True)
        return sum(_column(session.together(start(repetition=turn) for turn in turns), "rate"))

    case = "one, then two side by side"
    measure = lambda _, r: {"one": total(r), "both": total(r, r + 1)}
    samples = session.repeat("two-runs", [case], measure)[case]
    one, both = _column(samples, "one"), _column(samples, "both")
    ratio = Ratio("two-runs", "two runs on 2 cores / one on 1 (total)", quotients(both, one), 1.9)
    columns = ["method", "task", "one run", "two runs together"]
    rows = [["trpo", "Hopper-v5", spread(one), spread(both)]]
    return Part([ratio], [Table("two-runs", "Steps a second, total", columns, rows)])


def paths(session: Session) -> Part:
    """Time per iteration and peak memory against the number of paths K.

    On a task whose steps all cost the same, so that what differs is K and not the physics.
    """
    counts = (PATHS[0], PATHS[-1]) if session.quick else PATHS
    cases = [("mp-trpo", k) for k in counts]
    iterations = session.size(20, 3)
    samples = session.train_paths("paths", PENDULUM, cases, iterations, session.repetitions)
    by_k = {k: some for (_, k), some in samples.items()}
    seconds = {k: [median(one["seconds"]) for one in some] for k, some in by_k.items()}
    peaks = {k: [one["resident_mib"]["peak"] for one in some] for k, some in by_k.items()}
    ratios = []
    for k in counts[1:]:
        for name, what, values, target in (
            ("time", "iteration", seconds, 1.03),
            ("memory", "peak memory", peaks, 1.02),
        ):
            title = f"mp-trpo, K = {k} / K = 1: {what}"
            ratio = quotients(values[k], values[1])
            judged = target if k == PATHS[-1] else None
            ratios.append(Ratio(f"paths-{k}-{name}", title, ratio, judged, "at most"))
    rows = [[k, spread([1000 * value for value in seconds[k]]), spread(peaks[k])] for k in counts]
    columns = ["K", "ms per iteration", "peak MiB"]
    return Part(ratios, [Table("paths", f"mp-trpo on {_short(PENDULUM)}, one core", columns, rows)])


def startup(session: Session) -> Part:
    """How long a user waits before anything happens."""
    commands = {
        "mppo --help": [*_mppo(), "--help"],
        'python -c "import argparse"': [sys.executable, "-c", "import argparse"],
        'python -c "import mppo"': [sys.executable, "-c", "import mppo"],
    }
    short: dict[str, list[float]] = {name: [] for name in commands}
    first: dict[str, list[float]] = {"empty": [], "filled": []}
    for command in commands.values():
        _seconds(command)  # the first time reads files from the disk
    for r in range(session.repetitions):
        session.say(f"startup {r + 1}/{session.repetitions}")
        times = [
            {name: _seconds(command) for name, command in commands.items()}
            for _ in range(session.size(5, 2))
        ]
        for name in commands:
            short[name].append(median(row[name] for row in times))
        for cache in first if r == 0 or not session.quick else ():  # the second finds the first's
            first[cache].append(_first_iteration(session, r, cache))
    session.samples.append({"seconds": short, "first_iteration_seconds": first})
    helped, least, imported = short.values()
    to_help, to_import = quotients(helped, least), quotients(imported, least)
    cached = quotients(first["filled"], first["empty"])
    ratios = [
        Ratio("startup-help", "mppo --help / import argparse", to_help, 12.0, "at most"),
        Ratio("startup-import", "import mppo / import argparse", to_import),
        Ratio("startup-cache", "first iteration, filled / empty cache", cached, 0.5, "at most"),
    ]
    timed = short | {f"first iteration, {cache} cache": first[cache] for cache in first}
    rows = [[name, spread([1000 * s for s in seconds])] for name, seconds in timed.items()]
    return Part(ratios, [Table("startup", "Start-up from the shell", ["what", "ms"], rows)])


def _first_iteration(session: Session, repetition: int, cache: str) -> float:
    """`mppo train` for one batch, as a user calls it, from the shell to its end."""
    steps = str(session.overrides("trpo").get("batch_size", METHODS["trpo"].batch_size))
    out = session.folder / f"first-{repetition}-{cache}"
    words = ["train", "trpo", "Hopper-v5", "--steps", steps, "--batch-size", steps]
    words += ["--eval-every", "0", "--quiet", "--out", str(out)]
    kept = session.folder / f"cache-{repetition}"
    return _seconds([*_mppo(), *words], {"MPPO_COMPILATION_CACHE": str(kept)})


def _seconds(command: list[str], environment: dict[str, str] | None = None) -> float:
    whole, started = {**os.environ, **(environment or {})}, time.perf_counter()
    done = subprocess.run(command, env=whole, capture_output=True, text=True)
    took = time.perf_counter() - started
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise MeasurementFailed(lines[-1])
    return took


def _mppo() -> list[str]:
    """The installed script beside this interpreter, else the module."""
    script = Path(sys.executable).with_name("mppo")
    return [str(script)] if script.exists() else [sys.executable, "-m", "mppo"]


def _short(env: str) -> str:
    return env.removeprefix("mppo/").removesuffix("-v0")


def _column(samples: list[Sample], name: str) -> list[float]:
    return [sample[name] for sample in samples]
