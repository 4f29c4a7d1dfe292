"""Where the time of an iteration goes: python benchmarks/profile_iteration.py --out docs/profile.md

One process on one core trains; every part is timed from outside, and each row is the median over
iterations. The update's own parts are one compiled program and cannot be timed inside it, so the
two large ones are compiled and timed by themselves, on the last batch.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, cast
from unittest import mock

FAST = " --fast"
CASES = (
    *(("trpo", "Hopper-v5"), ("ppo", "Hopper-v5"), ("mp-trpo", "mppo/Maze-v0")),
    *((f"trpo{FAST}", f"{robot}-v5") for robot in ("Hopper", "Reacher", "InvertedPendulum")),
)
WARM_UP = 3


class Clock:
    """Seconds of each call, by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        import jax

        def timed(*arguments: Any) -> Any:
            started = time.perf_counter()
            found = jax.block_until_ready(function(*arguments))
            self.seconds.setdefault(name, []).append(time.perf_counter() - started)
            return found

        return timed

    def milliseconds(self, name: str) -> float:
        return 1000 * median(self.seconds[name][WARM_UP:])


def profile(method_name: str, env: str, iterations: int) -> list[tuple[str, float]]:
    """Parts of an iteration, in milliseconds."""
    from mppo.bench.replay import Replay
    from mppo.envs.source import env_source
    from mppo.files.evaluation import Evaluation
    from mppo.files.settings import method_named, overridden
    from mppo.files.tuned import fast_settings
    from mppo.rollouts.collector import Collector
    from mppo.training.run import Run

    method, clock = method_named(method_name.removesuffix(FAST)), Clock()
    if method_name.endswith(FAST):
        method = overridden(method, fast_settings(method))
    steps = method.batch_size * (WARM_UP + iterations)
    run = Run(method, env_source(env), steps, 0, Evaluation(0, 0, 0), 1)
    collect = mock.patch.object(Collector, "__call__", clock.around("collect", Collector.__call__))
    learn = clock.around("learn", run.programs.learn)
    run.programs = run.programs._replace(learn=learn)
    iterate, bare = clock.around("iteration", run.iterate), []
    replay = Replay(env, 0) if env.endswith("-v5") else None
    for n in range(WARM_UP + iterations):
        with collect:
            iterate()
        if replay is not None and n >= WARM_UP:
            bare.append(replay.seconds(replay.episodes(n, cast(Any, run.trajectories))))
    total, rollout, update = map(clock.milliseconds, ("iteration", "collect", "learn"))
    rows = [("iteration", total), ("collecting", rollout)]
    rows += [("of which bare physics", 1000 * median(bare))] if bare else []
    rows.append(("update", update))
    rows += [(f"of which {name}", ms) for name, ms in _parts(method, run).items()]
    return [*rows, ("the rest (picking, rows, actor)", total - rollout - update)]


def _parts(method: Any, run: Any) -> dict[str, float]:
    """The large parts of the update by themselves."""
    import jax
    import jax.numpy as jnp

    from mppo.algorithm.optimisers.fisher import fisher_product
    from mppo.algorithm.optimisers.trpo import Trpo, conjugate_gradient
    from mppo.algorithm.population import member

    architecture, seen = run.architecture, run.trajectories
    observations = jnp.asarray(seen.observations.reshape(-1, architecture.observation_size))
    path = member(run.state.population, jnp.asarray(0))
    parts: dict[str, float] = {}
    optimiser = method.optimiser
    if isinstance(optimiser, Trpo):
        flat, _ = jax.flatten_util.ravel_pytree(path.policy.parameters)  # type: ignore

        def solve(policy: Any, observations: Any, b: Any) -> Any:
            some = observations[:: optimiser.fisher_stride]
            product = fisher_product(architecture, policy, some)
            damped = lambda v: product(v) + optimiser.damping * v
            return conjugate_gradient(damped, b, optimiser.cg_iterations)

        b = jnp.cos(jnp.arange(flat.size, dtype=jnp.float32))
        parts["conjugate gradient"] = _best(jax.jit(solve), path.policy, observations, b)
    value, targets = member(run.state.values, jnp.asarray(0)), jnp.asarray(seen.rewards.ravel())
    fit = jax.jit(method.critic.fit)
    parts["value fit"] = _best(fit, value, observations, targets, jax.random.key(0))
    return parts


def _best(function: Callable[..., Any], *arguments: Any) -> float:
    import jax

    jax.block_until_ready(function(*arguments))
    times = []
    for _ in range(15):
        started = time.perf_counter()
        jax.block_until_ready(function(*arguments))
        times.append(time.perf_counter() - started)
    return 1000 * median(times)


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="a Markdown file (standard output)")
    parser.add_argument("--iterations", type=int, default=20)
    options = parser.parse_args()
    from mppo.machine.threads import use_one

    use_one()
    from mppo.report.document import markdown_table

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    lines = [
        "# Where the time of an iteration goes",
        "",
        "Written by `python benchmarks/profile_iteration.py --out docs/profile.md`; do not edit. "
        f"One core, milliseconds, median of {options.iterations} iterations. The parts of the "
        "update are timed by themselves, on the same batch.",
    ]
    for method, env in CASES:
        parts = profile(method, env, options.iterations)
        rows = [[name, f"{ms:.1f}", f"{ms / parts[0][1]:.0%}"] for name, ms in parts]
        table = markdown_table(["part", "ms", "share"], rows)
        lines += ["", f"## {method} on {env}", "", *table]
    text = "\n".join(lines) + "\n"
    if options.out is None:
        print(text, end="")
    else:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
