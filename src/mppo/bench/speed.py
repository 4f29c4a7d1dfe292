"""Parts of a sitting that are about the rate of training: the limit, tasks, two runs, K paths."""

from __future__ import annotations

from statistics import median
from typing import Any

from mppo.bench.measured import Measured, Sample
from mppo.bench.parts import Part, Table
from mppo.bench.ratios import UNTARGETED, Ratio, quotients, spread
from mppo.bench.sitting import Sitting, Skipped

MAZE, CART, PENDULUM = (
    "mppo/Maze-v0",
    "mppo/SparseCartPoleSwingup-v0",
    "mppo/SparseDoublePendulum-v0",
)
LIMITS = {("trpo", "Hopper-v5"): 0.75, ("ppo", "Hopper-v5"): 0.65}
FURTHER_LIMITS = (("trpo", "HalfCheetah-v5"), ("trpo", "Ant-v5"), ("trpo", "Swimmer-v5"))
MAZE_RATE, BARE_HOPPER_RATE = 30_000, 8_000  # of the target: steps a second on the same core
TASKS = ("Hopper-v5", "HalfCheetah-v5", "Ant-v5", "Swimmer-v5", MAZE, CART, PENDULUM)
METHODS = ("trpo", "ppo", "mp-trpo")
SPEED_UP = {("trpo", "Hopper-v5"): 1.6, ("trpo", "Ant-v5"): 1.6}  # of two cores
PATHS = (1, 2, 4, 8, 16, 64)


def limit(sitting: Sitting) -> Part:
    """Training against bare `mj_step` of the same states and actions, on the same core."""
    further = () if sitting.quick else FURTHER_LIMITS
    found: dict[tuple[str, str], list[Sample]] = {case: [] for case in (*LIMITS, *further)}
    maze: list[Sample] = []
    steps = 50_000
    for r in range(sitting.repetitions):
        for method, env in found:
            if (method, env) not in LIMITS and r >= UNTARGETED:
                continue
            sitting.say(f"limit {r + 1}/{sitting.repetitions}: {method} on {env}, one core")
            sample = sitting.train(method, env, steps, repetition=r, replay=True)
            found[method, env].append(sample)
        sitting.say(f"limit {r + 1}/{sitting.repetitions}: mp-trpo on {MAZE}, one core")
        maze.append(sitting.train("mp-trpo", MAZE, 2 * steps, repetition=r))
    ratios = [
        Ratio(
            f"limit-{method}-{env}",
            f"{method} {env}, 1 core / bare mj_step",
            quotients(_column(samples, "rate"), _column(samples, "bare_rate")),
            LIMITS.get((method, env)),
        )
        for (method, env), samples in found.items()
    ]
    bare = _column(found["trpo", "Hopper-v5"], "bare_rate")
    what = "mp-trpo Maze, 1 core / bare mj_step Hopper"
    target = MAZE_RATE / BARE_HOPPER_RATE
    ratios.append(Ratio("limit-maze", what, quotients(_column(maze, "rate"), bare), target))
    rows = [
        [
            method,
            _short(env),
            spread(_column(samples, "rate")),
            spread(_column(samples, "bare_rate")),
        ]
        for (method, env), samples in found.items()
    ]
    rows.append(["mp-trpo", _short(MAZE), spread(_column(maze, "rate")), None])
    columns = ["method", "task", "training", "bare mj_step"]
    return Part(ratios, [Table("limit", "Steps a second on one core", columns, rows)])


def rates(sitting: Sitting) -> Part:
    """Steps a second of every task and method, on one core and on all."""
    cases = [(method, env) for env in TASKS for method in METHODS]
    if sitting.quick:
        cases = cases[:1]
    found: dict[tuple[str, str, str], list[Sample]] = {}
    repetitions = min(UNTARGETED, sitting.repetitions)
    for r in range(repetitions):
        for method, env in cases:
            sitting.say(f"rates {r + 1}/{repetitions}: {method} on {env}")
            for on in ("one", "all") if len(sitting.cores) != 1 else ("one",):
                sample = sitting.train(method, env, 25_000, on, r)
                found.setdefault((method, env, on), []).append(sample)
    ratios, rows = [], []
    for method, env in cases:
        one = _column(found[method, env, "one"], "rate")
        every = _column(found.get((method, env, "all"), []), "rate")
        rows.append([method, _short(env), spread(one), spread(every) if every else None])
        if every and (method, env) not in SPEED_UP:
            what = f"{method} {_short(env)}, {len(sitting.cores)} cores / 1"
            ratios.append(Ratio(f"cores-{method}-{env}", what, quotients(every, one)))
    columns = ["method", "task", "1 core", f"{len(sitting.cores) or 'all'} cores"]
    table = Table("rates", "Steps a second of training", columns, rows)
    return Part(ratios, [table])


def cores(sitting: Sitting) -> Part:
    """One run on all cores against the same run on one, and the same of bare `mj_step`."""
    if len(sitting.cores) < 2:
        raise Skipped("one run on several cores needs two cores to pin it to")
    found: dict[tuple[str, str], list[Sample]] = {}
    for r in range(sitting.repetitions):
        for method, env in list(SPEED_UP)[: sitting.size(len(SPEED_UP), 1)]:
            sitting.say(f"cores {r + 1}/{sitting.repetitions}: {method} on {env}, in turn")
            sample = sitting.train(method, env, 25_000, "all", r, alternate=True)
            found.setdefault((method, env), []).append(sample["rates"])
    ratios, rows = [], []
    for (method, env), samples in found.items():
        target = SPEED_UP[method, env] if len(sitting.cores) == 2 else None
        for prefix, name, wanted in (("", method, target), ("bare ", "bare mj_step", None)):
            low, high = _column(samples, f"{prefix}one"), _column(samples, f"{prefix}all")
            what = f"{name} {_short(env)}, {len(sitting.cores)} cores / 1"
            key = f"cores-{prefix.strip() or method}-{env}"
            ratios.append(Ratio(key, what, quotients(high, low), wanted))
            rows.append([name, _short(env), spread(low), spread(high)])
    columns = ["what", "task", "1 core", f"{len(sitting.cores)} cores"]
    return Part(ratios, [Table("cores", "Steps a second", columns, rows)])


def two_runs(sitting: Sitting) -> Part:
    """Two runs on two cores against one run on one core: the same run, so the same work."""
    if len(sitting.cores) < 2:
        raise Skipped("two runs side by side need two cores to pin them to")
    case = {"method": "trpo", "env": "Hopper-v5", "steps": 50_000, "together": True}
    one: list[float] = []
    both: list[float] = []
    for r in range(sitting.repetitions):
        sitting.say(f"two-runs {r + 1}/{sitting.repetitions}: one, then two side by side")
        one += [sample["rate"] for sample in _side_by_side(sitting, [r], case)]
        pair = _side_by_side(sitting, [r, r + 1], case)
        both.append(sum(sample["rate"] for sample in pair))
    ratio = Ratio("two-runs", "two runs on 2 cores / one on 1 (total)", quotients(both, one), 1.9)
    columns = ["method", "task", "one run", "two runs together"]
    rows = [["trpo", "Hopper-v5", spread(one), spread(both)]]
    return Part([ratio], [Table("two-runs", "Steps a second, total", columns, rows)])


def _side_by_side(sitting: Sitting, turns: list[int], case: dict[str, Any]) -> list[Sample]:
    """Runs on different cores whose clocks start together."""
    under_way: list[Measured] = []
    try:
        for turn in turns:
            under_way.append(sitting.start(repetition=turn, **case))
        for process in under_way:
            process.wait_until_ready()
        for process in under_way:
            process.go()
        return [sitting.finish(process) for process in under_way]
    finally:
        for process in under_way:
            process.stop()


def paths(sitting: Sitting) -> Part:
    """Time per iteration and peak memory against the number of paths K.

    On a task whose steps all cost the same, so that what differs is K and not the physics.
    """
    counts = (PATHS[0], PATHS[-1]) if sitting.quick else PATHS
    seconds: dict[int, list[float]] = {k: [] for k in counts}
    peaks: dict[int, list[float]] = {k: [] for k in counts}
    for r in range(-1, sitting.repetitions):  # round -1 fills the compilation cache
        for k in counts:
            sitting.say(f"paths {r + 1}/{sitting.repetitions}: K = {k}")
            iterations = 1 if r < 0 else sitting.size(20, 3)
            sample = sitting.train(
                "mp-trpo",
                PENDULUM,
                repetition=r,
                iterations=iterations,
                overrides={"paths": k},
            )
            if r >= 0:
                seconds[k].append(median(sample["seconds"]))
                peaks[k].append(sample["resident_mib"]["peak"])
    ratios = []
    for k in counts[1:]:
        time, memory = (1.03, 1.02) if k == PATHS[-1] else (None, None)
        what = f"mp-trpo, K = {k} / K = 1:"
        values = quotients(seconds[k], seconds[1])
        ratios.append(Ratio(f"paths-{k}-time", f"{what} iteration", values, time, "at most"))
        values = quotients(peaks[k], peaks[1])
        ratios.append(Ratio(f"paths-{k}-memory", f"{what} peak memory", values, memory, "at most"))
    rows = [[k, spread([1000 * value for value in seconds[k]]), spread(peaks[k])] for k in counts]
    columns = ["K", "ms per iteration", "peak MiB"]
    return Part(ratios, [Table("paths", f"mp-trpo on {_short(PENDULUM)}, one core", columns, rows)])


def _short(env: str) -> str:
    return env.removeprefix("mppo/").removesuffix("-v0")


def _column(samples: list[Sample], name: str) -> list[float]:
    return [sample[name] for sample in samples]
