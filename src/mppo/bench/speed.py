"""The parts about the rate of training: the limit, tasks, cores, two runs, K paths."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from mppo.bench.measure import MeasuredProcess, Sample, Skipped
from mppo.bench.ratios import UNTARGETED, Part, Ratio, Table, quotients, spread

if TYPE_CHECKING:
    from mppo.bench.session import Session

MAZE, CART, PENDULUM = (
    "mppo/Maze-v0",
    "mppo/SparseCartPoleSwingup-v0",
    "mppo/SparseDoublePendulum-v0",
)
LIMITS = {("trpo", "Hopper-v5"): 0.75, ("ppo", "Hopper-v5"): 0.65}
FURTHER_LIMITS = (("trpo", "HalfCheetah-v5"), ("trpo", "Ant-v5"), ("trpo", "Swimmer-v5"))
MAZE_RATE, BARE_HOPPER_RATE = 30_000, 8_000  # of the target: steps a second on the same core
RATED_TASKS = ("Hopper-v5", "HalfCheetah-v5", "Ant-v5", "Swimmer-v5", MAZE, CART, PENDULUM)
RATED_METHODS = ("trpo", "ppo", "mp-trpo")
SPEED_UP = {("trpo", "Hopper-v5"): 1.6, ("trpo", "Ant-v5"): 1.6}  # of two cores
PATHS = (1, 2, 4, 8, 16, 64)


def limit(session: Session) -> Part:
    """Training against bare `mj_step` of the same states and actions, on the same core."""
    cases = [*LIMITS, *(() if session.quick else FURTHER_LIMITS)]
    samples: dict[tuple[str, str], list[Sample]] = {case: [] for case in cases}
    maze: list[float] = []
    steps = 50_000
    for r in range(session.repetitions):
        round_of = f"limit {r + 1}/{session.repetitions}"
        for method, env in cases:
            if (method, env) in LIMITS or r < UNTARGETED:
                session.say(f"{round_of}: {method} on {env}, one core")
                sample = session.train(method, env, steps, repetition=r, replay=True)
                samples[method, env].append(sample)
        session.say(f"{round_of}: mp-trpo on {MAZE}, one core")
        maze.append(session.train("mp-trpo", MAZE, 2 * steps, repetition=r)["rate"])
    ratios, rows = [], []
    for (method, env), some in samples.items():
        rate, bare = _column(some, "rate"), _column(some, "bare_rate")
        what = f"{method} {env}, 1 core / bare mj_step"
        target = LIMITS.get((method, env))
        ratios.append(Ratio(f"limit-{method}-{env}", what, quotients(rate, bare), target))
        rows.append([method, _short(env), spread(rate), spread(bare)])
    bare = _column(samples["trpo", "Hopper-v5"], "bare_rate")
    what, target = "mp-trpo Maze, 1 core / bare mj_step Hopper", MAZE_RATE / BARE_HOPPER_RATE
    ratios.append(Ratio("limit-maze", what, quotients(maze, bare), target))
    rows.append(["mp-trpo", _short(MAZE), spread(maze), None])
    columns = ["method", "task", "training", "bare mj_step"]
    return Part(ratios, [Table("limit", "Steps a second on one core", columns, rows)])


def rates(session: Session) -> Part:
    """Steps a second of every task and method, on one core and on all."""
    cases = [(method, env) for env in RATED_TASKS for method in RATED_METHODS]
    cases = cases[:1] if session.quick else cases
    every = ("one", "all") if len(session.cores) != 1 else ("one",)
    rate: dict[tuple[str, str, str], list[float]] = {
        (*case, on): [] for case in cases for on in ("one", "all")
    }
    repetitions = min(UNTARGETED, session.repetitions)
    for r in range(repetitions):
        for method, env in cases:
            session.say(f"rates {r + 1}/{repetitions}: {method} on {env}")
            for on in every:
                rate[method, env, on].append(session.train(method, env, 25_000, on, r)["rate"])
    ratios, rows = [], []
    for method, env in cases:
        one, both = rate[method, env, "one"], rate[method, env, "all"]
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
    samples: dict[tuple[str, str], list[Sample]] = {case: [] for case in cases}
    for r in range(session.repetitions):
        for method, env in cases:
            session.say(f"cores {r + 1}/{session.repetitions}: {method} on {env}, in turn")
            sample = session.train(method, env, 25_000, "all", r, alternate=True)
            samples[method, env].append(sample["rates"])
    ratios, rows = [], []
    for (method, env), some in samples.items():
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
    workload = {"method": "trpo", "env": "Hopper-v5", "steps": 50_000, "together": True}
    one: list[float] = []
    both: list[float] = []
    for r in range(session.repetitions):
        session.say(f"two-runs {r + 1}/{session.repetitions}: one, then two side by side")
        for totals, turns in ((one, [r]), (both, [r, r + 1])):
            totals.append(sum(_column(side_by_side(session, turns, workload), "rate")))
    ratio = Ratio("two-runs", "two runs on 2 cores / one on 1 (total)", quotients(both, one), 1.9)
    columns = ["method", "task", "one run", "two runs together"]
    rows = [["trpo", "Hopper-v5", spread(one), spread(both)]]
    return Part([ratio], [Table("two-runs", "Steps a second, total", columns, rows)])


def side_by_side(session: Session, turns: list[int], workload: dict[str, Any]) -> list[Sample]:
    """Measure runs on different cores whose clocks start together."""
    processes: list[MeasuredProcess] = []
    try:
        for turn in turns:
            processes.append(session.start(repetition=turn, **workload))
        for process in processes:
            process.wait_until_ready()
        for process in processes:
            process.go()
        return [session.finish(process) for process in processes]
    finally:
        for process in processes:
            process.stop()


def paths(session: Session) -> Part:
    """Time per iteration and peak memory against the number of paths K.

    On a task whose steps all cost the same, so that what differs is K and not the physics.
    """
    counts = (PATHS[0], PATHS[-1]) if session.quick else PATHS
    seconds: dict[int, list[float]] = {k: [] for k in counts}
    peaks: dict[int, list[float]] = {k: [] for k in counts}
    for r in range(-1, session.repetitions):  # round -1 fills the compilation cache
        for k in counts:
            session.say(f"paths {r + 1}/{session.repetitions}: K = {k}")
            iterations = 1 if r < 0 else session.size(20, 3)
            sample = session.train_paths("mp-trpo", PENDULUM, r, iterations, k)
            if r >= 0:
                seconds[k].append(median(sample["seconds"]))
                peaks[k].append(sample["resident_mib"]["peak"])
    ratios = []
    for k in counts[1:]:
        judged = k == PATHS[-1]
        for name, what, values, target in (
            ("time", "iteration", seconds, 1.03),
            ("memory", "peak memory", peaks, 1.02),
        ):
            title = f"mp-trpo, K = {k} / K = 1: {what}"
            ratio = quotients(values[k], values[1])
            target = target if judged else None
            ratios.append(Ratio(f"paths-{k}-{name}", title, ratio, target, "at most"))
    rows = [[k, spread([1000 * value for value in seconds[k]]), spread(peaks[k])] for k in counts]
    columns = ["K", "ms per iteration", "peak MiB"]
    return Part(ratios, [Table("paths", f"mp-trpo on {_short(PENDULUM)}, one core", columns, rows)])


def _short(env: str) -> str:
    return env.removeprefix("mppo/").removesuffix("-v0")


def _column(samples: list[Sample], name: str) -> list[float]:
    return [sample[name] for sample in samples]
