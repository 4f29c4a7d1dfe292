"""The driver: hands runs to workers until each is done or has failed for good.

All it knows is in the files of the grid. It may be killed at any moment and started again, and
several may work on one directory: the lock of each run decides who writes.
"""

from __future__ import annotations

import signal
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, Protocol

from mppo.experiments.grid import Failure, Grid
from mppo.experiments.lengthen import lengthen
from mppo.experiments.spec import RunSpec
from mppo.files.reader import State

LOOK_AGAIN = 1.0  # seconds between looks at what other drivers do
MOST_RETRIES = 3
LOST = -1000
"""Stands for an exit code where there is none: the worker or its machine went away."""


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


class Decision(Enum):
    """What a driver does next with a run."""

    DONE = "done"
    AGAIN = "try again"
    ELSEWHERE = "another driver has it"
    FAILED = "failed"


_FATAL = {
    2: "the request cannot be met",
    65: "the environment broke its contract",
    70: "an internal error, or an update that was not finite",
    74: "a file could not be written or read",
}
_STOPPED = {75: "it asked to be tried later", 130: "it was interrupted", 143: "it was terminated"}


def decide(code: int, finished: bool, retries: int) -> Decision:
    """The decision after an exit code; `retries` is how often this run was tried again already.

    Signals, lost machines and "try later" are nobody's fault: such a run goes on from its last
    checkpoint, at most three times. Everything else would only happen again.

    >>> decide(-9, False, 0), decide(-9, False, 3), decide(65, False, 0)
    (<Decision.AGAIN: 'try again'>, <Decision.FAILED: 'failed'>, <Decision.FAILED: 'failed'>)
    """
    if finished:
        return Decision.DONE
    if code == 73:
        return Decision.ELSEWHERE
    from_outside = code < 0 or code in (*_STOPPED, 137, 139)  # 128 + SIGKILL, SIGSEGV: by a shell
    return Decision.AGAIN if from_outside and retries < MOST_RETRIES else Decision.FAILED


def explained(code: int, output: str) -> str:
    r"""Why a run ended, in one line: its own last words, or what its exit code means.

    >>> explained(-9, "")
    'killed by SIGKILL'
    >>> explained(2, "a warning\nmppo: unknown environment")
    'unknown environment'
    """
    if code == LOST:
        return output or "its worker or machine was lost"
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    said = output.splitlines()
    ours = [line for line in said if line.startswith("mppo: ")]
    if code == 70 and len(said) > 1:  # the last line of a traceback says more than our own
        ours = [line for line in said if line not in ours]
    if ours:
        return ours[-1].removeprefix("mppo: ")
    if code == 0:
        return output or "ended without a result"
    return _FATAL.get(code) or _STOPPED.get(code) or f"exit code {code}"


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
        reason = explained(ended.exit_code, ended.output)
        if decision is Decision.DONE:
            told("finished", run)
        elif decision is Decision.ELSEWHERE:
            self.elsewhere[run.run_id] = run
        elif decision is Decision.AGAIN:
            self.retries[run.run_id] += 1
            self.waiting.append(run)
            told(f"lost ({reason}), goes on", run)
        else:
            self.failures[run.run_id] = Failure(ended.exit_code, reason, ended.output)
            self.grid.note_failure(run, self.failures[run.run_id])
            told(f"failed ({reason})", run)

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
