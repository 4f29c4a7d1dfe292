"""Algorithm 1, nothing else. Line numbers are the paper's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from mppo.algorithm import filters, rewards
from mppo.algorithm.advantages import (
    carries_signal,
    estimate_advantages,
    scale,
    without_ends,
)
from mppo.algorithm.exploration.rnd import Rnd
from mppo.algorithm.methods import Method
from mppo.algorithm.paths import came_along, fresh_path, incentives, look, renewed, warmed_up
from mppo.algorithm.performance import (
    Outcome,
    Unfinished,
    all_episodes,
    episodes,
    remember,
    summary,
)
from mppo.algorithm.policies import Architecture, Policy
from mppo.algorithm.population import Member, member, put, slot_for
from mppo.algorithm.schedules import at
from mppo.algorithm.surrogate import log_probs, mean_entropy, performance_gain, statistics
from mppo.algorithm.types import Batch, Bonus, PyTree, Trajectories
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

    def path(k: jax.Array) -> Member:
        number = k % len(method.styles) if method.styles else ()
        return fresh_path(method, architecture, number, jax.random.fold_in(policy_key, k))

    value = lambda k: method.critic.init(
        jax.random.fold_in(value_key, k), architecture.observation_size
    )
    return State(
        jax.vmap(path)(jnp.arange(method.paths)),
        jax.vmap(value)(jnp.arange(method.value_networks)),
        _init_exploration(method, architecture, exploration_key),
        jnp.asarray(0, jnp.int32),
        jnp.asarray(0, jnp.int32),
        run_key,
        shared=method.sharing.init(architecture),
        returns=rewards.init() if method.reward_scaling == "returns" else (),
    )


class Exploring(NamedTuple):
    """The state of a bonus that has a value network of its own."""

    bonus: PyTree
    value: PyTree


def _init_exploration(method: Method, architecture: Architecture, key: jax.Array) -> PyTree:
    bonus = method.exploration.init(architecture, key)
    if not method.bonus_apart:
        return bonus
    value = method.critic.init(jax.random.fold_in(key, 1), architecture.observation_size)
    return Exploring(bonus, value)


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

    An update that is not finite gives back the state as it was, and says so in `finite`. `rates`
    are the values of the method's schedules now, where it has some.
    """
    method = at(method, rates)
    key = jax.random.fold_in(jax.random.fold_in(state.key, 1), state.iteration)
    value_key, policy_key, bonus_key = jax.random.split(key, 3)

    old = state
    state, path, outcome, counted = measure(  # line 6
        method, architecture, state, i, seen, unfinished
    )
    bonus_state = state.exploration.bonus if method.bonus_apart else state.exploration
    paid = incentives(method, architecture, bonus_state, path.style, seen)
    v, shaped = i % method.value_networks, seen._replace(rewards=paid.rewards)
    returns, unit = state.returns, 1.0
    if method.reward_scaling == "returns":
        returns = rewards.update(returns, shaped, method.gamma)
        shaped, unit = rewards.scaled(returns, shaped), rewards.deviation(returns)
    value, raw, log = fit_value(method, member(state.values, v), shaped, value_key)  # lines 7-8
    towards, bonus_value = raw, ()
    if method.bonus_apart:
        towards, bonus_value = _with_bonus(method, state.exploration.value, seen, paid, raw, key)
    batch = as_batch(method, architecture, path.policy, seen, raw, towards)
    policy, optimiser, step = method.optimiser.update(  # line 9
        architecture,
        path.optimiser,
        path.policy,
        batch,
        _objective(method, architecture, old.shared, value, paid.bonus, key),
        policy_key,
    )
    length = jnp.sum(counted.lengths) / jnp.maximum(jnp.sum(counted.ended), 1)
    gain = performance_gain(paid.gain, architecture, policy, batch, length)  # line 10
    gain = gain * unit if method.reward_scaling == "returns" else gain
    entropy = mean_entropy(architecture, policy, batch.observations, method.entropy_index)
    performance = path.performance + gain
    improved = path._replace(
        policy=policy, optimiser=optimiser, performance=performance, entropy=entropy
    )
    exploration, bonus_log = method.exploration.update(
        architecture, bonus_state, path.policy, path.record.measured, seen, bonus_key
    )
    exploration = Exploring(exploration, bonus_value) if method.bonus_apart else exploration
    sound = _finite((policy.parameters, optimiser, exploration))
    slot = slot_for(method.replacement, state.population, i)
    new = State(
        _stored(method, old.population, state.population, i, slot, improved, sound),  # lines 11-12
        put(old.values, v, _kept(sound, value, member(old.values, v))),
        _kept(sound, exploration, old.exploration),
        jnp.where(sound, slot, old.current),
        old.iteration + sound,
        old.key,
        shared=_kept(sound, method.sharing.update(old.shared, seen, method.gamma), old.shared),
        returns=_kept(sound, returns, old.returns),
    )
    if method.renews:
        new = _renewed(method, architecture, new, i, sound)
    log |= {"gain": gain, "slot": slot, "advantage_mean": jnp.mean(batch.raw_advantages)}
    log |= {"advantage_std": jnp.std(batch.raw_advantages), **step, **bonus_log, "finite": sound}
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
    population = state.population
    population = population._replace(record=put(population.record, i, record))
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


def fit_value(method: Method, value, seen: Trajectories, key: jax.Array):
    """Lines 7 and 8: the fitted value network, raw advantages [E, T] and numbers for the log."""
    critic = method.critic
    targets_of = lambda v: estimate_advantages(
        seen,
        critic.values(v, seen.observations),
        critic.values(v, seen.next_observations),
        method.gamma,
        method.gae_lambda,
        method.time_limit,
        critic.target,
    )
    old = targets_of(value)
    observations = seen.observations.reshape(-1, seen.observations.shape[-1])
    looking = value._replace(filter=filters.update(value.filter, observations))
    fitted, loss = critic.fit(looking, observations, old.targets.ravel(), key)
    sound = _finite(fitted)
    fitted = jax.tree.map(lambda new, before: jnp.where(sound, new, before), fitted, value)
    advantages = old if method.advantages_from == "old-value" else targets_of(fitted)
    unexplained = jnp.var(old.targets - critic.values(value, seen.observations))
    total = jnp.var(old.targets)
    explained = jnp.where(total > 1e-12, 1 - unexplained / jnp.maximum(total, 1e-12), 0.0)
    log = {"value_loss": loss, "explained_variance": explained, "value_refused": ~sound}
    return fitted, advantages.advantages, log


def _objective(
    method: Method, architecture: Architecture, shared: PyTree, value, bonus: Bonus, key: jax.Array
) -> Bonus:
    """What is added to the surrogate: the exploration's bonus and what paths share."""
    values = lambda observations: method.critic.values(value, observations)
    imitation = method.sharing.bonus(architecture, shared, values, jax.random.fold_in(key, 5))
    if imitation is None:
        return bonus
    return lambda policy, observations: (
        bonus(policy, observations) + imitation(policy, observations)
    )


def _with_bonus(method: Method, value, seen: Trajectories, paid, raw: jax.Array, key: jax.Array):
    """Advantages of task and bonus together, and the bonus's own value network, fitted.

    Both are standardised, so that the weight means the same on every task. A batch that carries no
    signal of the task is followed by the bonus alone: what is left there is noise of V. A path that
    gets no bonus leaves the bonus's network as it is.
    """
    extra = seen._replace(rewards=paid.extra)
    if isinstance(method.exploration, Rnd) and not method.exploration.episodic:
        extra = without_ends(extra)

    def learn_it(value):
        fitted, bonus, _ = fit_value(method, value, extra, jax.random.fold_in(key, 3))
        task, bonus = scale(raw, "standardised"), scale(bonus, "standardised")
        return jnp.where(carries_signal(seen), task + paid.weight * bonus, bonus), fitted

    return jax.lax.cond(paid.weight > 0, learn_it, lambda value: (raw, value), value)


def as_batch(
    method: Method,
    architecture: Architecture,
    policy: Policy,
    seen: Trajectories,
    raw: jax.Array,
    towards: jax.Array | None = None,
) -> Batch:
    """One flat stack of samples, with the distributions of the policy before its step.

    `towards` are the advantages that the step follows, where they are not the task's `raw` ones.
    """
    observations = seen.observations.reshape(-1, seen.observations.shape[-1])
    actions = seen.actions.reshape(-1, seen.actions.shape[-1])
    stats = statistics(architecture, policy, observations)
    return Batch(
        observations,
        actions,
        stats,
        log_probs(architecture, stats, actions),
        scale((raw if towards is None else towards).ravel(), method.advantage_scaling),
        raw.ravel(),
    )


def _finite(tree: PyTree) -> jax.Array:
    """Whether all numbers of a tree are."""
    return jnp.all(jnp.stack([jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(tree)]))


def _kept(sound: jax.Array, new: PyTree, old: PyTree) -> PyTree:
    """The new numbers if they are sound, else the old ones."""
    return jax.tree.map(lambda one, other: jnp.where(sound, one, other), new, old)


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
        population = _kept(sound, measured, before)
    elif method.replacement == "worst":
        population = put(before, i, _kept(sound, member(measured, i), member(before, i)))
    population = put(population, slot, _kept(sound, improved, member(before, slot)))
    return _share_filter(population, slot) if method.observation_filter == "shared" else population


def _renewed(
    method: Method, architecture: Architecture, state: State, i: jax.Array, sound: jax.Array
) -> State:
    """The state with path i drawn anew if the picking rule gives it up; never if all was kept."""
    key = jax.random.fold_in(jax.random.fold_in(state.key, 2), state.iteration)
    fresh = renewed(method, architecture, state.population, i, key)
    gives_up = sound & method.picking.renews(state.population, i)  # type: ignore
    return state._replace(population=_kept(gives_up, fresh, state.population))


def _share_filter(population: Member, i: jax.Array) -> Member:
    """All policies look through the filter of path i."""
    shared = jax.tree.map(
        lambda leaf: jnp.broadcast_to(leaf[i], leaf.shape), population.policy.filter
    )
    return population._replace(policy=population.policy._replace(filter=shared))


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
