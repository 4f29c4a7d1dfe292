"""Algorithm 1, nothing else. Line numbers are the paper's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from mppo.algorithm import rewards
from mppo.algorithm.estimates import (
    Exploring,
    Fitted,
    as_batch,
    bonus_state,
    finite,
    fit,
    gain_of,
    init_exploration,
    objective,
)
from mppo.algorithm.methods import Method
from mppo.algorithm.paths import (
    came_along,
    fresh_path,
    fresh_value,
    incentives,
    look,
    renewed,
    stepping,
    warmed_up,
)
from mppo.algorithm.performance import (
    Outcome,
    Unfinished,
    all_episodes,
    episodes,
    remember,
    summary,
)
from mppo.algorithm.policies import Architecture, Policy
from mppo.algorithm.population import Member, kept, member, put, share_filter, slot_for
from mppo.algorithm.schedules import at
from mppo.algorithm.surrogate import mean_entropy
from mppo.algorithm.types import PyTree, Trajectories
from mppo.machine.lazy import jax, jnp

Metrics = dict[str, Any]
Collect = Callable[[Policy, int, int], Trajectories]


class State(NamedTuple):
    """All that an iteration reads and writes."""

    population: Member  # K paths
    values: PyTree  # 1 or K value networks
    exploration: PyTree
    current: jax.Array  # the slot of the policy improved last
    iteration: jax.Array
    key: jax.Array  # of the run; an iteration derives its own from it
    shared: PyTree = ()  # what the paths remember together
    returns: PyTree = ()  # what is known of discounted returns, where rewards are scaled by them


def init(method: Method, architecture: Architecture, key: jax.Array) -> State:
    """K random policies, the value network(s), nothing known yet."""
    policy_key, value_key, exploration_key, run_key = jax.random.split(key, 4)

    def each(fresh: Callable, key: jax.Array, count: int) -> PyTree:
        number = lambda k: k % len(method.styles) if method.styles else ()
        one = lambda k: fresh(method, architecture, number(k), jax.random.fold_in(key, k))
        return jax.vmap(one)(jnp.arange(count))

    return State(
        each(fresh_path, policy_key, method.paths),
        each(fresh_value, value_key, method.value_networks),
        init_exploration(method, architecture, exploration_key),
        jnp.asarray(0, jnp.int32),
        jnp.asarray(0, jnp.int32),
        run_key,
        shared=method.sharing.init(architecture),
        returns=rewards.init() if method.reward_scaling == "returns" else (),
    )


def iterate(
    pick: Callable[[State], tuple[jax.Array, Policy]],
    collect: Collect,
    learn: Callable[[State, jax.Array, Trajectories], tuple[State, Metrics]],
    state: State,
) -> tuple[State, Metrics]:
    """One iteration of Algorithm 1."""
    i, policy = pick(state)  # lines 2-4
    trajectories = collect(policy, int(i), int(state.iteration))  # line 5
    return learn(state, i, trajectories)  # lines 6-12


def pick(method: Method, state: State) -> tuple[jax.Array, Policy]:
    """Lines 2-4: the path with the highest score, and its policy."""
    key = jax.random.fold_in(jax.random.fold_in(state.key, 0), state.iteration)
    i = method.picking.pick(state.population, state.iteration, key)
    return i, member(state.population.policy, i)


def report(method: Method, state: State) -> tuple[jax.Array, Policy]:
    """The path whose policy is evaluated and handed out."""
    key = jax.random.fold_in(jax.random.fold_in(state.key, 0), state.iteration)
    i = method.picking.report(state.population, state.iteration, key)
    return i, member(state.population.policy, i)


def learn(
    method: Method,
    architecture: Architecture,
    state: State,
    i: jax.Array,
    seen: Trajectories,
    unfinished: Unfinished = "drop",
    rates: dict[str, jax.Array] | None = None,
) -> tuple[State, Metrics]:
    """Lines 6-12: all that follows the rollout, as one pure function.

    An update that is not finite gives back the state as it was, and says so in `finite`.
    """
    method = at(method, rates)  # the schedules' values now, where there are some
    key = jax.random.fold_in(jax.random.fold_in(state.key, 1), state.iteration)
    value_key, policy_key, bonus_key = jax.random.split(key, 3)
    measured, path, outcome, counted = measure(  # line 6
        method, architecture, state, i, seen, unfinished
    )
    paid = incentives(method, architecture, bonus_state(method, measured), path, seen)
    fitted = fit(method, measured, i, seen, paid, value_key, key)  # lines 7-8
    batch = as_batch(method, architecture, path.policy, seen, fitted.raw, fitted.towards)
    extra = objective(method, architecture, state.shared, fitted.value, paid.bonus, key)
    policy, optimiser, step = stepping(method, path).update(  # line 9
        architecture, path.optimiser, path.policy, batch, extra, policy_key
    )
    gain = gain_of(method, architecture, policy, batch, paid, counted, fitted.unit)  # line 10
    entropy = mean_entropy(architecture, policy, batch.observations, method.entropy_index)
    performance = path.performance + gain
    improved = path._replace(
        policy=policy, optimiser=optimiser, performance=performance, entropy=entropy
    )
    new, stored = _next(  # lines 11-12
        method, architecture, state, measured, i, seen, path, improved, fitted, bonus_key
    )
    log = fitted.log | {"gain": gain, "advantage_mean": jnp.mean(batch.raw_advantages)}
    log |= {"advantage_std": jnp.std(batch.raw_advantages), **step, **stored}
    return new, metrics_of(method, new, i, outcome, log)


def measure_only(
    method: Method,
    architecture: Architecture,
    state: State,
    i: jax.Array,
    seen: Trajectories,
    unfinished: Unfinished = "drop",
) -> tuple[State, Metrics]:
    """Line 6 alone, for paths that are to be measured before anything is learnt."""
    state, _, outcome, _ = measure(method, architecture, state, i, seen, unfinished)
    state = state._replace(iteration=state.iteration + 1)
    zero = jnp.asarray(0.0)
    log = {"gain": zero, "kl": zero, "slot": i, "value_loss": zero, "finite": True}
    return state, metrics_of(method, state, i, outcome, log)


def measure(
    method: Method,
    architecture: Architecture,
    state: State,
    i: jax.Array,
    seen: Trajectories,
    unfinished: Unfinished,
) -> tuple[State, Member, Outcome, Outcome]:
    """Line 6: J_i from the episodes just seen, and path i with its filter brought up to date.

    Beside them, the episodes that ended, and those that J counts.
    """
    path = member(state.population, i)
    outcome = counted = episodes(seen, method.gamma)
    if unfinished != "drop":
        value = member(state.values, i % method.value_networks)
        beyond = method.critic.values(value, seen.next_observations)
        if method.reward_scaling == "returns":  # J is in the task's own unit
            beyond = beyond * rewards.deviation(state.returns)
        counted = all_episodes(seen, beyond, method.gamma, method.time_limit, unfinished)
    elif method.estimator.unit == "discounted":
        counted = episodes(seen, method.gamma, "discounted")
    record = remember(path.record, counted, state.iteration)
    population = state.population._replace(record=put(state.population.record, i, record))
    performance = method.estimator.estimate(population, i)
    population = population._replace(performance=population.performance.at[i].set(performance))
    state = state._replace(population=population)
    path = path._replace(record=record, performance=performance)
    if method.looks_back:
        path = path._replace(progress=came_along(path.progress, record, counted))
    # the filter moves with the improved policy: what stays in the buffer stays what it was
    observations = seen.observations.reshape(-1, architecture.observation_size)
    first = state.iteration == 0
    policy = look(method, path.policy, path.style, observations, first)
    if method.folds:
        population = state.population
        warm = warmed_up(method, population.policy.filter, population.style, observations, first)
        population = population._replace(policy=population.policy._replace(filter=warm))
        state = state._replace(population=population)
    return state, path._replace(policy=policy), outcome, counted


def _next(
    method: Method,
    architecture: Architecture,
    old: State,
    measured: State,
    i: jax.Array,
    seen: Trajectories,
    path: Member,
    improved: Member,
    fitted: Fitted,
    key: jax.Array,
) -> tuple[State, Metrics]:
    """Lines 11 and 12: the state with all that was learnt, or as before if that is not sound."""
    exploration, log = method.exploration.update(
        architecture,
        bonus_state(method, measured),
        path.policy,
        path.record.measured,
        seen,
        key,
    )
    exploration = Exploring(exploration, *fitted.learnt) if method.bonus_apart else exploration
    sound = finite((improved.policy.parameters, improved.optimiser, exploration))
    slot, v = slot_for(method.replacement, measured.population, i), i % method.value_networks
    new = State(
        _stored(method, old.population, measured.population, i, slot, improved, sound),
        put(old.values, v, kept(sound, fitted.value, member(old.values, v))),
        kept(sound, exploration, old.exploration),
        jnp.where(sound, slot, old.current),
        old.iteration + sound,
        old.key,
        shared=kept(sound, method.sharing.update(old.shared, seen, method.gamma), old.shared),
        returns=kept(sound, fitted.returns, old.returns),
    )
    if method.renews:
        new = _renewed(method, architecture, new, i, sound)
    return new, log | {"slot": slot, "finite": sound}


def _stored(
    method: Method,
    before: Member,
    measured: Member,
    i: jax.Array,
    slot: jax.Array,
    improved: Member,
    sound: jax.Array,
) -> Member:
    """Lines 11 and 12: the buffer with the improved path, or all as before if that is not sound."""
    # in its own place it overwrites all that line 6 wrote: XLA need not write that first
    population = before
    if method.folds:  # the first batch has moved the filters of all paths
        population = kept(sound, measured, before)
    elif method.replacement == "worst":
        population = put(before, i, kept(sound, member(measured, i), member(before, i)))
    population = put(population, slot, kept(sound, improved, member(before, slot)))
    return share_filter(population, slot) if method.observation_filter == "shared" else population


def _renewed(
    method: Method, architecture: Architecture, state: State, i: jax.Array, sound: jax.Array
) -> State:
    """The state with path i drawn anew if the picking rule gives it up; never if all was kept."""
    key = jax.random.fold_in(jax.random.fold_in(state.key, 2), state.iteration)
    fresh = renewed(method, architecture, state.population, i, key)
    gives_up = sound & method.picking.renews(state.population, i)  # type: ignore
    if method.value == "independent":
        key = jax.random.fold_in(key, 1)
        value = fresh_value(method, architecture, fresh.style[i], key)
        values = put(state.values, i, kept(gives_up, value, member(state.values, i)))
        state = state._replace(values=values)
    return state._replace(population=kept(gives_up, fresh, state.population))


def metrics_of(
    method: Method, state: State, i: jax.Array, outcome: Outcome, log: Metrics
) -> Metrics:
    n, mean, error = summary(outcome)
    population = state.population
    return {
        "picked": i,
        "episodes": n,
        "return_mean": jnp.where(n > 0, mean, jnp.nan),
        "return_error": jnp.where(n > 1, error, jnp.nan),
        "length_mean": jnp.where(n > 0, jnp.sum(outcome.lengths) / jnp.maximum(n, 1), jnp.nan),
        "performance": population.performance,
        "entropy": population.entropy,
        "picks": population.record.picks,
        **({"style": population.style} if method.styles else {}),
        **log,
    }
