"""The same workers on a Ray cluster: actors that send trajectories through Ray's object store.

A node that dies costs what its workers had under way: that part is computed again by others. As
many workers are used as the cluster has CPUs, counted anew in every iteration.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import socket
import warnings
from collections.abc import Sequence
from typing import Any

from mppo.acting.actor import Acting
from mppo.envs.recipe import WAY_OUT
from mppo.errors import BadRequest, in_words
from mppo.machine.threads import available_cores
from mppo.rollouts.buffers import Buffers, buffers
from mppo.rollouts.pool import Ready, WorkerDied
from mppo.rollouts.worker import EpisodeJob, Job, Setup, Stepper

NODE_WAIT = 300.0  # seconds that a run waits for a node when none is left
ANSWER_WITHIN = 10.0  # seconds that a cluster has to take a connection
OBJECT_STORE = 500 * 2**20  # bytes, of a cluster that is started for this run


class RayStepper:
    """A worker as Ray runs it: one thread steps, another says how far it is."""

    def __init__(self, setup: Setup):
        self._stepper = Stepper(setup)
        self._rows = self._new_rows()

    def _new_rows(self) -> Buffers:
        rows = buffers(self._stepper.setup.spaces, 1, self._stepper.setup.steps)
        rows.clear()
        return rows

    def ready(self) -> Ready:
        """The first answer."""
        return Ready()

    def carry_out(self, actor: Acting, job: Job | EpisodeJob) -> Any:
        """The result of a job, in arrays of its own."""
        self._rows = self._new_rows()
        return self._stepper.carry_out(actor, job, self._rows)

    def progress(self) -> int:
        """Steps of the job that have been taken."""
        return self._rows.filled() + int(self._stepper.beats[0])


class Cluster:
    """Starts workers on a Ray cluster and waits for them."""

    moves_work = True

    def __init__(self, setup: Setup, address: str | None, wanted: int):
        self.ray, self._begun = connected(address, wanted, OBJECT_STORE)
        try:
            self._setup = self.ray.put(setup)
        except Exception as error:  # whatever a user's object raises when it is to be copied
            raise BadRequest(
                f'what makes "{setup.recipe.name}" cannot be sent to a cluster: '
                f"{in_words(error).splitlines()[0]}; {WAY_OUT}"
            ) from error
        # max_concurrency: it steps in one thread, and answers in another meanwhile
        self._class = self.ray.remote(num_cpus=1, max_restarts=0, max_concurrency=2)(RayStepper)
        self._policy: tuple[Acting, Any] | None = None

    def room(self, wanted: int) -> int:
        """How many workers the cluster has CPUs for, as it is now."""
        cpus = int(self.ray.cluster_resources().get("CPU", 0))
        return max(1, min(cpus, wanted))

    def start(self) -> RayWorker:
        """A new worker, on whichever node has a CPU free."""
        return RayWorker(self, self._class.remote(self._setup))

    def put(self, actor: Acting) -> Any:
        """The policy in the object store, once for all workers."""
        if self._policy is None or self._policy[0] is not actor:
            self._policy = actor, self.ray.put(actor)
        return self._policy[1]

    def wait(self, workers: Sequence[RayWorker], seconds: float) -> list[RayWorker]:
        """Those that have answered or died, after that time at the latest."""
        waiting = {worker.reference: worker for worker in workers}
        over, _ = self.ray.wait(list(waiting), num_returns=1, timeout=seconds)
        return [waiting[reference] for reference in over]

    def close(self) -> None:
        """Leave a cluster of others as it was; end one of our own."""
        self._policy = self._setup = None
        if self._begun and self.ray.is_initialized():
            self.ray.shutdown()


class RayWorker:
    """One worker on some node, seen from the process that learns."""

    def __init__(self, cluster: Cluster, handle: Any):
        self._cluster, self._handle = cluster, handle
        self.reference: Any = handle.ready.remote()
        self._asked: Any = None
        self._steps = 0

    def give(self, actor: Acting, job: Job | EpisodeJob) -> None:
        """Hand over a job; the policy is fetched once on every node."""
        self.reference = self._handle.carry_out.remote(self._cluster.put(actor), job)

    def answer(self) -> Any:
        """What it answered."""
        ray = self._cluster.ray
        try:
            return ray.get(self.reference)
        except ray.exceptions.RayTaskError:
            raise  # our own code failed over there
        except ray.exceptions.RayError as error:
            reason = str(error).strip().splitlines()[0] if str(error).strip() else ""
            raise WorkerDied(f"{type(error).__name__}: {reason}") from error

    def progress(self) -> int:
        """Steps of the job that have been taken, as far as is known."""
        ray = self._cluster.ray
        if self._asked is None:
            self._asked = self._handle.progress.remote()
        with contextlib.suppress(ray.exceptions.RayError):
            over, _ = ray.wait([self._asked], timeout=0)
            if over:
                asked, self._asked = self._asked, None
                self._steps = ray.get(asked)
        return self._steps

    def kill(self) -> None:
        """End it at once."""
        if self._cluster.ray.is_initialized():
            self._cluster.ray.kill(self._handle)


def connected(address: str | None, cpus: int, store: int) -> tuple[Any, bool]:
    """Ray, and whether it was connected here: to a cluster, or to one that is started for it.

    One of our own has so many CPUs (0: as many as there are) and bytes of object store.
    """
    if importlib.util.find_spec("ray") is None:
        raise BadRequest('the engine "ray" needs Ray: pip install "mppo[ray]"')
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_worker_niceness", "0")  # as a process of this machine, not 15
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # or Ray warns about GPUs
    import ray
    import ray.exceptions

    if ray.is_initialized():
        return ray, False
    quiet: Any = {"log_to_driver": False, "logging_level": "error"}
    try:
        with warnings.catch_warnings():  # Ray starts programs, which JAX takes for forks
            warnings.filterwarnings("ignore", "os.fork", RuntimeWarning)
            if address is None:
                own: Any = {"num_cpus": cpus or available_cores(), "object_store_memory": store}
                ray.init(include_dashboard=False, **own, **quiet)
            else:
                host, colon, port = address.rpartition(":")
                if colon and "/" not in host and port.isdigit():  # Ray would try for minutes
                    socket.create_connection((host, int(port)), timeout=ANSWER_WITHIN).close()
                ray.init(address=address, **quiet)
    except (OSError, ValueError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0]
        raise BadRequest(f'no Ray cluster at "{address}": {reason}') from error
    return ray, True
