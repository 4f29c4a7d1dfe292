"""Start-up: help, import, and the first iteration with an empty and a filled cache."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from mppo.algorithm.methods import METHODS
from mppo.bench.measure import MeasurementFailed
from mppo.bench.ratios import Part, Ratio, Table, quotients, spread

if TYPE_CHECKING:
    from mppo.bench.session import Session

HELP, ARGPARSE, IMPORT = (
    "mppo --help",
    'python -c "import argparse"',
    'python -c "import mppo"',
)


def startup(session: Session) -> Part:
    """How long a user waits before anything happens."""
    commands = {
        HELP: [*_mppo(), "--help"],
        ARGPARSE: [sys.executable, "-c", "import argparse"],
        IMPORT: [sys.executable, "-c", "import mppo"],
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
    to_help, to_import = (quotients(short[name], short[ARGPARSE]) for name in (HELP, IMPORT))
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
