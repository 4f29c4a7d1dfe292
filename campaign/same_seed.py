"""The same seed again and again: beside busy neighbours, from shell and Python, 1 and 2 threads."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from campaign.ledger import Row
from campaign.small import METHODS, Small, call, outcome, surroundings

NEIGHBOURS = 2
BUSY = "while True: sum(i * i for i in range(100_000))"


class Neighbours:
    """Processes that keep the cores busy for as long as this context lasts."""

    def __init__(self, count: int = NEIGHBOURS):
        self.count = count
        self._processes: list[subprocess.Popen] = []

    def __enter__(self) -> Neighbours:
        command = [sys.executable, "-c", BUSY]
        self._processes = [subprocess.Popen(command) for _ in range(self.count)]
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._processes:
            process.kill()
            process.wait()


def cases(count: int = 10) -> list[str]:
    """Every method `count` times, in turn from shell and Python, with 1 and 2 threads."""
    ways = [(door, workers) for workers in (1, 2) for door in ("shell", "python")]
    return [
        f"{method} {n} {ways[n % len(ways)][0]} {ways[n % len(ways)][1]}"
        for n in range(count)
        for method in METHODS
    ]


def run(case: str, folder: Path) -> Row:
    """One run and the hash of all that must be the same."""
    method, n, door, workers = case.split()
    small = Small(method, "Hopper-v5", workers=int(workers), iterations=12)
    out = folder / f"seed-{method}-{n}"
    if door == "shell":
        answer = call(small.words(out), folder)
    else:
        answer = subprocess.run(
            [sys.executable, "-m", "campaign.same_seed", *map(str, (*small, out))],
            env=surroundings(),
            capture_output=True,
            text=True,
            check=False,
        )
    if answer.returncode:
        return {"ok": False, "failed": answer.stderr[-300:]}
    found = hash_of(out)
    shutil.rmtree(out)
    return {"hash": found, "ok": True}


def by_python(small: Small, out: Path, **options: Any) -> None:
    """The same run through the Python interface, or with other options."""
    from mppo.training.start import train

    evaluation = {"eval_every": 2000, "eval_episodes": 2, "eval_deterministic_episodes": 1}
    usual: dict[str, Any] = {"steps": small.steps, "seed": 3, "workers": small.workers} | evaluation
    train(small.method, small.env, out=out, overrides=small.overrides, **(usual | options))


def hash_of(out: Path) -> str:
    """A hash of all that must be the same."""
    metrics, evaluations, state = outcome(out)
    return hashlib.sha256(metrics + evaluations + state.encode()).hexdigest()[:16]


if __name__ == "__main__":
    method, env, episodes, workers, iterations, out = sys.argv[1:]
    by_python(Small(method, env, episodes, int(workers), int(iterations)), Path(out))
