"""One training run: the compiled programs, the environments and the state between them."""

from __future__ import annotations

import math
import time
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from mppo.acting.actor import Actor
from mppo.acting.agent import Agent, architecture_of
from mppo.algorithm import race, theorem
from mppo.algorithm.iteration import State, iterate
from mppo.algorithm.methods import Method
from mppo.algorithm.performance import Unfinished
from mppo.algorithm.policies import Architecture
from mppo.algorithm.types import Trajectories
from mppo.envs.source import EnvSource
from mppo.errors import LearningFault
from mppo.files import checkpoints
from mppo.files.checkpoints import Checkpoint
from mppo.files.evaluation import Evaluation
from mppo.files.run_directory import plain
from mppo.machine.lazy import jax
from mppo.machine.seeding import Role, sequence
from mppo.machine.threads import available_cores
from mppo.rollouts.collector import Collector
from mppo.rollouts.distributed import DistributedCollector
from mppo.rollouts.evaluator import Evaluator
from mppo.training import evaluating, snapshots, validation
from mppo.training.evaluating import style_of
from mppo.training.options import Options
from mppo.training.programs import Programs, programs
from mppo.training.workers import collector_of, first_batch

Row = dict[str, Any]


class Run:
    """A method on a task: `iterate` and `evaluate` give rows, `snapshot` and `restore` its all.

    `unfinished` is what was settled when the run was begun; without it, it is settled now. Of the
    `options`, those of workers hold.
    """

    evaluation: Evaluation
    seed: int
    clip: bool
    architecture: Architecture
    workers: int
    simulation: float = 0.0  # seconds that the last rollout took
    doing: str = "compiling the first programs"  # for whoever watches
    iterations: int
    steps: int
    envs: int
    task: EnvSource
    iteration: int = 0  # how many are done
    unfinished: Unfinished
    here: bool = False  # whether anything was collected in these environments
    said_cut: bool = False  # that evaluations were stopped before their end

    def __init__(
        self,
        method: Method,
        on: EnvSource,
        steps: int,
        seed: int,
        evaluation: Evaluation,
        workers: int = 0,
        unfinished: Unfinished | None = None,
        options: Options = Options(),  # noqa: B008  (frozen)
    ):
        validation.check(method, steps, seed, evaluation, workers)
        on = validation.prepared(method, on)
        validation.refuse_sharing(on, method, evaluation)
        self._method, self.task, self.seed, self.evaluation = method, on, int(seed), evaluation
        self.steps, self.iterations = steps, math.ceil(steps / method.batch_size)
        self.envs = on.envs_for(method.batch_size, method.envs)
        self.unfinished = unfinished or validation.unfinished(method, on, self.envs)
        self.clip = method.actions != "raw" and not (method.actions == "auto" and on.of_the_paper)
        validation.say_slow(method)
        self.architecture = architecture_of(method, on.spaces)
        self.programs: Programs = programs(method, self.architecture, self.unfinished)
        key = jax.random.key(int(sequence(seed, Role.PARAMETERS).generate_state(1)[0]))
        self.state: State = self.programs.init(key)
        self.workers, self._wanted = workers or available_cores(), workers
        self.options: Options = options
        self._undecided = not workers  # whether processes would pay
        self.notes: list[str] = []  # what was said of workers, until somebody takes it
        self.trajectories: Trajectories | None = None  # of the last iteration
        self.visits: np.ndarray | None = None  # [K, rows, columns], where there are cells to count
        self._collector: Collector | DistributedCollector | None = None
        self.evaluator: Evaluator | None = None  # made when first needed; workers have their own
        self.previous: int | None = None  # the pick before
        self.recent: snapshots.Recent = snapshots.Recent()
        self._check: theorem.Check | None = None
        self._learnt = False  # in this process: the first time, the update is compiled

    @property
    def method(self) -> Method:
        """The method; it cannot be set, because programs were compiled for it."""
        return self._method

    @property
    def resumes_bitwise(self) -> bool:
        """Whether a resumed run needs no reset that an uninterrupted one would not have had."""
        return self.method.episodes == "fresh" or self.task.resumes

    @property
    def state_bytes(self) -> int:
        """How large a checkpoint of it is, but for a few percent."""
        return sum(leaf.nbytes for leaf in jax.tree.leaves(self.state))

    @property
    def collector(self) -> Collector | DistributedCollector:
        """The training environments, made when first needed."""
        if self._collector is None:
            self._collector = collector_of(self, self._wanted)
        return self._collector

    @property
    def steppers(self) -> tuple[int, str]:
        """How many of what step the environments, as far as that is settled."""
        if self.options.engine == "ray":
            return self._wanted or self.envs, "Ray actor"
        if self.task.native:
            return self.workers, "thread"
        return min(max(self._wanted, 1), self.envs), "process"

    def iterate(self) -> Row:
        """One iteration of Algorithm 1 and its row, of plain values."""
        start = getattr(self.method.picking, "start", None)
        measuring = self.iteration < self.method.paths and start == "evaluate"
        learn = self.programs.measure_only if measuring else self.programs.learn
        now = validation.rates_at(self.method, self.iteration / self.iterations)
        if now and not measuring:
            learn = partial(learn, rates={name: np.float32(one) for name, one in now.items()})
        previous = self.previous
        try:
            asked = partial(self.programs.races, self.state)
            if race.due(self.method, self.architecture, self.iteration, asked):
                self.state, metrics = self._race(self.state)
            else:
                self.state, metrics = iterate(self._pick, self._collect, learn, self.state)
        except BaseException:  # nothing has changed: it may be saved, and tried again
            self.previous = previous
            raise
        row = jax.device_get(metrics)
        if not row.pop("finite"):
            self.previous = previous
            raise LearningFault(
                f"iteration {self.iteration} on {self.task.name} made path {int(row['picked'])} "
                "not finite; the state before it was kept. Where there is a run directory, the "
                "batch is there under fault; a smaller learning rate may help"
            )
        self.iteration += 1
        assert self.trajectories is not None
        self.recent.take(self.trajectories)
        made = {
            "iteration": self.iteration - 1,
            "steps": self.iteration * self.method.batch_size,
            **row,
            **now,
            **self.recent.row(),
            **theorem.row(self._check),
        }
        return plain(made)

    def _race(self, state: State):
        """One round of the race: a random policy in each environment."""
        started = time.perf_counter()
        self.doing = "racing random policies"
        ran = self.programs.runners(state, self.envs)
        host, styles = jax.device_get(ran), self.method.styles
        policies = [jax.tree.map(itemgetter(e), host.policy) for e in range(self.envs)]
        actors = [
            Actor(self.architecture, policy, styles[number])
            for policy, number in zip(policies, host.style, strict=True)
        ]
        self.collector.forget()  # the episodes of other policies are none of theirs
        self.trajectories, self.here = self.collector(actors, -1, self.iteration), True
        self.simulation = time.perf_counter() - started
        self._check = self.previous = None
        return self.programs.finish(state, ran, self.trajectories)

    def _pick(self, state: State):
        """Lines 2-4, with Theorem 1 checked against what the rule saw."""
        i, policy = self.programs.pick(state)
        rule, before, self.previous = self.method.picking, self.previous, int(i)
        self._check = theorem.seen(rule, state.population, before, self.previous)
        return i, policy

    def _collect(self, policy, path: int, iteration: int) -> Trajectories:
        started = time.perf_counter()
        self.doing = f"collecting with path {path}"
        actor = Actor(self.architecture, policy, style_of(self.method, self.state, path))
        collector, undecided, self._undecided = self.collector, self._undecided, False
        if undecided and not self.task.native and isinstance(collector, Collector):
            self.trajectories, self._collector = first_batch(self, collector, actor, path)
        else:
            self.trajectories = collector(actor, path, iteration)
        self.here = True
        if (maze := snapshots.maze_of(collector)) is not None:
            if self.visits is None:
                self.visits = snapshots.no_visits(maze, self.method.paths)
            column, row = maze.cells(self.trajectories.observations.reshape(-1, 2)).T
            np.add.at(self.visits[path], (row, column), 1)
        self.simulation = time.perf_counter() - started
        self.doing = f"improving path {path}" if self._learnt else "compiling the update"
        self._learnt = True
        return self.trajectories

    def evaluation_due(self) -> bool:
        """Whenever `Evaluation.due` says so, and at last."""
        ends = self.evaluation.every > 0 and self.iteration == self.iterations
        return ends or self.evaluation.due(self.iteration, self.method.batch_size)

    def evaluate(self) -> Row:
        """Episodes of the policy that would be picked now: their row, of plain values."""
        self.doing = "evaluating"
        return evaluating.row(self)

    def agent(self) -> Agent:
        """The policy that the picking rule reports now, ready to act."""
        i, policy = self.programs.report(self.state)
        made_for = self.method, self.task.spaces, self.architecture
        style = style_of(self.method, self.state, int(i))
        return Agent(*made_for, jax.device_get(policy), self.seed, self.clip, int(i), style)

    def extend(self, steps: int) -> None:
        """Let the run end after that many steps in all."""
        self.steps, self.iterations = steps, math.ceil(steps / self.method.batch_size)

    def move_to(self, on: EnvSource) -> None:
        """Go on in other environments of the same spaces."""
        on = validation.prepared(self.method, on)
        validation.refuse_other_spaces(self.task, on)
        validation.refuse_sharing(on, self.method, self.evaluation)
        envs = on.envs_for(self.method.batch_size, self.method.envs)
        unfinished = validation.unfinished(self.method, on, envs)
        self.close()
        self._collector = self.evaluator = self.visits = None
        self.task, self.envs, self.unfinished, self.here = on, envs, unfinished, False
        self._undecided = not self._wanted
        self.programs = programs(self.method, self.architecture, unfinished)

    def change(self, method: Method) -> None:
        """Go on with other settings; those that what was learnt hangs on cannot change."""
        validation.refuse_fixed(self.method, method)
        validation.check(method, self.steps, self.seed, self.evaluation, self.workers)
        architecture = architecture_of(method, self.task.spaces)
        found = programs(method, architecture, self.unfinished)
        validation.refuse_misfit(self.method, method, found.init, self.state)
        self._method, self.architecture, self.programs = method, architecture, found
        if self._collector is not None:
            self._collector.gamma = method.gamma

    def snapshot(self) -> tuple[dict[str, np.ndarray], Row]:
        """All that decides the future: arrays by name, and plain data."""
        return snapshots.taken(self)

    def restore(self, found: Checkpoint, moved: bool = False) -> None:
        """Go back to a snapshot; one that is not of this run is refused.

        With `moved` the environments are others: it goes on with new episodes.
        """
        snapshots.give_back(self, found, moved)

    def digest(self) -> str:
        """A hash of all parameters and all that is known of the paths."""
        return checkpoints.digest(checkpoints.named_arrays(self.state, "state"))

    def close(self) -> None:
        """Release environments and threads."""
        for part in (self._collector, self.evaluator):
            if part is not None:
                part.close()
