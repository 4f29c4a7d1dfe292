"""Small iterations for half an hour: no new compilation, no growth, no file left open."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from campaign.ledger import Row
from campaign.same_seed import by_python
from campaign.small import Small, surroundings

WARM_UP = 0.2  # of the time, before growth is measured
COMPILATION = "/jax/core/compile/backend_compile_duration"


def soak(minutes: float, folder: Path) -> Row:
    """Train in a process of its own that watches itself."""
    answer = subprocess.run(
        [sys.executable, "-m", "campaign.soak", str(minutes), str(folder / "soak")],
        env=surroundings(),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    row = json.loads(answer.stdout.splitlines()[-1])
    row["ok"] = (
        row["compilations after iteration 2"] == 0
        and row["growth"] <= 0.02
        and row["files"][0] == row["files"][1]
    )
    return row


class Watch:
    """Callback of a run: counts compilations, open files and resident memory."""

    def __init__(self, minutes: float, least: int = 0):
        import jax.monitoring

        self.started, self.seconds = time.monotonic(), 60 * minutes
        self.least = least  # iterations, however long they take
        self.compiled = self.compiled_early = self.compiled_in_time = self.iterations = 0
        self.memory: list[float] = []
        self.files: list[int] = []
        jax.monitoring.register_event_duration_secs_listener(self.hear)

    def hear(self, event: str, duration_secs: float, **details: Any) -> None:
        """Called by jax."""
        self.compiled += event == COMPILATION

    def __call__(self, event: str, row: Row) -> bool:
        passed, self.compiled_in_time = time.monotonic() - self.started, self.compiled
        if event == "iteration":
            self.iterations += 1
            if self.iterations <= 2:
                self.compiled_early = self.compiled
        due = event == "iteration" and self.iterations % 10 == 0
        if passed > WARM_UP * self.seconds and (due or not self.memory):
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            self.memory.append(pages * resource.getpagesize() / 2**20)
            self.files.append(len(os.listdir("/proc/self/fd")))
        return passed < self.seconds or self.iterations < self.least

    def found(self) -> Row:
        """What is recorded: memory as the median of the first and of the last tenth."""
        tenth = max(1, len(self.memory) // 10)
        first, last = median(self.memory[:tenth]), median(self.memory[-tenth:])
        return {
            "minutes": round(self.seconds / 60, 2),
            "iterations": self.iterations,
            "compilations": self.compiled_in_time,
            "compilations after iteration 2": self.compiled_in_time - self.compiled_early,
            "samples": len(self.memory),
            "MiB": [round(first, 1), round(last, 1)],
            "growth": round(last / first - 1, 5),
            "files": [min(self.files), max(self.files)],
        }


def train_watched(watch: Watch, out: Path) -> None:
    """Small iterations, each evaluated and saved, until the time is over."""
    by_python(
        Small("mp-trpo", "mppo/Maze-v0", "continue", iterations=100_000_000),
        out,
        eval_every=400,
        eval_episodes=1,
        checkpoint_every=1,
        workers=2,
        callback=watch,
        env_kwargs={"horizon": 100},  # short evaluations
    )


def main(minutes: float, out: Path) -> None:
    """Train and say what was seen."""
    from mppo.training import programs

    programs.keep_compiled()  # its setting precedes the first compilation, as in any run
    watch = Watch(minutes)
    train_watched(watch, out)
    print(json.dumps(watch.found()))


if __name__ == "__main__":
    main(float(sys.argv[1]), Path(sys.argv[2]))
