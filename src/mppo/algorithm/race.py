"""The race at the start: many random policies play one stretch each, the best take the places.

Paths that begin apart differ by luck. The samples that would measure one random policy are spent on
as many as there are environments, each in one of them; a place of the buffer keeps the best of
those that were drawn for it. A winner's return was its luck as well, so it counts for nothing but
the order in which the places are tried: J is measured anew. The picking rule may ask for further
rounds later, in which what was learnt so far is at stake.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle, islice
from typing import Any

from mppo.algorithm.heads import Categorical
from mppo.algorithm.iteration import Metrics, State, metrics_of
from mppo.algorithm.methods import Method
from mppo.algorithm.paths import fresh_path, fresh_value, in_sight_of
from mppo.algorithm.performance import episodes
from mppo.algorithm.policies import Architecture
from mppo.algorithm.population import Member, kept, member, put
from mppo.algorithm.types import PyTree, Trajectories
from mppo.machine.lazy import jax, jnp

FIRST = 1  # the iteration in which it begins: one batch before, filters are warmed up


def rounds(method: Method, architecture: Architecture) -> int:
    """Iterations that the race takes; none where random policies choose all alike."""
    return 0 if isinstance(architecture.head, Categorical) or not _places(method) else method.race


def due(
    method: Method, architecture: Architecture, iteration: int, asked: Callable[[], Any]
) -> bool:
    """Whether an iteration is a round of the race; `asked` says so of those after the first."""
    first = rounds(method, architecture)
    return iteration >= FIRST and first > 0 and (iteration <= first or bool(asked()))


def again(method: Method, architecture: Architecture, state: State) -> jax.Array:
    """Whether the picking rule asks for a further round."""
    if not rounds(method, architecture) or not method.races_again:
        return jnp.asarray(False)
    return method.picking.races(state.population, state.iteration)  # type: ignore


def _places(method: Method) -> list[int]:
    """The paths that begin apart."""
    styles = islice(cycle(method.styles), method.paths)
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
    at_stake = state.population.progress.raced
    if method.races_again:
        later = method.picking.at_stake(state.population)  # type: ignore
        at_stake = jnp.where(state.iteration > method.race, later, at_stake)

    def challenge(known: tuple[Member, jax.Array], e: jax.Array) -> tuple[tuple, None]:
        population, at_stake = known
        k = _place(method, state, e, count)
        better = scores[e] > at_stake[k]
        runner = member(ran, e)
        won = {"raced": scores[e], "lowest": jnp.min(scores), "highest": scores[e]}
        runner = runner._replace(progress=runner.progress._replace(**won))
        population = put(population, k, kept(better, runner, member(population, k)))
        return (population, at_stake.at[k].max(scores[e])), None

    start = (state.population, at_stake)
    (population, after), _ = jax.lax.scan(challenge, start, jnp.arange(count))
    best = _place(method, state, jnp.argmax(scores), count)
    values = _values(method, architecture, state, after > at_stake)
    state = state._replace(population=population, values=values, iteration=state.iteration + 1)
    zero = jnp.asarray(0.0)
    log = {"gain": zero, "kl": zero, "slot": best, "value_loss": zero, "finite": True}
    return state, metrics_of(method, state, best, episodes(seen, method.gamma), log)


def _values(method: Method, architecture: Architecture, state: State, taken: jax.Array) -> PyTree:
    """The value networks; who took a place in a later round begins with one of its own."""
    if method.value != "independent" or not method.races_again:
        return state.values
    key = jax.random.fold_in(jax.random.fold_in(state.key, 5), state.iteration)
    style = state.population.style
    fresh = lambda k: fresh_value(method, architecture, style[k], jax.random.fold_in(key, k))
    begun = jax.vmap(fresh)(jnp.arange(method.paths))
    taken = taken & (state.iteration > method.race)
    return jax.vmap(kept)(taken, begun, state.values)


def _scores(seen: Trajectories) -> jax.Array:
    """Mean return of each environment's episodes [E]; one that goes on counts as it stands."""
    ended = jnp.asarray(seen.terminated) | jnp.asarray(seen.truncated)
    lives = jnp.maximum(jnp.sum(ended, axis=1), 1)
    return jnp.sum(jnp.asarray(seen.rewards), axis=1) / lives
