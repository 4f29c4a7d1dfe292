"""Open a run directory, finished or not, and take an agent out of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
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
from mppo.envs.recorded import recorded_source
from mppo.envs.source import AnyEnv, EnvSource
from mppo.errors import BadRequest, CheckpointError
from mppo.files import checkpoints, reader
from mppo.files.description import described
from mppo.files.model_file import Saved
from mppo.machine.lazy import jax
from mppo.machine.threads import available_cores
from mppo.rollouts.evaluator import Episodes, Evaluator
from mppo.training.evaluating import style_of
from mppo.training.programs import programs
from mppo.training.run import Run
from mppo.training.validation import prepared

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

    def agent(self, path: int | None = None) -> Agent:
        """The policy of one path; without one named, that which the picking rule reports."""
        if path is None:
            i, policy = programs(self.method, self.architecture).report(self.state)
        elif 0 <= path < self.method.paths:
            i, policy = path, member(self.state.population.policy, path)  # type: ignore
        else:
            raise BadRequest(f"path is {path}; the run has the paths 0 ... {self.method.paths - 1}")
        made_for = self.method, self.task.spaces, self.architecture
        seed, clip = self.described["seed"], self.described["clip_actions"]
        style = style_of(self.method, self.state, int(i))
        agent = Agent(*made_for, jax.device_get(policy), seed, clip, int(i), style)
        rows = reader.history(self.directory)
        agent.metrics, agent.evaluations = rows.metrics, rows.evaluations
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
    directory: str | os.PathLike[str], *, env: AnyEnv | None = None, allow_imports: bool = False
) -> Opened:
    """Read a run directory; nothing in it is changed."""
    where = Path(directory)
    found = reader.known_description(where)
    method = described(found, allow_imports, other_env=env is not None).method
    try:
        source = recorded_source(found, env, None, allow_imports)
    except BadRequest as error:
        if env is not None or "--allow-imports" in str(error):
            raise
        raise BadRequest(
            f'"{where}" was trained on "{found["env"]}": {error}; if it was a callable, give '
            f'it: mppo.load("{where}", env=make_env)'
        ) from error
    on = prepared(method, source)
    architecture = architecture_of(method, on.spaces)
    like = jax.eval_shape(partial(iteration.init, method, architecture), jax.random.key(0))
    state = checkpoints.restored(like, reader.newest(where).arrays, "state")
    return Opened(where, found, method, on, architecture, state)


def restored_run(
    saved: Saved,
    env: AnyEnv | None = None,
    wrappers: Sequence[Callable[[Any], Any]] | None = None,
    workers: int = 0,
    allow_imports: bool = False,
) -> tuple[Run, str]:
    """The run of a saved model as it stood, and its method's name; with `env` in another place."""
    about = saved.described
    old = described(about, allow_imports, other_env=env is not None)
    on = recorded_source(about, env, wrappers, allow_imports)
    done = saved.checkpoint.data.get("iteration")
    steps = old.method.batch_size * max(1, done if isinstance(done, int) else 1)
    same = on.horizon == about.get("horizon")  # in another environment, J may count otherwise
    settled = old.unfinished if same else None
    run = Run(old.method, on, steps, old.seed, old.evaluation, workers, settled)
    run.clip = old.clip_actions  # as trained, also where `env` is another
    there = (about["env"], about["env_kwargs"], tuple(about.get("wrappers", ())))
    moved = (on.name, on.kwargs, on.wrappers) != there
    try:
        run.restore(saved.checkpoint, moved)
    except CheckpointError:
        if env is None or moved:
            raise
        run.restore(saved.checkpoint, moved=True)  # its like by name, but of another make
    return run, old.method_name


def play(
    run: Opened, agent: Agent, episodes: int, seed: int, deterministic: bool = False
) -> Episodes:
    """Episodes of an agent; with the run's own seed, those of its evaluation at this checkpoint."""
    own = run.described.get("evaluation", {})
    counts = [own.get(name) for name in ("episodes", "deterministic_episodes")]
    known = [n for n in counts if type(n) is int and 0 < n <= 1000]
    # with as many environments as in the run's own evaluation, sums are rounded alike
    envs = run.task.make(run.task.count or max(known, default=AT_ONCE))
    clip = bool(run.described["clip_actions"])
    with closing(Evaluator(envs, run.task.spaces, seed, clip, available_cores())) as evaluator:
        actor = Actor(run.architecture, agent.policy)
        return evaluator.play(actor, run.iteration, episodes, deterministic)
