"""Throughput of the engines: two jobs against one run on one core, Ray against the local engine.

    python benchmarks/engines.py --repetitions 3

The same runs each time, compiled beforehand; every repetition takes all engines in turn, and the
ratios are of neighbours in time. Targets: at least 1.9 for two jobs, at least 0.9 for Ray. A Ray of
its own takes ten seconds or so to start, whatever follows; it is therefore compared from the first
run's start to the last one's end, and the ratio with its start is printed beside. It needs two free
cores and nothing else under way.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from mppo.experiments import launch
from mppo.files.reader import rows

SWEEP = """
steps = {steps}
seeds = {seeds}
tasks = ["{env}"]
methods = ["mp-trpo"]
"""


def seconds(words: list[str], cores: list[int] | None) -> float:
    """Wall time of `mppo WORDS` on some cores."""
    before = os.sched_getaffinity(0)
    if cores is not None:
        os.sched_setaffinity(0, cores)
    try:
        started = time.perf_counter()
        command = launch.command(None, ["-m", "mppo", *words])
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - started
    finally:
        os.sched_setaffinity(0, before)


def span(out: Path) -> float:
    """Seconds from the start of the first run to the end of the last."""
    events = [row for run in out.glob("runs/*") for row in rows(run, "events.jsonl")]
    started = min(row["time"] for row in events if row["event"] == "start")
    return max(row["time"] for row in events if row["event"] == "finished") - started


def measure(folder: Path, options: argparse.Namespace, repetition: int) -> dict[str, float]:
    """Wall time of all runs, by engine."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    engines = {
        "one core": (["--jobs", "1"], cores[:1]),
        "two jobs": (["--jobs", "2"], cores),
        "ray": (["--jobs", "2", "--engine", "ray"], cores),
    }
    found = {}
    for name, (flags, on) in engines.items():
        out = folder / f"{name.replace(' ', '-')}-{repetition}"
        found[name] = seconds(["sweep", str(folder / "sweep.toml"), *flags, "--out", str(out)], on)
        found[f"{name}, runs"] = span(out)
        print(f"  {name}: {found[name]:.1f} s, of runs {span(out):.1f} s", flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--env", default="mppo/SparseDoublePendulum-v0")
    parser.add_argument("--steps", type=int, default=300_000, help="of every run")
    parser.add_argument("--seeds", type=int, default=4, help="runs; an even number")
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    if len(os.sched_getaffinity(0)) < 2:
        print("this needs two cores", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = SWEEP.format(steps=10_000, seeds=1, env=options.env)
        (folder / "warm.toml").write_text(text)
        seconds(["sweep", str(folder / "warm.toml"), "--out", str(folder / "warm")], None)
        text = SWEEP.format(steps=options.steps, seeds=options.seeds, env=options.env)
        (folder / "sweep.toml").write_text(text)
        times = []
        for repetition in range(options.repetitions):
            print(f"repetition {repetition}: {options.seeds} runs of {options.steps:,} steps")
            times.append(measure(folder, options, repetition))
    verdicts = []
    for what, above, below, target in (
        ("two jobs on two cores / one job on one core", "one core", "two jobs", 1.9),
        ("Ray / local engine, both two jobs", "two jobs, runs", "ray, runs", 0.9),
        ("the same with the start of Ray", "two jobs", "ray", None),
    ):
        ratios = [row[above] / row[below] for row in times]
        line = f"{what}: {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        if target is not None:
            verdicts.append(median(ratios) >= target)
            line += f", target {target}: {'met' if verdicts[-1] else 'NOT met'}"
        print(line)
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    raise SystemExit(main())
