"""Every table and figure of the paper by name, with the runs it needs.

A run that several of them need is one run: its name is a hash of what it computes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal

from mppo.algorithm.methods import METHODS
from mppo.algorithm.optimisers.ppo import Ppo
from mppo.errors import BadRequest, did_you_mean
from mppo.experiments.grid import distinct
from mppo.experiments.spec import GRID_EVALUATION, RunSpec, spec
from mppo.files.evaluation import Evaluation
from mppo.files.settings import method_named
from mppo.paper.readings import Readings

SEEDS = (0, 1, 2, 3, 4, 5)
"""Section 4.1: "6 different random seeds (0-5)"."""
PATHS = (2, 4, 8, 16)
"""K of Figure 5: the values of the memory tables, which are of the same experiments."""
ALPHAS = (0.0, 0.1, 0.3, 0.5, 1.0)
"""Alpha of Figure 6. The text names 0 and 0.1 alone; the others are ours, 1 being the far end."""

TRPO_METHODS = (
    *("mp-trpo", "mp-trpo-replace-worst", "div-trpo", "curiosity-trpo"),
    *("multi-trpo-independent", "multi-trpo", "trpo"),
)
PPO_METHODS = ("mp-ppo", "multi-ppo-independent", "multi-ppo", "ppo")
MAZE_METHODS = ("trpo", "multi-trpo", "mp-trpo")
"""Section 3.1, the motivating example."""
MAZE = "mppo/Maze-v0"
PENDULUM = "mppo/SparseDoublePendulum-v0"
COMPARED_TASKS = (
    *("Ant-v5", "Hopper-v5", "Swimmer-v5", "mppo/SparseCartPoleSwingup-v0", PENDULUM),
    *("mppo/SparseHalfCheetah-v0", "mppo/SparseHopper-v0", "mppo/SparseWalker2d-v0"),
)
EVALUATED_EVERY = {"Ant-v5": 50_000}
"""Steps between evaluations where they are not the paper's 10,000: ten episodes of the Ant cost
more than the training between them."""
TASKS = (MAZE, *COMPARED_TASKS)
"""All tasks, in the order of the paper; `mppo.envs.TASKS` describes them."""
Variant = tuple[str, dict[str, Any]]
USUAL = Readings()


def default_steps(env: str, method: str) -> int:
    """The budget of a run: the paper states that of the Maze, the others are our reading of it.

    >>> default_steps("Ant-v5", "mp-trpo"), default_steps("Ant-v5", "ppo")
    (5000000, 2000000)
    """
    from mppo.envs.tasks import task_of  # imports gymnasium: not for help

    task = task_of(env)
    return task.ppo_steps if isinstance(METHODS[method].optimiser, Ppo) else task.trpo_steps


def evaluation_of(env: str) -> Evaluation:
    """How the runs of a task are evaluated.

    >>> evaluation_of("Ant-v5").every, evaluation_of("Hopper-v5").every
    (50000, 10000)
    """
    return replace(GRID_EVALUATION, every=EVALUATED_EVERY.get(env, GRID_EVALUATION.every))


@dataclass(frozen=True)
class Artefact:
    """One table or figure: what it shows, and which runs it is made of."""

    id: str
    title: str
    tasks: tuple[str, ...] = ()
    variants: tuple[Variant, ...] = ()
    """Its methods, each with what is changed about it."""
    seeds: tuple[int, ...] = SEEDS
    measured: Literal["runs", "memory"] = "runs"
    """Whether it needs training runs, or `mppo bench --only memory`."""

    def runs(
        self,
        tasks: Sequence[str] | None = None,
        methods: Sequence[str] | None = None,
        seeds: Sequence[int] | None = None,
        steps: int | None = None,
        readings: Readings = USUAL,
    ) -> list[RunSpec]:
        """The runs it needs, or those of some tasks, methods and seeds; seed by seed.

        In this order an interrupted grid has all methods of its first seeds.
        """
        return [
            spec(
                *(method, env, seed, steps or default_steps(env, method)),
                readings.overrides(method) | overrides,
                readings.arguments(env),
                evaluation_of(env),
            )
            for seed in (self.seeds if seeds is None else seeds)
            for env in self.tasks
            if tasks is None or env in tasks
            for method, overrides in self.variants
            if methods is None or method in methods
        ]


def _named(*methods: str) -> tuple[Variant, ...]:
    return tuple((method, {}) for method in methods)


_VARYING_K = tuple((method, {"paths": k}) for method in ("mp-trpo", "mp-ppo") for k in PATHS)
_VARYING_ALPHA = tuple(("mp-trpo", {"picking.alpha": alpha}) for alpha in ALPHAS)
_MAZE, _MP_TRPO = _named(*MAZE_METHODS), _named("mp-trpo")
_TRPO, _PPO = _named(*TRPO_METHODS), _named(*PPO_METHODS)
_BESIDE_BASES = (*_VARYING_K, *_named("trpo", "ppo"))

ARTEFACTS = {
    artefact.id: artefact
    for artefact in (
        Artefact("figure-2", "Maze: return and entropy", (MAZE,), _MAZE),
        Artefact("figure-3", "Maze: where each method went", (MAZE,), _MAZE),
        Artefact("figure-4", "Maze: the course of picking, one seed", (MAZE,), _MP_TRPO, (0,)),
        Artefact("figure-5", "Varying K, beside TRPO and PPO", (PENDULUM,), _BESIDE_BASES),
        Artefact("figure-6", "Varying alpha", (PENDULUM,), _VARYING_ALPHA),
        Artefact("figure-7", "MP-TRPO, six baselines: curves", COMPARED_TASKS, _TRPO),
        Artefact("table-1", "MP-TRPO, six baselines: at the end", COMPARED_TASKS, _TRPO),
        Artefact("figure-8", "MP-PPO, three baselines: curves", COMPARED_TASKS, _PPO),
        Artefact("table-2", "MP-PPO, three baselines: at the end", COMPARED_TASKS, _PPO),
        Artefact("figure-9", "Maze: picked paths of six seeds", (MAZE,), _MP_TRPO),
        Artefact("table-memory-trpo", "Memory of TRPO and MP-TRPO by K", measured="memory"),
        Artefact("table-memory-ppo", "Memory of PPO and MP-PPO by K", measured="memory"),
    )
}


def known_name(name: str, known: Iterable[str] = ARTEFACTS) -> str:
    """The name of a table or figure, if it is among the known ones; else it is refused."""
    known = list(known)
    if name in known:
        return name
    if name in ARTEFACTS:
        kind = name.partition("-")[0]
        raise BadRequest(f'"{name}" is a {kind}: mppo paper {kind} {name} ...')
    hint = did_you_mean(name, known, f"There are: {', '.join(known)}")
    raise BadRequest(f'unknown table or figure "{name}"{hint}')


def task_named(name: str) -> str:
    """The id of a task, also by its name in the paper.

    >>> task_named("Ant"), task_named("sparsehopper"), task_named("Maze-v0")
    ('Ant-v5', 'mppo/SparseHopper-v0', 'mppo/Maze-v0')
    """
    short = {env.removeprefix("mppo/").rpartition("-")[0]: env for env in TASKS}
    for paper_name, env in short.items():
        if name.lower() in (env.lower(), env.lower().removeprefix("mppo/"), paper_name.lower()):
            return env
    hint = did_you_mean(name, [*short, *TASKS]) or f"; the tasks are {', '.join(short)}"
    raise BadRequest(f'unknown task "{name}"{hint} (any other environment: mppo sweep)')


def runs_by_artefact(
    artefacts: Sequence[Artefact],
    tasks: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
    steps: int | None = None,
    readings: Readings = USUAL,
) -> dict[str, list[RunSpec]]:
    """The runs that each of several artefacts needs, of the tasks and methods asked for.

    A task or method that none of them has is refused: it would silently give nothing.
    """
    envs = None if tasks is None else [task_named(task) for task in tasks]
    for method in methods or ():
        method_named(method)
    their_tasks = [env for artefact in artefacts for env in artefact.tasks]
    their_methods = [method for artefact in artefacts for method, _ in artefact.variants]
    for what, asked, theirs in (("task", envs, their_tasks), ("method", methods, their_methods)):
        for name in asked or ():
            if name not in theirs:
                ids = ", ".join(artefact.id for artefact in artefacts)
                others = ", ".join(dict.fromkeys(theirs)) or "none"
                raise BadRequest(f'{ids} has no runs of the {what} "{name}"; of {others}')
    return {a.id: a.runs(envs, methods, seeds, steps, readings) for a in artefacts}


def distinct_runs(runs: dict[str, list[RunSpec]]) -> list[RunSpec]:
    """All runs of several artefacts, each once; lower seeds first."""
    return sorted(distinct(chain(*runs.values())), key=lambda run: run.seed)
