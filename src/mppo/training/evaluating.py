"""The evaluations of a run: episodes beside training, and their row."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from mppo.acting.actor import Actor
from mppo.algorithm.styles import ALIKE, Style
from mppo.files.run_directory import plain
from mppo.rollouts.distributed import DistributedCollector
from mppo.rollouts.evaluator import LONGEST, Episodes, Evaluator
from mppo.training import validation

if TYPE_CHECKING:
    import numpy as np

    from mppo.algorithm.iteration import State
    from mppo.algorithm.methods import Method
    from mppo.algorithm.policies import Policy
    from mppo.training.run import Run


def row(run: Run) -> dict[str, Any]:
    """Episodes of the policy that would be picked now: their row, of plain values."""
    i, policy = run.programs.report(run.state)
    wanted, style = run.evaluation, style_of(run.method, run.state, int(i))
    actor = Actor(run.architecture, policy)
    sampled = own = _play(run, actor, wanted.episodes)
    persists = persistent(run.method)
    if persists and not style.white:
        own = _play(run, Actor(run.architecture, policy, style), wanted.episodes)
    certain = _play(run, actor, wanted.deterministic_episodes, deterministic=True)
    made = {
        "steps": run.iteration * run.method.batch_size,
        "path": int(i),
        "returns": sampled.returns,
        "mean_return": _mean(sampled.returns),
        "returns_deterministic": certain.returns,
        "mean_return_deterministic": _mean(certain.returns),
        **({"mean_return_own_noise": _mean(own.returns)} if persists else {}),
        "cut": _cut(run, sampled, certain),
    }
    return plain(made)


def _play(run: Run, actor: Actor, episodes: int, deterministic: bool = False) -> Episodes:
    if isinstance(run.collector, DistributedCollector):
        return run.collector.play(actor, run.iteration, episodes, deterministic)
    if run.evaluator is None:
        most = max(run.evaluation.episodes, run.evaluation.deterministic_episodes)
        envs = run.task.make(most)
        run.evaluator = _evaluator(run, envs, run.seed)
    return run.evaluator.play(actor, run.iteration, episodes, deterministic)


def _evaluator(run: Run, envs: Any, seed: int) -> Evaluator:
    limit = run.options.step_timeout
    return Evaluator(envs, run.task.spaces, seed, run.clip, run.workers, step_timeout=limit)


def _cut(run: Run, *played: Episodes) -> int:
    """How many episodes were stopped before their end, which is said once."""
    cut = int(sum(episodes.cut.sum() for episodes in played))
    if cut and not run.said_cut:
        total = sum(len(episodes.returns) for episodes in played)
        validation.say_cut(cut, total, run.task.name, LONGEST)
        run.said_cut = True
    return cut


def on_fresh(
    run: Run, policy: Policy, episodes: int, seed: int | None, deterministic: bool
) -> Episodes:
    """Episodes on fresh environments; without a seed, those of the run's evaluation now."""
    number, chosen = (run.iteration, run.seed) if seed is None else (0, seed)
    envs = run.task.make(run.task.count or episodes)
    with closing(_evaluator(run, envs, chosen)) as evaluator:
        actor = Actor(run.architecture, policy)
        played = evaluator.play(actor, number, episodes, deterministic)
    if played.cut.any():
        validation.say_cut(int(played.cut.sum()), episodes, run.task.name, LONGEST)
    return played


def style_of(method: Method, state: State, path: int) -> Style:
    """How a path explores."""
    return method.styles[int(state.population.style[path])] if method.styles else ALIKE


def persistent(method: Method) -> bool:
    """Whether some paths act with noise that is not white."""
    return any(not one.white for one in method.styles)


def _mean(returns: np.ndarray) -> Any:
    return returns.mean() if len(returns) else None
