"""Runs side by side on this machine: one process for each, one core for each."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from typing import IO

from mppo.experiments import launch
from mppo.experiments.drive import Ended
from mppo.experiments.spec import RunSpec
from mppo.machine.threads import ONE_THREAD, available_cores

PAUSE = 0.2  # seconds between looks at the processes
LAST_WORDS = 4000  # characters kept of what a run said at its end


@dataclass
class Child:
    """A process under way, and where it writes what goes wrong."""

    run: RunSpec
    process: subprocess.Popen
    errors: IO[bytes]
    core: int | None


@dataclass
class LocalWorkers:
    """Processes of this machine.

    Where every core has its run, each run keeps to one core. With fewer runs than cores the
    kernel places them: two drivers that both took the first core would share it.
    """

    jobs: int = 0
    program: tuple[str, ...] = ("-m", "mppo")
    low_priority: bool = False
    """Whether runs take only what other processes leave of the cores."""
    children: dict[str, Child] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.jobs = self.jobs or available_cores()
        pinned = hasattr(os, "sched_getaffinity") and self.jobs == available_cores()
        self._cores = sorted(os.sched_getaffinity(0)) if pinned else []

    def room(self, running: int) -> bool:
        """Whether there are fewer processes than jobs."""
        return running < self.jobs

    def start(self, run: RunSpec, words: list[str]) -> None:
        """One process, in a session of its own: Ctrl-C reaches the driver, which asks it to end."""
        taken = {child.core for child in self.children.values()}
        core = next((core for core in self._cores if core not in taken), None)
        niceness = launch.LOWEST_PRIORITY if self.low_priority else 0
        process, errors = begin([*self.program, *words], core, niceness)
        self.children[run.run_id] = Child(run, process, errors, core)

    def ended(self) -> list[Ended]:
        """Processes that are over."""
        time.sleep(PAUSE)
        over = [child for child in self.children.values() if child.process.poll() is not None]
        for child in over:
            del self.children[child.run.run_id]
        return [Ended(one.run, one.process.returncode, last_words(one.errors)) for one in over]

    def stop(self) -> None:
        """Ask all processes to save and end; wait until they did. A second signal ends the wait."""
        for child in self.children.values():
            child.process.terminate()
        try:
            for child in self.children.values():
                child.process.wait()
        finally:
            for child in self.children.values():
                if child.process.poll() is None:
                    child.process.kill()
                child.errors.close()
            self.children.clear()


def begin(
    words: list[str], core: int | None = None, niceness: int = 0
) -> tuple[subprocess.Popen, IO[bytes]]:
    """A process of `python WORDS` and the file that its errors go to, for `last_words`."""
    errors = tempfile.TemporaryFile()  # noqa: SIM115  (read and closed when the run ends)
    process = subprocess.Popen(
        launch.command(core, words, niceness),
        env={**os.environ, **ONE_THREAD},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        start_new_session=True,
    )
    return process, errors


def last_words(errors: IO[bytes]) -> str:
    """The end of what a run wrote to its standard error."""
    with errors:
        errors.seek(0)
        return errors.read().decode(errors="replace").strip()[-LAST_WORDS:]
