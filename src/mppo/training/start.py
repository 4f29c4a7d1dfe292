"""Train a method on an environment to a budget of steps, or go on where a run was left."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from mppo.acting.agent import Agent
from mppo.algorithm.methods import Method
from mppo.envs.source import AnyEnv, env_source
from mppo.errors import PassedOver
from mppo.files import checkpoints, settings
from mppo.files.atomic import require_space
from mppo.files.evaluation import Evaluation
from mppo.files.run_directory import RunDirectory
from mppo.loggers import Logger
from mppo.training.loop import Callback, Training, describe
from mppo.training.run import Run
from mppo.training.workers import STEP_TIMEOUT, WorkerOptions


def train(
    method: str | Method,
    env: AnyEnv,
    *,
    steps: int = 1_000_000,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    eval_every: int = 10_000,
    eval_episodes: int = 10,
    eval_deterministic_episodes: int | None = None,
    checkpoint_every: int = 0,
    workers: int = 0,
    step_timeout: float = STEP_TIMEOUT,
    engine: str = "local",
    address: str | None = None,
    callback: Callback | None = None,
    env_kwargs: dict[str, Any] | None = None,
    wrappers: Sequence[Callable[[Any], Any]] = (),
    overrides: dict[str, Any] | None = None,
    loggers: Sequence[Logger] = (),
    from_scratch: bool = False,
) -> Agent:
    """Train a method on an environment and return the agent.

    `steps` is a lower bound: whole batches are collected. With `out`, the run is written there,
    and the same call takes up an interrupted run where it was left; `from_scratch` moves the run
    that is there to another name instead. `callback(event, row)` is called with "iteration" and
    "evaluation" rows; returning False stops the run after that row.
    `mppo.callbacks` has the usual ones, `mppo.loggers` what `loggers` may be. `workers` are
    threads for compiled environments and processes for those written in Python, where a step may
    take `step_timeout` seconds; with `engine="ray"` they are on the cluster at `address`.
    """
    chosen = settings.method_named(method) if isinstance(method, str) else method
    chosen = settings.overridden(chosen, overrides or {})
    beside = eval_episodes if eval_deterministic_episodes is None else eval_deterministic_episodes
    evaluation = Evaluation(eval_every, eval_episodes, beside)
    on = env_source(env, wrappers=wrappers, **(env_kwargs or {}))
    options = WorkerOptions(step_timeout, engine, address)
    run = Run(chosen, on, steps, seed, evaluation, workers, options=options)
    name = method if isinstance(method, str) else settings.name_of(chosen)
    try:
        if out is None:
            return Training(run, None, checkpoint_every, name, loggers).to_the_end(callback)
        directory = RunDirectory(out)
        try:
            training = begin(run, directory, name, checkpoint_every, loggers, from_scratch)
            _warn(directory)
            return training.to_the_end(callback)
        finally:
            directory.close()
    finally:
        run.close()


def begin(
    run: Run,
    directory: RunDirectory,
    method_name: str,
    checkpoint_every: int = 0,
    loggers: Sequence[Logger] = (),
    from_scratch: bool = False,
) -> Training:
    """A training in a directory: from the beginning, or from where the same run was left."""
    if from_scratch or not directory.finished:
        require_space(directory.path, checkpoints.KEPT * run.state_bytes)
    if from_scratch:
        directory.move_aside()
    found = directory.begin(describe(run, method_name), run.restore)
    training = Training(run, directory, checkpoint_every, method_name, loggers)
    if found is None and run.iteration:  # it has learnt elsewhere: the directory starts from that
        training.save(at_end=True)
    return training


def begin_or_extend(
    run: Run,
    directory: RunDirectory,
    method_name: str,
    checkpoint_every: int = 0,
    loggers: Sequence[Logger] = (),
    go_on: bool = False,
    from_scratch: bool = False,
) -> Training:
    """As `begin`, but the run may be meant to be longer now than when it was begun.

    A run that a callback has stopped is left as it is, unless it is to `go_on`.
    """
    wanted = run.steps
    there = None if from_scratch else directory.description_to_continue()
    if there is not None:
        run.extend(int(there["steps"]))
    training = begin(run, directory, method_name, checkpoint_every, loggers, from_scratch)
    _warn(directory)
    left = run.iteration * run.method.batch_size < wanted
    longer = there is not None and left and (wanted > run.steps or (go_on and directory.finished))
    training.promised = 0 if there is None or longer else run.iterations
    run.extend(wanted)
    if longer:
        directory.reopen(describe(run, method_name))
    return training


def _warn(directory: RunDirectory) -> None:
    if directory.passed_over:
        warnings.warn(directory.passed_over, PassedOver, stacklevel=3)
