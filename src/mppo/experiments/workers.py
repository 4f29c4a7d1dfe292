"""Runs side by side: processes of this machine, or tasks of a Ray cluster that start the same.

A cluster's nodes must share the directory of the grid: runs are written there and nowhere else. Ray
may lose a task or carry it out twice; the lock of a run and its `final.json` do not.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from typing import IO, Any

from mppo.experiments import launch
from mppo.experiments.drive import LOST, Ended
from mppo.experiments.spec import RunSpec
from mppo.machine.threads import ONE_THREAD, available_cores

PAUSE = 0.2  # seconds between looks at the processes or tasks
LAST_WORDS = 4000  # characters kept of what a run said at its end
OBJECT_STORE = 100 * 2**20  # bytes; tasks return a few lines
NOT_SHARED = (
    "it ended well on another node, but its files are not here: the Ray engine needs a directory "
    "that all nodes share"
)


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
                child.process.kill()  # nothing happens to one that has ended
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


def carry_out(words: list[str], folder: str) -> tuple[int, str]:
    """What a task does on its node: the process of a run, its exit code and its last words."""
    os.chdir(folder if os.path.isdir(folder) else tempfile.gettempdir())
    process, errors = begin(["-m", "mppo", *words])
    return process.wait(), last_words(errors)


@dataclass
class RayWorkers:
    """Tasks of a cluster, as many at a time as it has CPUs, or fewer."""

    jobs: int = 0
    address: str | None = None
    tasks: dict[Any, RunSpec] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from mppo.rollouts.cluster import connected  # with the environments, at its first use

        self.ray, self._begun = connected(self.address, self.jobs, OBJECT_STORE)
        # max_calls: a fresh worker for each run; retries are the driver's business
        self.carry_out = self.ray.remote(num_cpus=1, max_retries=0, max_calls=1)(carry_out)

    def room(self, running: int) -> bool:
        """Whether the cluster, as it is now, has a CPU more than there are tasks."""
        cpus = int(self.ray.cluster_resources().get("CPU", 0))
        return running < (min(self.jobs, max(cpus, 1)) if self.jobs else max(cpus, 1))

    def start(self, run: RunSpec, words: list[str]) -> None:
        """Hand a run to the cluster."""
        self.tasks[self.carry_out.remote(words, os.getcwd())] = run

    def ended(self) -> list[Ended]:
        """Tasks that are over, or lost with their worker or node."""
        if not self.tasks:
            time.sleep(PAUSE)  # other drivers may have runs under way
            return []
        over, _ = self.ray.wait(list(self.tasks), num_returns=1, timeout=PAUSE)
        return [self._settled(task) for task in over]

    def _settled(self, task: Any) -> Ended:
        run = self.tasks.pop(task)
        try:
            code, output = self.ray.get(task)
        except self.ray.exceptions.RayTaskError as error:  # our own code failed over there
            return Ended(run, 70, str(error))
        except self.ray.exceptions.RayError as error:
            return Ended(run, LOST, f"lost by Ray: {type(error).__name__}")
        return Ended(run, code, output or (NOT_SHARED if code == 0 else ""))

    def stop(self) -> None:
        """End what is left: a run loses at most what it did since its last checkpoint."""
        for task in self.tasks:
            self.ray.cancel(task, force=True)
        self.tasks.clear()
        if self._begun:
            self.ray.shutdown()
