"""Where the environments of a run are stepped: in this process, in several, or on a cluster."""

from __future__ import annotations

import math
import time
import warnings
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np

from mppo.acting.actor import Actor
from mppo.acting.spaces import Spaces
from mppo.algorithm.networks import Mlp
from mppo.algorithm.types import Trajectories
from mppo.envs.batch import lanes_of
from mppo.errors import BadRequest, SettingsWarning
from mppo.machine.durations import duration
from mppo.machine.threads import available_cores
from mppo.rollouts.collector import Collector
from mppo.rollouts.distributed import DistributedCollector
from mppo.rollouts.pool import Engine, Pool
from mppo.rollouts.watching import START
from mppo.rollouts.worker import Setup

if TYPE_CHECKING:
    from mppo.training.run import Run

WORKER_COSTS = 6.0  # seconds that workers must save over a run: twice what their start takes
MESSAGE_COSTS = 1e-3  # seconds for each environment and iteration
MOST_CHOSEN = 32  # workers, where nobody has said how many


def say(run: Run, text: str) -> None:
    """One line for the user, also kept for the run directory."""
    run.notes.append(text)
    warnings.warn(text, SettingsWarning, stacklevel=3)


def collector_of(run: Run, wanted: int) -> Collector | DistributedCollector:
    """What collects from the beginning: in workers, where that is asked for and possible."""
    here = run.options.engine == "local"
    if here and (wanted < 2 or run.task.native):
        return _collector_here(run)
    if not here and run.task.native:
        with closing(run.task.make(1)) as one:
            if not lanes_of(one):
                raise BadRequest(
                    f'"{run.task.name}" steps all its environments at once in compiled code, which '
                    "no cluster makes faster; leave out --engine ray"
                )
    reason, is_error = _obstacle(run)
    if not reason and run.envs == 1:
        reason = "there is one environment; more of them share a batch with --envs N"
    if reason and (is_error or not here):
        raise BadRequest(f'"{run.task.name}" cannot be stepped by workers: {reason}')
    if reason:
        say(run, f'{wanted} workers were asked for, but "{run.task.name}" stays here: {reason}')
        return _collector_here(run)
    if here and wanted > run.envs:
        say(run, f"{run.envs} environments need {run.envs} workers, not {wanted}; --envs is more")
    return _distributed(run, wanted)


def _collector_here(run: Run) -> Collector:
    limit = run.options.step_timeout
    return Collector(run.task.make(run.envs), *_episodes_of(run), run.workers, step_timeout=limit)


def _episodes_of(run: Run) -> tuple[Spaces, int, int, str, bool, float]:
    """How the environments of a run are stepped, wherever they are."""
    method = run.method
    steps = method.batch_size // run.envs
    return run.task.spaces, steps, run.seed, method.episodes, run.clip, method.gamma


def _distributed(run: Run, wanted: int) -> DistributedCollector:
    assert run.task.recipe is not None
    tells = run.method.episodes == "continue" and run.resumes_bitwise
    setup = Setup(run.task.recipe, *_episodes_of(run), tells)
    engine: Engine
    limit, patience = run.options.step_timeout, START
    if run.options.engine == "ray":
        from mppo.rollouts.cluster import NODE_WAIT, Cluster

        engine, patience = Cluster(setup, run.options.address, wanted), NODE_WAIT
    else:
        from mppo.rollouts.processes import Processes

        engine = Processes(setup, run.envs)
    count = min(wanted or run.envs, run.envs)
    pool = Pool(engine, run.task.name, count, limit, lambda text: say(run, text), patience)
    return DistributedCollector(setup, run.envs, pool)


def _obstacle(run: Run) -> tuple[str, bool]:
    """Why workers cannot step these environments, if so; and whether it is for the user to mend."""
    if not isinstance(run.method.network, Mlp):
        return f"{type(run.method.network).__name__} is no Mlp, and acts by JAX alone", False
    if run.method.episodes == "continue-per-path":
        return 'episodes="continue-per-path" keeps the states of all paths in one process', False
    if run.task.recipe is None:
        what = "a single instance" if run.task.count == 1 and run.task.shared else "a vector"
        return f"it is {what} of yours; give an id, or a callable that makes one", False
    reason = run.task.recipe.obstacle() if run.options.engine == "local" else ""
    return reason, bool(reason)


def first_batch(
    run: Run, now: Collector, actor: Actor, path: int
) -> tuple[Trajectories, Collector | DistributedCollector]:
    """The first batch of a run, measured to see whether workers pay; and what collects then."""
    observation = np.ones((1, run.task.spaces.observation_size), np.float32)  # a mask allows all
    actor.act(observation, actor.noise(np.random.default_rng(0), 1))  # compiled or loaded
    wall, busy = time.perf_counter(), time.process_time()
    trajectories = now(actor, path, run.iteration)
    seconds, busy = time.perf_counter() - wall, time.process_time() - busy
    left = run.iterations - run.iteration - 1
    count = worthwhile(seconds, busy, run.envs, left, available_cores())
    if count < 2 or not _may_move(run, count, seconds / run.method.batch_size):
        return trajectories, now
    collector = _distributed(run, count)
    if collector.setup.tells:
        collector.set_state(now.get_state())
    else:
        collector.take_over(path, run.iteration, trajectories)
    now.close()
    return trajectories, collector


def _may_move(run: Run, count: int, seconds: float) -> bool:
    """Say that so many processes will step the environments, or why they cannot."""
    each = duration(seconds) if seconds >= 1 else f"{1000 * seconds:.2g} ms"
    takes = f'a step of "{run.task.name}" takes {each}'
    reason, _ = _obstacle(run)
    if not reason and run.task.recipe is not None and run.task.recipe.needs_main():
        reason = (
            "it is defined in the script that was started; put it in a module, or ask for "
            f'--workers {count} (workers={count}) under `if __name__ == "__main__":`'
        )
    if reason:
        say(run, f"{takes}, and {count} processes would save time, but {reason}")
    else:
        say(
            run,
            f"{takes}: from now on {count} processes step its {run.envs} environments, with the "
            "same result (--workers 1: this one does)",
        )
    return not reason


def worthwhile(seconds: float, busy: float, envs: int, left: int, cores: int) -> int:
    """How many processes save time over a run, 1 if none; `seconds` is what a batch takes now.

    Environments that wait (for a network, another program) leave room for more than there are
    cores; `busy` are the seconds of the batch that were spent computing.

    >>> worthwhile(2.0, 2.0, envs=8, left=100, cores=2)
    2
    >>> worthwhile(2.0, 0.1, envs=8, left=100, cores=2), worthwhile(0.01, 0.01, 8, 100, 2)
    (8, 1)
    """
    room = int(cores * max(1.0, seconds / max(busy, 1e-9)))
    count = min(envs, room, MOST_CHOSEN)
    longest = math.ceil(envs / count)  # environments that one of them has
    saved = seconds * (1 - longest / envs) - envs * MESSAGE_COSTS
    return count if count > 1 and saved * left > WORKER_COSTS else 1
