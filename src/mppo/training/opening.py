"""Open a run directory, finished or not, and take an agent out of it."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from mppo.acting.actor import Actor
from mppo.acting.agent import Agent, architecture_of
from mppo.algorithm import iteration
from mppo.algorithm.iteration import State
from mppo.algorithm.methods import Method
from mppo.algorithm.policies import Architecture
from mppo.algorithm.population import member
from mppo.envs.source import AnyEnv, EnvSource, recorded_source
from mppo.errors import BadRequest
from mppo.files import checkpoints
from mppo.files.description import described
from mppo.files.run_directory import RunDirectory, rows
from mppo.machine.lazy import jax
from mppo.machine.threads import available_cores
from mppo.rollouts.evaluator import Episodes, Evaluator
from mppo.training.preparation import prepared
from mppo.training.programs import programs

AT_ONCE = 10  # environments of an evaluation, where the run itself had none


class Opened(NamedTuple):
    """What a run directory holds: what was run, and its state at the newest good checkpoint."""

    directory: Path
    described: dict[str, Any]  # run.json
    method: Method
    task: EnvSource
    architecture: Architecture
    state: State

    @property
    def iteration(self) -> int:
        """Iterations done at the checkpoint."""
        return int(self.state.iteration)

    @property
    def steps(self) -> int:
        """Environment steps done at the checkpoint."""
        return self.iteration * self.method.batch_size

    @property
    def evaluated_at_once(self) -> int:
        """Environments of the run's own evaluation: with as many, sums are rounded alike."""
        own = self.described.get("evaluation", {})
        counts = [own.get(name) for name in ("episodes", "deterministic_episodes")]
        known = [n for n in counts if type(n) is int and 0 < n <= 1000]
        return max(known, default=AT_ONCE)

    def agent(self, path: int | None = None) -> Agent:
        """The policy of one path; without one named, that which the picking rule reports."""
        if path is None:
            i, policy = programs(self.method, self.architecture).report(self.state)
        elif 0 <= path < self.method.paths:
            i, policy = path, member(self.state.population.policy, path)  # type: ignore
        else:
            raise BadRequest(f"path is {path}; the run has the paths 0 ... {self.method.paths - 1}")
        agent = Agent(
            self.method,
            self.task.spaces,
            self.architecture,
            jax.device_get(policy),
            self.described["seed"],
            self.described["clip_actions"],
            int(i),
        )
        agent.metrics = rows(self.directory, "metrics.jsonl")
        agent.evaluations = rows(self.directory, "evaluations.jsonl")
        return agent


def load(
    directory: str | os.PathLike[str],
    *,
    path: int | None = None,
    env: AnyEnv | None = None,
    allow_imports: bool = False,
) -> Agent:
    """The agent of a run directory: of its newest good checkpoint, finished or not.

    `path` takes one of the K policies instead of the one that the picking rule reports. `env` is
    needed where the run was trained on a callable. Code of other packages that the run names is
    imported only with `allow_imports`.
    """
    return opened(directory, env=env, allow_imports=allow_imports).agent(path)


def opened(
    directory: str | os.PathLike[str],
    *,
    env: AnyEnv | None = None,
    allow_imports: bool = False,
) -> Opened:
    """Read a run directory; nothing in it is changed."""
    where = Path(directory)
    run = RunDirectory(where)
    found = run.description()
    if found is None:
        raise BadRequest(f'"{where}" holds no run (there is no run.json)')
    method = described(found, allow_imports, other_env=env is not None).method
    on = prepared(method, _source(where, found, env, allow_imports))
    architecture = architecture_of(method, on.spaces)
    like = jax.eval_shape(partial(iteration.init, method, architecture), jax.random.key(0))
    state = checkpoints.restored(like, run.newest().arrays, "state")
    return Opened(where, found, method, on, architecture, state)


def play(
    run: Opened, agent: Agent, episodes: int, seed: int, deterministic: bool = False
) -> Episodes:
    """Episodes of an agent; with the run's own seed, those of its evaluation at this checkpoint."""
    envs = run.task.make(run.task.count or run.evaluated_at_once)
    clip = bool(run.described["clip_actions"])
    evaluator = Evaluator(envs, run.task.spaces, seed, clip, available_cores())
    try:
        actor = Actor(run.architecture, agent.policy)
        return evaluator.play(actor, run.iteration, episodes, deterministic)
    finally:
        evaluator.close()


def _source(
    where: Path, described: dict[str, Any], env: AnyEnv | None, allow_imports: bool
) -> EnvSource:
    try:
        return recorded_source(described, env, None, allow_imports)
    except BadRequest as error:
        if env is not None or "--allow-imports" in str(error):
            raise
        raise BadRequest(
            f'"{where}" was trained on "{described["env"]}": {error}; if it was a callable, give '
            f'it: mppo.load("{where}", env=make_env)'
        ) from error
