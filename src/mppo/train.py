"""Train to a budget of steps: iterate, evaluate, record."""

from __future__ import annotations

import importlib.metadata
import math
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mppo import config, theorem
from mppo.actor import Actor
from mppo.agent import Agent
from mppo.errors import BadRequest
from mppo.evaluate import Evaluator
from mppo.iteration import State, iterate
from mppo.lazy import jax
from mppo.methods import Method
from mppo.policies import Architecture
from mppo.programs import Programs, programs
from mppo.rollout import Collector
from mppo.seeding import Role, sequence
from mppo.store import FORMAT, RunDirectory
from mppo.tasks import MakeEnv, Task, task
from mppo.threads import available_cores
from mppo.types import Trajectories

Row = dict[str, Any]
Callback = Callable[[str, Row], bool | None]


@dataclass(frozen=True)
class Evaluation:
    """How the policy is evaluated while it is trained; these steps are no samples."""

    every: int = 10_000
    """Environment steps between evaluations; 0 is never."""
    episodes: int = 10
    """Episodes with sampled actions."""
    deterministic_episodes: int = 10
    """Episodes with the most likely actions, logged beside; 0 leaves them out."""


def train(
    method: str | Method,
    env: str | MakeEnv,
    *,
    steps: int = 1_000_000,
    seed: int = 0,
    out: str | None = None,
    eval_every: int = 10_000,
    eval_episodes: int = 10,
    eval_deterministic_episodes: int | None = None,
    workers: int = 0,
    callback: Callback | None = None,
    env_kwargs: dict[str, Any] | None = None,
    overrides: dict[str, Any] | None = None,
) -> Agent:
    """Train a method on an environment and return the agent.

    `steps` is a lower bound: whole batches are collected. `callback(event, row)` is called with
    "iteration" and "evaluation" rows; returning False stops the run after that row.
    """
    chosen = config.method_named(method) if isinstance(method, str) else method
    chosen = config.overridden(chosen, overrides or {})
    beside = eval_episodes if eval_deterministic_episodes is None else eval_deterministic_episodes
    evaluation = Evaluation(eval_every, eval_episodes, beside)
    run = Run(chosen, task(env, **(env_kwargs or {})), steps, seed, evaluation, workers)
    directory = RunDirectory(out) if out is not None else None
    name = method if isinstance(method, str) else config.name_of(chosen)
    if directory is not None:
        directory.create(run.description(name))
    try:
        return run.run(directory, callback)
    finally:
        run.close()


class Run:
    """One training run: the compiled programs, the environments and the state between them."""

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
        self.method, self.task, self.seed, self.evaluation = method, on, seed, evaluation
        self.steps, self.iterations = steps, math.ceil(steps / method.batch_size)
        self.envs = on.envs_for(method.batch_size, method.envs)
        self.clip = method.actions == "clipped" or (
            method.actions == "auto" and not on.of_the_paper
        )
        spaces = on.spaces
        self.architecture = Architecture(
            spaces.observation_size,
            spaces.head,
            method.network,
            method.observation_filter != "none",
            spaces.action_scale,
        )
        self.programs: Programs = programs(method, self.architecture)
        key = jax.random.key(int(sequence(seed, Role.PARAMETERS).generate_state(1)[0]))
        self.state: State = self.programs.init(key)
        self.workers = workers or available_cores()
        self._collector: Collector | None = None
        self._evaluator: Evaluator | None = None
        self._previous: int | None = None  # the pick before
        self._simulation = 0.0
        self._check: theorem.Check | None = None
        self.visits: np.ndarray | None = None  # [K, rows, columns], where there are cells to count

    def run(self, directory: RunDirectory | None, callback: Callback | None) -> Agent:
        """All iterations, with their rows written and shown."""
        metrics: list[Row] = []
        evaluations: list[Row] = []
        for n in range(self.iterations):
            started = time.perf_counter()
            row = self.iterate()
            timing = {
                "iteration": n,
                "steps": row["steps"],
                "simulation": self._simulation,
                "learning": time.perf_counter() - started - self._simulation,
                "evaluation": 0.0,
            }
            metrics.append(row)
            evaluation = None
            if self._evaluation_due(n):
                before = time.perf_counter()
                evaluation = self.evaluate(row["steps"])
                evaluations.append(evaluation)
                timing["evaluation"] = time.perf_counter() - before
            if directory is not None:
                directory.append("metrics.jsonl", row)
                directory.append("timing.jsonl", timing)
                if evaluation is not None:
                    directory.append("evaluations.jsonl", evaluation)
            if callback is not None:
                stop = callback("iteration", {**row, "timing": timing}) is False
                if evaluation is not None:
                    stop |= callback("evaluation", evaluation) is False
                if stop:
                    break
        agent = self.agent()
        agent.metrics, agent.evaluations = metrics, evaluations
        if directory is not None and self.visits is not None:
            layout = self._collector.envs.layout  # type: ignore
            maze = {"walls": layout.walls.astype(int), "start": layout.start, "goal": layout.goal}
            directory.write("visits.json", {**maze, "counts": self.visits}, indent=None)
        if directory is not None:
            directory.write("final.json", self._final(metrics, evaluations))
        return agent

    def iterate(self) -> Row:
        """One iteration of Algorithm 1 and its row."""
        measuring = int(self.state.iteration) < self.method.paths and (
            getattr(self.method.picking, "start", None) == "evaluate"
        )
        learn = self.programs.measure_only if measuring else self.programs.learn
        self.state, metrics = iterate(self._pick, self._collect, learn, self.state)
        row = jax.device_get(metrics)
        n = int(self.state.iteration)
        check = self._check
        return {
            "iteration": n - 1,
            "steps": n * self.method.batch_size,
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
        actor = Actor(self.architecture, policy)
        trajectories = self._collector(actor, path, iteration)
        if hasattr(self._collector.envs, "cells"):
            self._count_visits(trajectories, path)
        self._simulation = time.perf_counter() - started
        return trajectories

    def _count_visits(self, trajectories: Trajectories, path: int) -> None:
        """How often each cell of a grid world was seen under each path."""
        envs: Any = self._collector.envs  # type: ignore
        shape = envs.layout.walls.shape
        if self.visits is None:
            self.visits = np.zeros((self.method.paths, *shape), np.int64)
        column, row = envs.cells(trajectories.observations.reshape(-1, 2)).T
        counts = np.bincount(row * shape[1] + column, minlength=shape[0] * shape[1])
        self.visits[path] += counts.reshape(shape)

    def _evaluation_due(self, n: int) -> bool:
        """At the first iteration's end at or after each multiple of the interval, and at last."""
        every, batch = self.evaluation.every, self.method.batch_size
        if not every:
            return False
        return (n + 1) * batch // every > n * batch // every or n == self.iterations - 1

    def evaluate(self, steps: int) -> Row:
        """Episodes of the policy that would be picked now."""
        i, policy = self.programs.report(self.state)
        wanted = self.evaluation
        if self._evaluator is None:
            envs = self.task.make(max(wanted.episodes, wanted.deterministic_episodes))
            self._evaluator = Evaluator(envs, self.task.spaces, self.seed, self.clip, self.workers)
        actor, number = Actor(self.architecture, policy), int(self.state.iteration)
        returns = self._evaluator(actor, number, wanted.episodes)
        certain = self._evaluator(actor, number, wanted.deterministic_episodes, deterministic=True)
        return {
            "steps": steps,
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

    def close(self) -> None:
        """Release environments and threads."""
        for part in (self._collector, self._evaluator):
            if part is not None:
                part.close()

    def description(self, method_name: str) -> Row:
        """What `run.json` says: enough to run it again."""
        packages = ("jax", "jaxlib", "numpy", "optax", "gymnasium", "mujoco")
        return {
            "format": FORMAT,
            "method_name": method_name,
            "method": config.to_json(self.method),
            "env": self.task.name,
            "seed": self.seed,
            "steps": self.steps,
            "iterations": self.iterations,
            "envs": self.envs,
            "horizon": self.task.horizon,
            "clip_actions": self.clip,
            "evaluation": config.to_json(self.evaluation),
            "versions": {
                "mppo": importlib.metadata.version("mppo"),
                "python": platform.python_version(),
                **{name: importlib.metadata.version(name) for name in packages},
            },
        }

    def _final(self, metrics: list[Row], evaluations: list[Row]) -> Row:
        last = evaluations[-1] if evaluations else {}
        return {
            "iterations": len(metrics),
            "steps": metrics[-1]["steps"],
            "return_mean": metrics[-1]["return_mean"],
            "evaluation": {key: last.get(key) for key in ("mean_return", "path", "steps")},
            "parameters_sha256": None,
        }


def _check(method: Method, steps: int, seed: int, evaluation: Evaluation, workers: int) -> None:
    if steps < method.batch_size:
        raise BadRequest(
            f"steps is {steps}, which is below one batch of {method.batch_size}; give at least "
            f"--steps {method.batch_size}, or a smaller --batch-size"
        )
    if seed < 0:
        raise BadRequest(f"seed is {seed}; it must not be negative")
    if workers < 0:
        raise BadRequest(f"workers is {workers}; give a number of threads, or 0 for all cores")
    if evaluation.every < 0 or (evaluation.every and evaluation.episodes < 1):
        raise BadRequest(
            f"evaluation every {evaluation.every} steps with {evaluation.episodes} episodes; "
            "give at least one episode, or --eval-every 0 for no evaluation"
        )
