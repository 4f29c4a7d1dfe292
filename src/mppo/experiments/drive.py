"""The driver: hands runs to workers until each is done or has failed for good.

All it knows is in the files of the grid. It may be killed at any moment and started again, and
several may work on one directory: the lock of each run decides who writes.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from mppo.experiments.grid import Failure, Grid
from mppo.experiments.lengthen import lengthen
from mppo.experiments.outcomes import Decision, decide, explained
from mppo.experiments.spec import RunSpec
from mppo.files.reader import State

LOOK_AGAIN = 1.0  # seconds between looks at what other drivers do


class Ended(NamedTuple):
    """A run's process came to its end."""

    run: RunSpec
    exit_code: int
    output: str
    """The end of its standard error."""


class Workers(Protocol):
    """Where runs are carried out."""

    def room(self, running: int) -> bool:
        """Whether one more run can be started now."""
        ...

    def start(self, run: RunSpec, words: list[str]) -> None:
        """Begin `mppo WORDS` for a run."""
        ...

    def ended(self) -> list[Ended]:
        """Wait for a moment; the runs that ended since the last call."""
        ...

    def stop(self) -> None:
        """Ask all runs to save and end, and wait for them."""
        ...


@dataclass
class Driver:
    """One call of the engine: what is under way, what is left, how it went."""

    grid: Grid
    workers: Workers
    waiting: deque[RunSpec] = field(default_factory=deque)
    running: dict[str, RunSpec] = field(default_factory=dict)
    elsewhere: dict[str, RunSpec] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    retries: Counter[str] = field(default_factory=Counter)
    lengths: set[int] = field(default_factory=set)
    """Steps that runs of the grid may have: a longer run goes on from a shorter one."""
    looked: float = 0.0

    def run(
        self,
        specs: Iterable[RunSpec],
        tick: Callable[[Driver], None] = lambda driver: None,
        told: Callable[[str, RunSpec], None] = lambda what, run: None,
    ) -> dict[str, Failure]:
        """Carry out all that is not done; failures by run id. `tick` is called now and then."""
        specs = list(specs)
        self.lengths = {run.steps for run in (*specs, *self.grid.entries())}
        try:
            for run in specs:
                if self.grid.finished(run):
                    self.grid.refuse_other(run)
                else:
                    self.waiting.append(run)
            while self.waiting or self.running or self.elsewhere:
                self._start(told)
                for ended in self.workers.ended():
                    self._settle(ended, told)
                self._look_elsewhere(told)
                tick(self)
        finally:
            self.workers.stop()
        return self.failures

    def _start(self, told: Callable[[str, RunSpec], None]) -> None:
        while self.waiting and self.workers.room(len(self.running)):
            run = self.waiting.popleft()
            state = self.grid.state(run)
            if state is State.RUNNING:
                self.elsewhere[run.run_id] = run
            elif state is not State.FINISHED:
                self.grid.forget_failure(run)
                if state is State.MISSING and (taken := lengthen(self.grid, run, self.lengths)):
                    told(f"goes on from {taken:,} steps of the shorter run", run)
                out = ["--out", str(self.grid.directory(run).absolute())]
                self.running[run.run_id] = run
                self.workers.start(run, [*run.arguments(), *out, "--workers", "1", "--quiet"])

    def _settle(self, ended: Ended, told: Callable[[str, RunSpec], None]) -> None:
        run = ended.run
        del self.running[run.run_id]
        decision = decide(ended.exit_code, self.grid.finished(run), self.retries[run.run_id])
        if decision is Decision.DONE:
            told("finished", run)
        elif decision is Decision.ELSEWHERE:
            self.elsewhere[run.run_id] = run
        elif decision is Decision.AGAIN:
            self.retries[run.run_id] += 1
            self.waiting.append(run)
            told(f"lost ({explained(ended.exit_code, ended.output)}), goes on", run)
        else:
            reason = explained(ended.exit_code, ended.output)
            failure = Failure(ended.exit_code, reason, ended.output)
            self.failures[run.run_id] = failure
            self.grid.note_failure(run, failure)
            told(f"failed ({failure.message})", run)

    def _look_elsewhere(self, told: Callable[[str, RunSpec], None]) -> None:
        """What other drivers had under way is done, or free again."""
        if time.monotonic() - self.looked < LOOK_AGAIN:
            return
        self.looked = time.monotonic()
        for run in list(self.elsewhere.values()):
            state = self.grid.state(run)
            if state is not State.RUNNING:
                del self.elsewhere[run.run_id]
                if state is State.FINISHED:
                    told("finished by another driver", run)
                else:
                    self.waiting.append(run)
