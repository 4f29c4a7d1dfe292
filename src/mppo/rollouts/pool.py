"""Hands jobs to workers, replaces those that die, and names environments that hang."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from mppo.acting.actor import Acting
from mppo.errors import EnvironmentFault, WorkersLost
from mppo.machine.durations import duration
from mppo.rollouts.watching import START
from mppo.rollouts.worker import EpisodeJob, Failed, Job

MOST_DEATHS = 3  # of workers at the same job, after which the environment is to blame
PAUSE = 0.5  # seconds between two looks at what workers do


class Ready(NamedTuple):
    """A worker's first answer: it takes jobs."""


class WorkerDied(Exception):
    """A worker is gone; the message says how it ended."""


class Worker(Protocol):
    """One worker, wherever it runs; it does one job at a time."""

    def give(self, actor: Acting, job: Job | EpisodeJob) -> None: ...  # raises WorkerDied
    def answer(self) -> Any: ...  # Ready, Failed or a result; raises WorkerDied
    def progress(self) -> int: ...  # steps of the job, or the number before if nobody knows
    def kill(self) -> None: ...  # at once, or what is left of one that has died


class Engine(Protocol):
    """Where workers run: processes of this machine, or a cluster."""

    moves_work: bool  # whether a worker takes over what another one has not started yet

    def room(self, wanted: int) -> int: ...  # how many workers it has place for now
    def start(self) -> Any: ...
    def wait(self, workers: Sequence[Any], seconds: float) -> Sequence[Any]: ...
    def close(self) -> None: ...


@dataclass(eq=False)
class Place:
    """A worker with what it does and what it shall do next."""

    worker: Worker
    jobs: deque[Any]
    since: float  # when its last sign of life came
    ready: bool = False
    replaces: bool = False
    worked: bool = False  # whether it has ever answered: the first job also makes and compiles
    job: Any = None
    steps: int = 0  # of the job, at that time


@dataclass(eq=False)
class Pool:
    """The workers of a run."""

    engine: Engine
    name: str
    count: int
    step_timeout: float
    say: Callable[[str], None]
    start_timeout: float = START

    def __post_init__(self) -> None:
        self.deaths = 0  # of workers, so far
        self._places: list[Place] = []
        self._counts: Counter[Any] = Counter()
        self._prepared: Callable[[Worker, Any], Any] | None = None

    def carry_out(
        self, actor: Acting, jobs: Sequence[Any], prepared: Callable[[Worker, Any], Any] | None
    ) -> list[Any]:
        """The results of all jobs, in their order; `prepared` fits a job to the worker it meets.

        Job n goes to worker n modulo their number, and stays with it; without `prepared`, whoever
        has nothing left to do takes the next one. After any error all workers are ended.
        """
        self._prepared = prepared
        self._counts.clear()
        done: dict[Any, Any] = {}
        try:
            self._fit(len(jobs))
            for n, job in enumerate(jobs):
                self._places[n % len(self._places)].jobs.append(job)
            while len(done) < len(jobs):
                for place in [*self._places]:
                    self._hand_out(place, actor)
                busy = {p.worker: p for p in self._places if p.job is not None or not p.ready}
                for worker in self.engine.wait(list(busy), PAUSE):
                    self._take_answer(busy[worker], done)
                self._look_for_silence()
        except BaseException:
            self.kill()
            raise
        return [done[job] for job in jobs]

    def close(self) -> None:
        """End all workers, with time to close their environments."""
        self._places.clear()
        self.engine.close()

    def kill(self) -> None:
        """End all workers at once."""
        for place in self._places:
            place.worker.kill()
        self._places.clear()

    def _fit(self, jobs: int) -> None:
        """As many workers as there is work and place for; those that never started go first."""
        wanted = max(1, min(self.engine.room(self.count), jobs, self.count))
        while len(self._places) > wanted:
            idle = [place for place in self._places if not place.ready]
            if not idle:
                break
            self._places.remove(idle[-1])
            idle[-1].worker.kill()
        while len(self._places) < wanted:
            self._places.append(Place(self.engine.start(), deque(), time.monotonic()))
        for place in self._places:
            place.since = time.monotonic()

    def _hand_out(self, place: Place, actor: Acting) -> None:
        if not place.ready or place.job is not None or (job := self._next_job(place)) is None:
            return
        place.job, place.since, place.steps = job, time.monotonic(), 0
        try:
            place.worker.give(actor, self._prepared(place.worker, job) if self._prepared else job)
        except WorkerDied as died:
            self._replace(place, died)

    def _next_job(self, place: Place) -> Any:
        if place.jobs:
            return place.jobs.popleft()
        for other in self._places:  # one that has not started yet would keep all waiting
            late = not other.ready and (other.replaces or self.engine.moves_work)
            if other.jobs and (late or self._prepared is None):
                return other.jobs.popleft()
        return None

    def _take_answer(self, place: Place, done: dict[Any, Any]) -> None:
        try:
            answer = place.worker.answer()
        except WorkerDied as died:
            self._replace(place, died)
            return
        if isinstance(answer, Failed):
            raise answer.raised()
        place.since = time.monotonic()
        if isinstance(answer, Ready):
            place.ready = True
            return
        done[place.job] = answer
        place.job, place.worked = None, True

    def _replace(self, place: Place, died: WorkerDied) -> None:
        """A new worker takes the place of one that died, and its job once more."""
        self.deaths += 1
        self._counts[place.job] += 1
        count, job = self._counts[place.job], place.job
        steps = 0 if job is None else place.worker.progress()
        self._places.remove(place)
        place.worker.kill()
        where = f"at {job.where(steps)}" if job is not None else "before it was ready"
        if count >= MOST_DEATHS and job is None:
            raise WorkersLost(
                f'workers of "{self.name}" ended {count} times {where}: the last time {died}. A '
                'script that trains must do so under `if __name__ == "__main__":`, since they '
                "import what makes the environment from it"
            )
        if count >= MOST_DEATHS:
            raise EnvironmentFault(
                f'environment "{self.name}" ended its worker {count} times {where}: the last time '
                f"{died}"
            )
        self.say(
            f'a worker of "{self.name}" ended {where} ({died}); its part is computed again '
            f"({self.deaths} so far)"
        )
        jobs = deque([job, *place.jobs]) if job is not None else place.jobs
        self._places.append(Place(self.engine.start(), jobs, time.monotonic(), replaces=True))

    def _look_for_silence(self) -> None:
        """Raise for a step that takes too long, and where no worker starts."""
        now = time.monotonic()
        for place in self._places:
            if place.job is None:
                continue
            steps = place.worker.progress()
            if steps != place.steps:
                place.since, place.steps = now, steps
            limit = self.step_timeout if place.worked or steps else max(self.step_timeout, START)
            if now - place.since > limit:
                raise EnvironmentFault(
                    f'environment "{self.name}" hangs: {place.job.where(steps)} has taken more '
                    f"than {duration(limit)}; --step-timeout says how long a step may take"
                )
        working = any(place.ready for place in self._places)
        if not working and all(now - p.since > self.start_timeout for p in self._places):
            raise WorkersLost(
                f'no worker of "{self.name}" was ready within {duration(self.start_timeout)}'
            )
