"""Runs side by side on this machine: one process and one core for each."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from mppo.threads import ONE_THREAD, available_cores


@dataclass(frozen=True)
class RunSpec:
    """One run of a grid."""

    method: str
    env: str
    seed: int
    steps: int
    out: Path
    flags: tuple[str, ...] = ()
    """Further options of `mppo train`."""

    def command(self) -> list[str]:
        """The command line of the run."""
        words = [sys.executable, "-m", "mppo", "train", self.method, self.env]
        words += ["--seed", str(self.seed), "--steps", str(self.steps), "--out", str(self.out)]
        return [*words, "--workers", "1", "--quiet", *self.flags]

    @property
    def finished(self) -> bool:
        """Whether the run came to its end."""
        return (self.out / "final.json").exists()

    def rows(self) -> int:
        """Iterations done so far."""
        try:
            return (self.out / "metrics.jsonl").read_bytes().count(b"\n")
        except OSError:
            return 0


@dataclass
class Failure:
    """A run that ended otherwise than well."""

    spec: RunSpec
    exit_code: int
    message: str


@dataclass
class Pool:
    """Processes under way, at most one for each core."""

    jobs: int = field(default_factory=available_cores)
    running: dict[RunSpec, subprocess.Popen] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    def run(self, specs: Iterable[RunSpec], tick: Callable[[Pool], None] = lambda pool: None):
        """Run all that is not finished, from where it was left; `tick` is called now and then."""
        waiting = [spec for spec in specs if not spec.finished]
        try:
            while waiting or self.running:
                while waiting and len(self.running) < self.jobs:
                    self._start(waiting.pop(0))
                time.sleep(0.2)
                self._reap()
                tick(self)
        finally:
            for process in self.running.values():
                process.terminate()
        return self.failures

    def _start(self, spec: RunSpec) -> None:
        environment = {**os.environ, **ONE_THREAD}
        self.running[spec] = subprocess.Popen(
            spec.command(), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )

    def _reap(self) -> None:
        for spec, process in list(self.running.items()):
            if process.poll() is None:
                continue
            message = process.stderr.read().decode(errors="replace") if process.stderr else ""
            del self.running[spec]
            if process.returncode or not spec.finished:
                self.failures.append(Failure(spec, process.returncode, message.strip()))
