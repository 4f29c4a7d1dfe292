"""Train a method on an environment to a budget of steps, or go on where a run was left."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from mppo.acting.agent import Agent
from mppo.algorithm.methods import Method
from mppo.envs.source import AnyEnv
from mppo.envs.wrapping import imported_wrapper
from mppo.errors import BadRequest, PassedOver
from mppo.files import checkpoints, settings
from mppo.files.atomic import require_space
from mppo.files.reader import History
from mppo.files.run_directory import RunDirectory
from mppo.files.tuned import Tuned, below, fast_settings, find
from mppo.loggers import Logger
from mppo.training.loop import Callback, Training, describe
from mppo.training.options import Options
from mppo.training.run import Run


def train(
    method: str | Method,
    env: AnyEnv,
    *,
    steps: int = Options.steps,
    seed: int = Options.seed,
    out: str | os.PathLike[str] | None = None,
    from_scratch: bool = Options.from_scratch,
    eval_every: int = Options.eval_every,
    eval_episodes: int = Options.eval_episodes,
    eval_deterministic_episodes: int | None = Options.eval_deterministic_episodes,
    checkpoint_every: int = Options.checkpoint_every,
    workers: int = Options.workers,
    step_timeout: float = Options.step_timeout,
    engine: Literal["local", "ray"] = Options.engine,
    address: str | None = Options.address,
    wrappers: Sequence[Callable[[Any], Any]] = (),
    loggers: Sequence[Logger] = (),
    env_kwargs: dict[str, Any] | None = None,
    overrides: dict[str, Any] | None = None,
    tuned: bool = False,
    fast: bool = False,
    callback: Callback | None = None,
) -> Agent:
    """Train a method on an environment and return the agent.

    The options are those of `mppo.training.options.Options`. `env_kwargs` are arguments of the
    environment's constructor. `callback(event, row)` is called with "iteration" and "evaluation"
    rows; returning False stops the run after that row. `tuned` takes settings known to work here,
    `fast` a cheaper update of TRPO; `overrides`, fields of the method, stand above both.
    """
    options = Options.among(locals())  # the parameters are its fields
    known = tuned_settings(method, env, env_kwargs) if tuned else None
    overrides, options = with_presets(method, overrides or {}, options, known, fast)
    name, chosen = named_method(method, overrides)
    run = options.run(chosen, env, env_kwargs)
    with contextlib.closing(run), begun(run, name, options) as training:
        return training.to_the_end(callback)


def tuned_settings(method: str | Method, env: AnyEnv, env_kwargs: dict[str, Any] | None) -> Tuned:
    """The entry of the tuned settings for a method on an environment."""
    name = method if isinstance(method, str) else settings.name_of(method)
    if name == "custom":
        raise BadRequest("tuned settings are known by the names of methods; give method as one")
    return find(name, env, env_kwargs)


def with_presets(
    method: str | Method,
    given: dict[str, Any],
    options: Options,
    known: Tuned | None = None,
    fast: bool = False,
) -> tuple[dict[str, Any], Options]:
    """Settings and options: those given, below them a cheaper update, below it tuned settings."""
    on_top = lambda given: given if known is None else below(known, given)
    if fast:
        cheaper = fast_settings(named_method(method, on_top(given))[1])
        given = cheaper | settings.by_dotted_name(given)
    return on_top(given), options if known is None else with_tuned(known, options)


def with_tuned(known: Tuned, options: Options) -> Options:
    """The options with what an entry says of them, where the user says nothing."""
    if options.steps == Options.steps:
        options = dataclasses.replace(options, steps=known.steps)
    if known.wrappers and not options.wrappers:
        wrappers = tuple(map(imported_wrapper, known.wrappers))
        options = dataclasses.replace(options, wrappers=wrappers)
    return options


def named_method(method: str | Method, overrides: dict[str, Any]) -> tuple[str, Method]:
    """The name of a method and the method with its fields changed."""
    chosen = settings.method_named(method) if isinstance(method, str) else method
    chosen = settings.overridden(chosen, overrides)
    return method if isinstance(method, str) else settings.name_of(chosen), chosen


@contextlib.contextmanager
def begun(
    run: Run,
    name: str,
    options: Options,
    earlier: History | None = None,
    extends: bool = False,
    again: bool = False,
) -> Iterator[Training]:
    """A training, in its directory if it has one, which is closed at the end."""
    if options.out is None:
        yield Training(run, None, name, options, earlier)
        return
    directory = RunDirectory(options.out)
    try:
        training = begin(run, directory, name, options, extends, again)
        if directory.passed_over:
            warnings.warn(directory.passed_over, PassedOver, stacklevel=4)
        yield training
    finally:
        directory.close()


def begin(
    run: Run,
    directory: RunDirectory,
    method_name: str,
    options: Options = Options(),  # noqa: B008  (frozen)
    extends: bool = False,
    again: bool = False,
) -> Training:
    """A training in a directory: from the beginning, or from where the same run was left.

    Only if it `extends`, the run may be longer now than it was meant to be when it was begun.
    """
    wanted, old = run.steps, None
    if extends and not options.from_scratch:
        old = directory.description_to_continue()
    if old is not None:
        run.extend(int(old["steps"]))  # as it was begun, so that it is known as the same run
    if options.from_scratch or not directory.finished:
        require_space(directory.path, checkpoints.KEPT * run.state_bytes)
    if options.from_scratch:
        directory.move_aside()
    found = directory.begin(describe(run, method_name), run.restore)
    training = Training(run, directory, method_name, options)
    if found is None and run.iteration:  # it has learnt elsewhere: the directory starts from that
        training.save(at_end=True)
    there = None if old is None and found is None else run.steps
    done = run.iteration * run.method.batch_size
    training.steps, longer = plan(there, wanted, done, directory.finished, again)
    run.extend(wanted)
    if longer:
        directory.reopen(describe(run, method_name))
    return training


def plan(
    there: int | None, wanted: int, done: int = 0, finished: bool = False, again: bool = False
) -> tuple[int, bool]:
    """After how many steps a run is finished where `there` is one of so many steps, or None.

    `done` are those so far. The second answer is whether that one is opened again, to be longer. A
    run that is `finished` before its steps were done was stopped by a callback; it is left as it
    is, unless the same object is to learn `again`.

    >>> plan(None, 100), plan(100, 100, done=40), plan(100, 100, done=100, finished=True)
    ((100, False), (100, False), (100, False))
    >>> plan(100, 150, done=100, finished=True)
    (150, True)
    """
    if there is None:
        return wanted, False
    longer = done < wanted and (wanted > there or (again and finished))
    return wanted if longer else max(there, wanted), longer
