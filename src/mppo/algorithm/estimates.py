"""Lines 7 to 10 in parts: the fitted value, advantages of task and bonus, objective, gain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mppo.algorithm import filters, rewards
from mppo.algorithm.advantages import carries_signal, estimate_advantages, scale, without_ends
from mppo.algorithm.exploration.rnd import Rnd
from mppo.algorithm.methods import Method
from mppo.algorithm.paths import Incentives
from mppo.algorithm.performance import Outcome
from mppo.algorithm.policies import Architecture, Policy
from mppo.algorithm.population import kept, member
from mppo.algorithm.surrogate import log_probs, performance_gain, statistics
from mppo.algorithm.types import Batch, Bonus, PyTree, Trajectories
from mppo.machine.lazy import jax, jnp

if TYPE_CHECKING:
    from mppo.algorithm.iteration import State


class Exploring(NamedTuple):
    """The state of a bonus that has a value network of its own."""

    bonus: PyTree
    value: PyTree
    usual: PyTree = ()  # how far the task's advantages spread in batches with a signal, if recalled


class Fitted(NamedTuple):
    """What lines 7 and 8 give."""

    value: PyTree  # the value network of the path
    raw: jax.Array  # advantages of the task [E, T]
    towards: jax.Array  # those that the step follows: with the bonus, if that is apart
    learnt: tuple[PyTree, PyTree]  # the bonus's value network, and what is usual
    returns: PyTree  # what is known of discounted returns
    unit: Any  # the task's, of what was fitted
    log: dict[str, jax.Array]


def bonus_state(method: Method, state: State) -> PyTree:
    """That of the bonus itself, without a value network of its own."""
    return state.exploration.bonus if method.bonus_apart else state.exploration


def init_exploration(method: Method, architecture: Architecture, key: jax.Array) -> PyTree:
    bonus = method.exploration.init(architecture, key)
    if not method.bonus_apart:
        return bonus
    value = method.critic.init(jax.random.fold_in(key, 1), architecture.observation_size)
    return Exploring(bonus, value, jnp.asarray(0.0) if method.recalls else ())


def fit(
    method: Method,
    state: State,
    i: jax.Array,
    seen: Trajectories,
    paid: Incentives,
    value_key: jax.Array,
    key: jax.Array,
) -> Fitted:
    """Lines 7 and 8 for path i, with rewards as they are paid and scaled."""
    shaped, returns, unit = seen._replace(rewards=paid.rewards), state.returns, 1.0
    if method.reward_scaling == "returns":
        returns = rewards.update(returns, shaped, method.gamma)
        shaped, unit = rewards.scaled(returns, shaped), rewards.deviation(returns)
    value = member(state.values, i % method.value_networks)
    value, raw, log = fit_value(method, value, shaped, value_key)
    towards, learnt = raw, ((), ())
    if method.bonus_apart:
        known = (state.exploration.value, state.exploration.usual)
        towards, learnt = with_bonus(method, known, seen, paid, raw, key)
    return Fitted(value, raw, towards, learnt, returns, unit, log)


def fit_value(method: Method, value, seen: Trajectories, key: jax.Array):
    """Lines 7 and 8: the fitted value network, raw advantages [E, T] and numbers for the log."""
    critic = method.critic
    how = (method.gamma, method.gae_lambda, method.time_limit, critic.target)
    targets_of = lambda v: estimate_advantages(
        seen, critic.values(v, seen.observations), critic.values(v, seen.next_observations), *how
    )
    old = targets_of(value)
    observations = seen.observations.reshape(-1, seen.observations.shape[-1])
    looking = value._replace(filter=filters.update(value.filter, observations))
    fitted, loss = critic.fit(looking, observations, old.targets.ravel(), key)
    sound = finite(fitted)
    fitted = kept(sound, fitted, value)
    advantages = old if method.advantages_from == "old-value" else targets_of(fitted)
    unexplained = jnp.var(old.targets - critic.values(value, seen.observations))
    total = jnp.var(old.targets)
    explained = jnp.where(total > 1e-12, 1 - unexplained / jnp.maximum(total, 1e-12), 0.0)
    log = {"value_loss": loss, "explained_variance": explained, "value_refused": ~sound}
    return fitted, advantages.advantages, log


def objective(
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


def with_bonus(
    method: Method,
    known: tuple[PyTree, PyTree],
    seen: Trajectories,
    paid: Incentives,
    raw: jax.Array,
    key: jax.Array,
) -> tuple[jax.Array, tuple[PyTree, PyTree]]:
    """Advantages of task and bonus together, and what was learnt of the bonus's value.

    Both are standardised, so that the weight means the same on every task. In a batch without a
    signal of the task its advantages are what V remembers: they count by how far they spread
    against batches with a signal, if the style recalls them; else the bonus is followed alone. A
    path that gets no bonus leaves all that is known as it is.
    """
    extra = seen._replace(rewards=paid.extra)
    if isinstance(method.exploration, Rnd) and not method.exploration.episodic:
        extra = without_ends(extra)

    def learn_it(known):
        value, usual = known
        value, bonus, _ = fit_value(method, value, extra, jax.random.fold_in(key, 3))
        task, bonus = scale(raw, "standardised"), scale(bonus, "standardised")
        signal, alone = carries_signal(seen), bonus
        if method.recalls:
            spread = jnp.std(raw)
            mixed = jnp.where(usual > 0, 0.9 * usual + 0.1 * spread, spread)
            usual = jnp.where(signal & jnp.isfinite(spread), mixed, usual)  # else as it was
            told = (raw - jnp.mean(raw)) / jnp.maximum(jnp.maximum(usual, spread), 1e-8)
            recalled = paid.recalls * told + paid.weight * bonus
            alone = jnp.where((usual > 0) & (paid.recalls > 0), recalled, bonus)
        return jnp.where(signal, task + paid.weight * bonus, alone), (value, usual)

    return jax.lax.cond(paid.weight > 0, learn_it, lambda known: (raw, known), known)


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


def gain_of(
    method: Method,
    architecture: Architecture,
    policy: Policy,
    batch: Batch,
    paid: Incentives,
    counted: Outcome,
    unit: Any,
) -> jax.Array:
    """Line 10, in the task's own unit."""
    length = jnp.sum(counted.lengths) / jnp.maximum(jnp.sum(counted.ended), 1)
    gain = performance_gain(paid.gain, architecture, policy, batch, length)
    return gain * unit if method.reward_scaling == "returns" else gain


def finite(tree: PyTree) -> jax.Array:
    """Whether all numbers of a tree are."""
    return jnp.all(jnp.stack([jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(tree)]))
