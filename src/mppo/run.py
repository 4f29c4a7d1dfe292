"""One training run: the compiled programs, the environments and the state between them."""

from __future__ import annotations

import math
import time
import warnings
from typing import Any

import numpy as np

from mppo import checkpoint, theorem
from mppo.actor import Actor
from mppo.agent import Agent, architecture_of
from mppo.checkpoint import Checkpoint
from mppo.errors import BadRequest, CheckpointError, LearningFault, SlowPath
from mppo.evaluate import Evaluator
from mppo.evaluation import Evaluation
from mppo.iteration import State, iterate
from mppo.lazy import jax
from mppo.methods import Method
from mppo.networks import Mlp
from mppo.policies import Architecture
from mppo.programs import Programs, programs
from mppo.rollout import Collector
from mppo.seeding import Role, sequence
from mppo.tasks import Task
from mppo.threads import available_cores
from mppo.types import Trajectories

Row = dict[str, Any]


class Run:
    """A method on a task: `iterate` and `evaluate` give rows, `snapshot` and `restore` its all."""

    evaluation: Evaluation
    method: Method
    seed: int
    clip: bool
    architecture: Architecture
    workers: int
    simulation: float
    doing: str
    iterations: int
    steps: int
    envs: int
    task: Task
    iteration: int

    def __init__(
        self,
        method: Method,
        on: Task,
        steps: int,
        seed: int,
        evaluation: Evaluation,
        workers: int = 0,
    ):
        _check(method, steps, seed, evaluation, workers)
        _refuse_sharing(on, method, evaluation)
        self.method, self.task, self.seed, self.evaluation = method, on, seed, evaluation
        self.steps, self.iterations = steps, math.ceil(steps / method.batch_size)
        self.envs = on.envs_for(method.batch_size, method.envs)
        raw = method.actions == "raw" or (method.actions == "auto" and on.of_the_paper)
        self.clip = not raw
        if not isinstance(method.network, Mlp):
            warnings.warn(
                f"{type(method.network).__name__} is not an Mlp: its actions come from a compiled "
                "call for each step, which is slower than the compiled loop of an Mlp",
                SlowPath,
                stacklevel=2,
            )
        self.architecture = architecture_of(method, on.spaces)
        self.programs: Programs = programs(method, self.architecture)
        key = jax.random.key(int(sequence(seed, Role.PARAMETERS).generate_state(1)[0]))
        self.state: State = self.programs.init(key)
        self.iteration = 0  # how many are done
        self.workers = workers or available_cores()
        self.doing = "compiling the first programs"  # for whoever watches
        self.simulation = 0.0  # seconds that the last rollout took
        self.trajectories: Trajectories | None = None  # of the last iteration
        self.visits: np.ndarray | None = None  # [K, rows, columns], where there are cells to count
        self._collector: Collector | None = None
        self._evaluator: Evaluator | None = None
        self._previous: int | None = None  # the pick before
        self._check: theorem.Check | None = None
        self._learnt = False  # in this process: the first time, the update is compiled

    @property
    def resumes_bitwise(self) -> bool:
        """Whether a resumed run needs no reset that an uninterrupted one would not have had."""
        return self.method.episodes == "fresh" or self.task.native

    @property
    def state_bytes(self) -> int:
        """How large a checkpoint of it is, but for a few percent."""
        return sum(leaf.nbytes for leaf in jax.tree.leaves(self.state))

    @property
    def collector(self) -> Collector:
        """The training environments, made when first needed."""
        if self._collector is None:
            self._collector = Collector(
                self.task.make(self.envs),
                self.task.spaces,
                self.method.batch_size // self.envs,
                self.seed,
                self.method.episodes,
                self.clip,
                self.method.gamma,
                self.workers,
            )
        return self._collector

    def iterate(self) -> Row:
        """One iteration of Algorithm 1 and its row."""
        measuring = self.iteration < self.method.paths and (
            getattr(self.method.picking, "start", None) == "evaluate"
        )
        learn = self.programs.measure_only if measuring else self.programs.learn
        self.state, metrics = iterate(self._pick, self._collect, learn, self.state)
        row = jax.device_get(metrics)
        if not row.pop("finite"):
            raise LearningFault(
                f"iteration {self.iteration} on {self.task.name} made path {int(row['picked'])} "
                "not finite; it was not saved. The batch is in the run directory under fault; a "
                "smaller learning rate may help"
            )
        self.iteration += 1
        check = self._check
        return {
            "iteration": self.iteration - 1,
            "steps": self.iteration * self.method.batch_size,
            **row,
            "theorem_bound": None if check is None else check.bound,
            "theorem_slack": None if check is None else check.slack,
        }

    def _pick(self, state: State):
        """Lines 2-4, with Theorem 1 checked against what the rule saw."""
        i, policy = self.programs.pick(state)
        picked, before = int(i), self._previous
        known = np.asarray(state.population.record.picks)
        self._check = None
        if before is not None and (known > 0).all():
            performance, entropy = jax.device_get(
                (state.population.performance, state.population.entropy)
            )
            rule = self.method.picking
            self._check = theorem.check(rule, performance, entropy, before, picked)
        self._previous = picked
        return i, policy

    def _collect(self, policy, path: int, iteration: int) -> Trajectories:
        started = time.perf_counter()
        self.doing = f"collecting with path {path}"
        actor = Actor(self.architecture, policy)
        self.trajectories = self.collector(actor, path, iteration)
        if hasattr(self.collector.envs, "cells"):
            self._count_visits(self.trajectories, path)
        self.simulation = time.perf_counter() - started
        self.doing = f"improving path {path}" if self._learnt else "compiling the update"
        self._learnt = True
        return self.trajectories

    def _count_visits(self, trajectories: Trajectories, path: int) -> None:
        """How often each cell of a grid world was seen under each path."""
        envs: Any = self.collector.envs
        shape = envs.layout.walls.shape
        if self.visits is None:
            self.visits = np.zeros((self.method.paths, *shape), np.int64)
        column, row = envs.cells(trajectories.observations.reshape(-1, 2)).T
        counts = np.bincount(row * shape[1] + column, minlength=shape[0] * shape[1])
        self.visits[path] += counts.reshape(shape)

    def evaluation_due(self) -> bool:
        """At the first iteration's end at or after each multiple of the interval, and at last."""
        every, batch, n = self.evaluation.every, self.method.batch_size, self.iteration
        if not every or not n:
            return False
        return n * batch // every > (n - 1) * batch // every or n == self.iterations

    def evaluate(self) -> Row:
        """Episodes of the policy that would be picked now."""
        self.doing = "evaluating"
        i, policy = self.programs.report(self.state)
        wanted = self.evaluation
        if self._evaluator is None:
            envs = self.task.make(max(wanted.episodes, wanted.deterministic_episodes))
            self._evaluator = Evaluator(envs, self.task.spaces, self.seed, self.clip, self.workers)
        actor, number = Actor(self.architecture, policy), self.iteration
        returns = self._evaluator(actor, number, wanted.episodes)
        certain = self._evaluator(actor, number, wanted.deterministic_episodes, deterministic=True)
        return {
            "steps": self.iteration * self.method.batch_size,
            "path": int(i),
            "returns": returns,
            "mean_return": returns.mean() if len(returns) else None,
            "returns_deterministic": certain,
            "mean_return_deterministic": certain.mean() if len(certain) else None,
        }

    def agent(self) -> Agent:
        """The policy that the picking rule reports now, ready to act."""
        i, policy = self.programs.report(self.state)
        return Agent(
            self.method,
            self.task.spaces,
            self.architecture,
            jax.device_get(policy),
            self.seed,
            self.clip,
            int(i),
        )

    def extend(self, steps: int) -> None:
        """Let the run end after that many steps in all."""
        self.steps, self.iterations = steps, math.ceil(steps / self.method.batch_size)

    def move_to(self, on: Task) -> None:
        """Go on in other environments of the same spaces."""
        here, there = self.task.spaces, on.spaces
        if (here.observation, here.action) != (there.observation, there.action):
            raise BadRequest(
                f'"{on.name}" has the spaces {there.observation} and {there.action}; the policy '
                f"was made for {here.observation} and {here.action}"
            )
        _refuse_sharing(on, self.method, self.evaluation)
        envs = on.envs_for(self.method.batch_size, self.method.envs)
        self.close()
        self._collector = self._evaluator = None
        self.task, self.envs = on, envs

    def snapshot(self) -> tuple[dict[str, np.ndarray], Row]:
        """All that decides the future: arrays by name, and plain data."""
        arrays = checkpoint.named_arrays(self.state, "state")
        if self.visits is not None:
            arrays["visits"] = self.visits
        data: Row = {"iteration": self.iteration, "previous": self._previous}
        if self.method.episodes == "continue" and self.task.native and self._collector:
            arrays |= {f"episodes.{k}": v for k, v in self._collector.get_state().items()}
        return arrays, data

    def restore(self, found: Checkpoint) -> None:
        """Go back to a snapshot; one that is not of this run is refused."""
        state = checkpoint.restored(self.state, found.arrays, "state")
        iteration, previous = int(state.iteration), found.data.get("previous")
        if iteration != found.data.get("iteration") or not 0 <= iteration <= self.iterations:
            raise CheckpointError(f'"{found.path}" holds the state of another iteration')
        if previous is not None and not (
            type(previous) is int and 0 <= previous < self.method.paths
        ):
            raise CheckpointError(f'"{found.path}": the path picked before is {previous!r}')
        names = set(checkpoint.named_arrays(self.state, "state"))
        rest = {name: array for name, array in found.arrays.items() if name not in names}
        visits = self._checked_visits(rest.pop("visits", None), iteration, found)
        carried = {name.removeprefix("episodes."): array for name, array in rest.items()}
        continues = self.method.episodes == "continue" and self.task.native and iteration > 0
        if len(carried) != len(rest) or bool(carried) != continues:
            raise CheckpointError(f'"{found.path}" holds arrays of another run: {sorted(rest)}')
        if carried:
            try:
                self.collector.set_state(carried)
            except (KeyError, TypeError, ValueError) as error:
                raise CheckpointError(f'"{found.path}": {error}') from error
        self.state, self.iteration, self._previous, self.visits = state, iteration, previous, visits

    def _checked_visits(
        self, visits: np.ndarray | None, iteration: int, found: Checkpoint
    ) -> np.ndarray | None:
        """The counts of cells, there exactly if there are cells and something was counted."""
        cells = hasattr(self.collector.envs, "cells")
        wanted = None
        if cells and iteration:
            envs: Any = self.collector.envs
            wanted = (self.method.paths, *envs.layout.walls.shape), np.dtype(np.int64)
        if (None if visits is None else (visits.shape, visits.dtype)) != wanted:
            raise CheckpointError(f'"{found.path}" does not hold the visits of this run')
        return visits if visits is None else visits.copy()  # what is read may not be written to

    def digest(self) -> str:
        """A hash of all parameters and all that is known of the paths."""
        return checkpoint.digest(checkpoint.named_arrays(self.state, "state"))

    def close(self) -> None:
        """Release environments and threads."""
        for part in (self._collector, self._evaluator):
            if part is not None:
                part.close()


def _refuse_sharing(on: Task, method: Method, evaluation: Evaluation) -> None:
    if on.shared and method.episodes == "continue" and evaluation.every:
        raise BadRequest(
            f'episodes="continue" with evaluations needs environments for each, and "{on.name}" is '
            "a single instance; give a callable that makes it, or eval_every=0"
        )


def _check(method: Method, steps: int, seed: int, evaluation: Evaluation, workers: int) -> None:
    if steps < method.batch_size:
        raise BadRequest(
            f"steps is {steps}, which is below one batch of {method.batch_size}; give at least "
            f"--steps {method.batch_size}, or a smaller --batch-size"
        )
    if seed is None or seed < 0:
        raise BadRequest(f"seed is {seed}; give a whole number, 0 or more")
    if workers < 0:
        raise BadRequest(f"workers is {workers}; give a number of threads, or 0 for all cores")
    if evaluation.every < 0 or (evaluation.every and evaluation.episodes < 1):
        raise BadRequest(
            f"evaluation every {evaluation.every} steps with {evaluation.episodes} episodes; "
            "give at least one episode, or --eval-every 0 for no evaluation"
        )
