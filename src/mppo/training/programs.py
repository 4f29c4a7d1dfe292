"""What XLA compiles of an iteration: `jit` is applied here.

`mppo.acting.actor` applies it as well, to networks that are not ours; what Numba compiles is
`native`.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, NamedTuple

from mppo.algorithm import iteration, race
from mppo.algorithm.methods import Method
from mppo.algorithm.performance import Unfinished
from mppo.algorithm.policies import Architecture
from mppo.machine.caching import compiled
from mppo.machine.lazy import jax, warn_about_threads


class Programs(NamedTuple):
    """What one method on one architecture compiles to."""

    init: Any  # key -> State
    pick: Any  # State -> index, Policy
    report: Any  # State -> index, Policy
    learn: Any  # State, index, Trajectories -> State, metrics; consumes the old state
    measure_only: Any
    races: Any  # State -> whether the rule asks for a further round of the race
    runners: Any  # State, number of environments -> as many random paths, for the race
    finish: Any  # State, these paths, Trajectories -> State, metrics; consumes the old state


def programs(
    method: Method, architecture: Architecture, unfinished: Unfinished = "drop"
) -> Programs:
    """Compiled at first call of each, kept for further runs in this process and on disk."""
    return _programs(method, architecture, unfinished)


@lru_cache(maxsize=64)
def _programs(method: Method, architecture: Architecture, unfinished: Unfinished) -> Programs:
    learning = {"unfinished": unfinished}
    warn_about_threads()
    keep_compiled()
    return Programs(
        jax.jit(partial(iteration.init, method, architecture)),
        jax.jit(partial(iteration.pick, method)),
        jax.jit(partial(iteration.report, method)),
        jax.jit(partial(iteration.learn, method, architecture, **learning), donate_argnums=0),
        jax.jit(
            partial(iteration.measure_only, method, architecture, **learning), donate_argnums=0
        ),
        jax.jit(partial(race.again, method, architecture)),
        jax.jit(partial(race.runners, method, architecture), static_argnums=1),
        jax.jit(partial(race.finish, method, architecture), donate_argnums=0),
    )


def keep_compiled() -> None:
    """Let XLA keep compiled programs in the user's cache, unless told otherwise."""
    folder = compiled("xla")
    if folder is None or jax.config.jax_compilation_cache_dir:  # type: ignore
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
