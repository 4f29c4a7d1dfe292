"""Start-up: help, import, and the first iteration with an empty and a filled cache."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from mppo.algorithm.methods import METHODS
from mppo.bench.measured import MeasurementFailed
from mppo.bench.parts import Part, Table
from mppo.bench.ratios import Ratio, quotients, spread
from mppo.bench.sitting import Sitting

COMMANDS = {
    "mppo --help": None,
    'python -c "import argparse"': [sys.executable, "-c", "import argparse"],
    'python -c "import mppo"': [sys.executable, "-c", "import mppo"],
}
HELP, ARGPARSE, IMPORT = COMMANDS


def startup(sitting: Sitting) -> Part:
    """How long a user waits before anything happens."""
    short: dict[str, list[float]] = {name: [] for name in COMMANDS}
    first: dict[str, list[float]] = {"empty": [], "filled": []}
    for command in COMMANDS.values():
        _seconds(command or [*_mppo(), "--help"])  # the first time reads files from the disk
    for r in range(sitting.repetitions):
        sitting.say(f"startup {r + 1}/{sitting.repetitions}")
        times = [
            {name: _seconds(command or [*_mppo(), "--help"]) for name, command in COMMANDS.items()}
            for _ in range(sitting.size(5, 2))
        ]
        for name in COMMANDS:
            short[name].append(median(row[name] for row in times))
        for cache in first if r == 0 or not sitting.quick else ():  # the second finds the first's
            first[cache].append(_first_iteration(sitting, r, cache))
    sitting.samples.append({"seconds": short, "first_iteration_seconds": first})
    ratios = [
        Ratio(
            "startup-help",
            "mppo --help / import argparse",
            quotients(short[HELP], short[ARGPARSE]),
            12.0,
            "at most",
        ),
        Ratio(
            "startup-import",
            "import mppo / import argparse",
            quotients(short[IMPORT], short[ARGPARSE]),
        ),
        Ratio(
            "startup-cache",
            "first iteration, filled / empty cache",
            quotients(first["filled"], first["empty"]),
            0.5,
            "at most",
        ),
    ]
    rows = [[name, _milliseconds(values)] for name, values in short.items()]
    rows += [
        [f"first iteration, {cache} cache", _milliseconds(values)]
        for cache, values in first.items()
    ]
    return Part(ratios, [Table("startup", "Start-up from the shell", ["what", "ms"], rows)])


def _first_iteration(sitting: Sitting, repetition: int, cache: str) -> float:
    """`mppo train` for one batch, as a user calls it, from the shell to its end."""
    steps = str(sitting.overrides("trpo").get("batch_size", METHODS["trpo"].batch_size))
    out = sitting.folder / f"first-{repetition}-{cache}"
    words = ["train", "trpo", "Hopper-v5", "--steps", steps, "--batch-size", steps]
    words += ["--eval-every", "0", "--quiet", "--out", str(out)]
    kept = sitting.folder / f"cache-{repetition}"
    return _seconds([*_mppo(), *words], {"MPPO_COMPILATION_CACHE": str(kept)})


def _seconds(command: list[str], environment: dict[str, str] | None = None) -> float:
    started = time.perf_counter()
    done = subprocess.run(
        command, env={**os.environ, **(environment or {})}, capture_output=True, text=True
    )
    took = time.perf_counter() - started
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise MeasurementFailed(lines[-1])
    return took


def _mppo() -> list[str]:
    """The installed script beside this interpreter, else the module."""
    script = Path(sys.executable).with_name("mppo")
    return [str(script)] if script.exists() else [sys.executable, "-m", "mppo"]


def _milliseconds(values: list[float]) -> dict:
    return spread([1000 * value for value in values])
