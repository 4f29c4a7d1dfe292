"""The race at the start: many random policies play one stretch each, the best take the places.

Paths that begin apart differ by luck. The samples that would measure one random policy are spent on
as many as there are environments, each in one of them; a place of the buffer keeps the best of
those that were drawn for it. A winner's return was its luck as well, so it counts for nothing but
the order in which the places are tried: J is measured anew.
"""

from __future__ import annotations

from mppo.algorithm.heads import Categorical
from mppo.algorithm.iteration import Metrics, State, metrics_of
from mppo.algorithm.methods import Method
from mppo.algorithm.paths import fresh_path, in_sight_of
from mppo.algorithm.performance import episodes
from mppo.algorithm.policies import Architecture
from mppo.algorithm.population import Member, member, put
from mppo.algorithm.types import Trajectories
from mppo.machine.lazy import jax, jnp

FIRST = 1  # the iteration in which it begins: one batch before, filters are warmed up


def rounds(method: Method, architecture: Architecture) -> int:
    """Iterations that the race takes; none where random policies choose all alike."""
    return 0 if isinstance(architecture.head, Categorical) or not _places(method) else method.race


def _places(method: Method) -> list[int]:
    """The paths that begin apart."""
    styles = [
        method.styles[k % len(method.styles)] for k in range(method.paths if method.styles else 0)
    ]
    return [k for k, style in enumerate(styles) if style.starts_apart and not style.bonus]


def runners(method: Method, architecture: Architecture, state: State, count: int) -> Member:
    """One random path for each of `count` environments, for the places in turn."""
    key = jax.random.fold_in(jax.random.fold_in(state.key, 4), state.iteration)

    def one(e: jax.Array) -> Member:
        holder = member(state.population, _place(method, state, e, count))
        path = fresh_path(method, architecture, holder.style, jax.random.fold_in(key, e))
        return path._replace(policy=in_sight_of(method, path, holder))

    return jax.vmap(one)(jnp.arange(count))


def _place(method: Method, state: State, e: jax.Array, count: int) -> jax.Array:
    places = jnp.asarray(_places(method))
    return places[((state.iteration - FIRST) * count + e) % len(places)]


def finish(
    method: Method, architecture: Architecture, state: State, ran: Member, seen: Trajectories
) -> tuple[State, Metrics]:
    """The buffer after a round: who did better than the holder of a place takes it."""
    count = jnp.asarray(seen.rewards).shape[0]
    scores = _scores(seen)

    def challenge(population: Member, e: jax.Array) -> tuple[Member, None]:
        k = _place(method, state, e, count)
        better = scores[e] > population.progress.raced[k]
        runner = member(ran, e)
        runner = runner._replace(
            progress=runner.progress._replace(
                raced=scores[e], lowest=jnp.min(scores), highest=scores[e]
            )
        )
        holder = member(population, k)
        kept = jax.tree.map(lambda a, b: jnp.where(better, a, b), runner, holder)
        return put(population, k, kept), None

    population, _ = jax.lax.scan(challenge, state.population, jnp.arange(count))
    best = _place(method, state, jnp.argmax(scores), count)
    state = state._replace(population=population, iteration=state.iteration + 1)
    zero = jnp.asarray(0.0)
    log = {"gain": zero, "kl": zero, "slot": best, "value_loss": zero, "finite": True}
    return state, metrics_of(method, state, best, episodes(seen, method.gamma), log)


def _scores(seen: Trajectories) -> jax.Array:
    """Mean return of each environment's episodes [E]; one that goes on counts as it stands."""
    ended = jnp.asarray(seen.terminated) | jnp.asarray(seen.truncated)
    lives = jnp.maximum(jnp.sum(ended, axis=1), 1)
    return jnp.sum(jnp.asarray(seen.rewards), axis=1) / lives
