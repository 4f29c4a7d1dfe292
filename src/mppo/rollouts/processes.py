"""Workers as processes of this machine: started afresh (`spawn`), answers in shared memory.

No process is forked: a fork after JAX has started its threads may hang. A worker ends when its
parent ends, whatever ends that, and takes with it the processes that its environments started.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import types
import warnings
from collections.abc import Iterator, Sequence
from multiprocessing import connection, util
from multiprocessing.reduction import ForkingPickler
from typing import Any, NamedTuple

import numpy as np

from mppo.acting.actor import Acting
from mppo.algorithm.types import Earlier, Trajectories
from mppo.errors import BadRequest, in_words
from mppo.machine.priority import be_nice_as_a_session
from mppo.rollouts.buffers import SharedBatch
from mppo.rollouts.pool import Ready, WorkerDied
from mppo.rollouts.worker import Collected, EpisodeJob, Failed, Job, Setup, Stepper, failed

PATIENCE = 5.0  # seconds that a worker has for closing its environments
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux's prctl
UNGUARDED = (
    "training was begun while a worker process imported the script: what starts it must stand "
    'under `if __name__ == "__main__":`'
)


class Taken(NamedTuple):
    """What is sent of a stretch: all but the rows, which are in shared memory."""

    earlier: Earlier
    state: dict[str, np.ndarray] | None


class Processes:
    """Starts workers on this machine and waits for them."""

    moves_work = False  # an environment stays with its worker, unless that one dies

    def __init__(self, setup: Setup, envs: int):
        if getattr(multiprocessing.current_process(), "_inheriting", False):
            raise BadRequest(UNGUARDED)
        self._setup = bytes(ForkingPickler.dumps(setup))
        self._needs_main = setup.recipe.needs_main()
        self._batch, self._envs = SharedBatch(setup.spaces, envs, setup.steps), envs
        self._alive: list[ProcessWorker] = []
        # also where nobody calls close: when this is given up, and before the interpreter ends
        self._end = util.Finalize(self, _end, (self._alive, self._batch), exitpriority=100)

    def room(self, wanted: int) -> int:
        """How many workers there may be."""
        return wanted

    def start(self) -> ProcessWorker:
        """A new worker; it answers `Ready` when it is."""
        slot = min(set(range(len(self._alive) + 1)) - {worker.slot for worker in self._alive})
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        in_main_thread = threading.current_thread() is threading.main_thread()
        process = context.Process(
            target=serve,
            args=(theirs, self._envs, self._batch.name, slot, in_main_thread),
            name=f"mppo-worker-{slot}",
        )
        with contextlib.nullcontext() if self._needs_main else _without_main():
            process.start()
        theirs.close()
        worker = ProcessWorker(process, ours, self._batch, slot, self._alive)
        self._alive.append(worker)
        with contextlib.suppress(OSError):  # one that has died already says so when asked
            ours.send_bytes(self._setup)
        return worker

    def wait(self, workers: Sequence[ProcessWorker], seconds: float) -> list[ProcessWorker]:
        """Those that have answered or died, after that time at the latest."""
        spoke = connection.wait([worker.connection for worker in workers], seconds)
        return [w for w in workers if w.connection in spoke or w.process.exitcode is not None]

    def close(self) -> None:
        """End all workers and give the shared memory back."""
        self._end()


class ProcessWorker:
    """One worker process, seen from its parent."""

    def __init__(
        self, process: Any, ours: Any, batch: SharedBatch, slot: int, alive: list[ProcessWorker]
    ):
        self.process, self.connection, self.slot = process, ours, slot
        self._batch, self._alive = batch, alive
        self._actor: Acting | None = None  # that it has
        self._job: Job | EpisodeJob | None = None

    def give(self, actor: Acting, job: Job | EpisodeJob) -> None:
        """Hand over a job; the policy goes with it only where it is another."""
        self._job = job
        if isinstance(job, Job):
            self._batch.rows(job.environment).clear()  # what is there is of the batch before
        try:
            self.connection.send((None if actor is self._actor else actor, job))
        except OSError as error:
            raise WorkerDied(self._how()) from error
        self._actor = actor

    def answer(self) -> Any:
        """What it answered."""
        try:
            said = self.connection.recv() if self.connection.poll() else None
        except (EOFError, OSError) as error:
            raise WorkerDied(self._how()) from error
        if said is None:
            raise WorkerDied(self._how())
        if not isinstance(said, Taken):
            return said
        assert isinstance(self._job, Job)
        rows = self._batch.rows(self._job.environment)
        return Collected(Trajectories(*rows, said.earlier), said.state)

    def progress(self) -> int:
        """Steps of the job that have been taken."""
        if isinstance(self._job, Job):
            return self._batch.rows(self._job.environment).filled()
        return int(self._batch.beats(self.slot)[0])

    def kill(self) -> None:
        """End it at once, with all that its environments started."""
        _kill_group(self.process.pid)
        self.process.kill()
        self.process.join()
        self.connection.close()
        if self in self._alive:
            self._alive.remove(self)

    def _how(self) -> str:
        self.process.join(PATIENCE)
        code = self.process.exitcode
        if code is None:
            return "it closed its connection"
        if code >= 0:
            return f"it ended with exit code {code}"
        known = code in {-number.value for number in signal.Signals}
        name = signal.Signals(-code).name if known else f"signal {-code}"
        return f"killed by {name}" + (", perhaps for lack of memory" if name == "SIGKILL" else "")


def _end(alive: list[ProcessWorker], batch: SharedBatch) -> None:
    """Ask all workers to close their environments; end those that do not."""
    for worker in alive:
        with contextlib.suppress(OSError):
            worker.connection.send(None)
    left = PATIENCE
    for worker in [*alive]:
        worker.process.join(left)
        left = left if worker.process.exitcode is not None else 0.1
        worker.kill()
    batch.close()


def serve(theirs: Any, envs: int, name: str, slot: int, dies_with_thread: bool) -> None:
    """The life of a worker process."""
    _prepare(slot, dies_with_thread)
    try:
        stepper = Stepper(theirs.recv())
    except Exception as error:  # a module that cannot be imported here, or one that does too much
        text = (
            f"a worker process cannot load what makes the environment: {in_words(error)}; put it "
            "in a module that can be imported by its name, or use --workers 1"
        )
        theirs.send(Failed("BadRequest", text))
        return
    batch = SharedBatch(stepper.setup.spaces, envs, stepper.setup.steps, name)
    stepper.beats = batch.beats(slot)
    theirs.send(Ready())
    with contextlib.suppress(EOFError, OSError):  # the parent has ended: so does this
        _work(theirs, stepper, batch)
    with contextlib.suppress(Exception):  # at the end nobody is left to be told
        stepper.close()


def _work(theirs: Any, stepper: Stepper, batch: SharedBatch) -> None:
    actor: Any = None
    while (message := theirs.recv()) is not None:
        actor, job = message[0] or actor, message[1]
        rows = batch.rows(job.environment if isinstance(job, Job) else 0)
        said: Any
        try:
            said = stepper.carry_out(actor, job, rows)
        except MemoryError as error:
            said = failed(error, stepper.setup.recipe.name, job.where(0))
        if isinstance(said, Collected):
            said = Taken(said.trajectories.earlier, said.state)
        theirs.send(said)


def _prepare(slot: int, dies_with_thread: bool) -> None:
    """A session of its own: keys pressed in the terminal are for the parent alone."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    if hasattr(os, "setsid"):
        os.setsid()
        be_nice_as_a_session()  # as the run that it works for
    for number in (signal.SIGINT, signal.SIGTERM):  # the parent finishes the iteration first
        # SIG_IGN would be inherited by what environments start
        signal.signal(number, lambda number, frame: None)
    threading.Thread(target=_watch, args=(parent.sentinel,), daemon=True).start()
    if sys.platform == "linux" and dies_with_thread:  # for code that keeps the interpreter's lock
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
    if slot:
        warnings.simplefilter("ignore")  # the first one says what there is to say


def _watch(parent: Any) -> None:
    connection.wait([parent])
    _kill_group(os.getpid())
    os._exit(1)


def _kill_group(leader: int) -> None:
    """End a worker with all that its environments have started, where there are groups."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            os.killpg(leader, signal.SIGKILL)


@contextlib.contextmanager
def _without_main() -> Iterator[None]:
    """Keep a new process from importing the user's script again, where nothing of it is needed.

    A script that trains at its top level would otherwise train in every worker.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
