"""Train to a budget of steps: iterate, evaluate, record, checkpoint."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import time
from collections.abc import Callable
from typing import Any

from mppo import checkpoint, config
from mppo.agent import Agent
from mppo.errors import EnvironmentFault, LearningFault
from mppo.evaluation import Evaluation
from mppo.interrupts import Interrupts
from mppo.methods import Method
from mppo.run import Row, Run
from mppo.storage import reported, require_space, write_atomically
from mppo.store import FORMAT, RunDirectory, rows
from mppo.tasks import MakeEnv, task

Callback = Callable[[str, Row], bool | None]
SAVE_EVERY = 60.0  # seconds that are lost at most, where saving does not change the run
RESET_EVERY = 10  # iterations between checkpoints, where it does


def train(
    method: str | Method,
    env: str | MakeEnv,
    *,
    steps: int = 1_000_000,
    seed: int = 0,
    out: str | os.PathLike | None = None,
    eval_every: int = 10_000,
    eval_episodes: int = 10,
    eval_deterministic_episodes: int | None = None,
    checkpoint_every: int = 0,
    workers: int = 0,
    callback: Callback | None = None,
    env_kwargs: dict[str, Any] | None = None,
    overrides: dict[str, Any] | None = None,
) -> Agent:
    """Train a method on an environment and return the agent.

    `steps` is a lower bound: whole batches are collected. With `out`, the run is written there,
    and the same call takes up an interrupted run where it was left. `callback(event, row)` is
    called with "iteration" and "evaluation" rows; returning False stops the run after that row.
    """
    chosen = config.method_named(method) if isinstance(method, str) else method
    chosen = config.overridden(chosen, overrides or {})
    beside = eval_episodes if eval_deterministic_episodes is None else eval_deterministic_episodes
    evaluation = Evaluation(eval_every, eval_episodes, beside)
    run = Run(chosen, task(env, **(env_kwargs or {})), steps, seed, evaluation, workers)
    name = method if isinstance(method, str) else config.name_of(chosen)
    try:
        if out is None:
            return Training(run, None, checkpoint_every).to_the_end(callback)
        directory = RunDirectory(out)
        try:
            training = begin(run, directory, name, checkpoint_every)
            return training.to_the_end(callback)
        finally:
            directory.close()
    finally:
        run.close()


def begin(
    run: Run, directory: RunDirectory, method_name: str, checkpoint_every: int = 0
) -> Training:
    """A training in a directory: from the beginning, or from where the same run was left."""
    if not directory.finished:
        require_space(directory.path, checkpoint.KEPT * run.state_bytes)
    found = directory.begin(describe(run, method_name))
    if found is not None:
        run.restore(found)
    return Training(run, directory, checkpoint_every)


class Training:
    """The loop around a run: rows written, checkpoints saved, callbacks called."""

    def __init__(self, run: Run, directory: RunDirectory | None, checkpoint_every: int = 0):
        self.run, self.directory = run, directory
        self.checkpoint_every = checkpoint_every
        self._saved_at, self._saved = time.monotonic(), -1

    def to_the_end(
        self, callback: Callback | None = None, interrupts: Interrupts | None = None
    ) -> Agent:
        """Iterate until the budget is spent, a callback says stop, or a signal came."""
        run, directory = self.run, self.directory
        metrics: list[Row] = []
        evaluations: list[Row] = []
        stopped = False
        while run.iteration < run.iterations and not stopped:
            if interrupts is not None and interrupts.received is not None:
                break
            row, evaluation, timing = self._step()
            if directory is None:  # else the rows are in files, and memory does not grow
                metrics.append(row)
                evaluations += [] if evaluation is None else [evaluation]
            if callback is not None:
                event = {**row, "timing": timing, "trajectories": run.trajectories}
                stopped = callback("iteration", event) is False
                if evaluation is not None:
                    stopped |= callback("evaluation", evaluation) is False
            if self._save_due():
                self.save()
        if directory is not None and directory.finished:  # nothing was left to do
            self._saved = run.iteration
        self.save()
        if directory is not None:
            if directory.finished:
                pass
            elif stopped or run.iteration == run.iterations:
                self._finish(stopped)
            else:
                directory.event("stopped", iteration=run.iteration)
            metrics, evaluations = (
                rows(directory.path, name) for name in ("metrics.jsonl", "evaluations.jsonl")
            )
        agent = run.agent()
        agent.metrics, agent.evaluations = metrics, evaluations
        return agent

    def _step(self) -> tuple[Row, Row | None, Row]:
        """One iteration and, where it is due, an evaluation; their rows are written."""
        started = time.perf_counter()
        try:
            row = self.run.iterate()
            learnt = time.perf_counter()
            evaluation = self.run.evaluate() if self.run.evaluation_due() else None
        except (EnvironmentFault, LearningFault) as fault:
            self._record(fault)
            raise
        timing = {
            "iteration": row["iteration"],
            "steps": row["steps"],
            "simulation": self.run.simulation,
            "learning": learnt - started - self.run.simulation,
            "evaluation": time.perf_counter() - learnt,
        }
        if self.directory is not None:
            self.directory.append("metrics.jsonl", row)
            self.directory.append("timing.jsonl", timing)
            if evaluation is not None:
                self.directory.append("evaluations.jsonl", evaluation)
        return row, evaluation, timing

    def _at_boundary(self) -> bool:
        """Whether the run may be saved now without changing it."""
        n = self.run.iteration
        return self.run.resumes_bitwise or n % (self.checkpoint_every or RESET_EVERY) == 0

    def _save_due(self) -> bool:
        if not self.run.resumes_bitwise:
            return self._at_boundary()
        if self.checkpoint_every:
            return self.run.iteration % self.checkpoint_every == 0
        return time.monotonic() - self._saved_at > SAVE_EVERY

    def save(self) -> None:
        """Write a checkpoint unless the newest is of this iteration.

        Environments that go on from batch to batch and cannot tell their state start anew after
        every checkpoint, in interrupted and uninterrupted runs alike.
        """
        at_end = self.run.iteration == self.run.iterations
        if self._saved == self.run.iteration or not (self._at_boundary() or at_end):
            return
        if not self.run.resumes_bitwise:
            self.run.collector.forget()
        if self.directory is None:
            return
        arrays, data = self.run.snapshot()
        self.directory.save(self.run.iteration, arrays, data)
        self._saved_at, self._saved = time.monotonic(), self.run.iteration

    def _record(self, fault: Exception) -> None:
        """Leave what is known of a fault in the run directory."""
        if self.directory is None:
            return
        folder = self.directory.path / "fault"
        with reported(folder):
            folder.mkdir(exist_ok=True)
        self.directory.event("fault", iteration=self.run.iteration, message=str(fault))
        if isinstance(fault, LearningFault) and self.run.trajectories is not None:
            content = checkpoint.as_bytes(self.run.trajectories)
            write_atomically(folder / "batch.safetensors", content)

    def _finish(self, stopped: bool) -> None:
        """Write what is only known at the end; `final.json` last."""
        run, directory = self.run, self.directory
        assert directory is not None
        if run.visits is not None:
            layout: Any = run.collector.envs.layout  # type: ignore
            maze = {"walls": layout.walls.astype(int), "start": layout.start, "goal": layout.goal}
            directory.write("visits.json", {**maze, "counts": run.visits}, indent=None)
        evaluations = rows(directory.path, "evaluations.jsonl")
        last = evaluations[-1] if evaluations else {}
        final = {
            "iterations": run.iteration,
            "steps": run.iteration * run.method.batch_size,
            "stopped_by_callback": stopped,
            "evaluation": {key: last.get(key) for key in ("steps", "path", "mean_return")},
            "state_sha256": run.digest(),
        }
        directory.write("final.json", final)
        directory.event("finished", iteration=run.iteration)


def describe(run: Run, method_name: str) -> Row:
    """What `run.json` says: enough to run it again."""
    packages = ("jax", "jaxlib", "numpy", "optax", "gymnasium", "mujoco")
    return {
        "format": FORMAT,
        "method_name": method_name,
        "method": config.to_json(run.method),
        "env": run.task.name,
        "env_kwargs": run.task.kwargs,
        "seed": run.seed,
        "steps": run.steps,
        "iterations": run.iterations,
        "envs": run.envs,
        "horizon": run.task.horizon,
        "clip_actions": run.clip,
        "evaluation": config.to_json(run.evaluation),
        "resume": "bitwise" if run.resumes_bitwise else "bitwise-with-reset",
        "versions": {
            "mppo": importlib.metadata.version("mppo"),
            "python": platform.python_version(),
            **{name: importlib.metadata.version(name) for name in packages},
        },
    }
