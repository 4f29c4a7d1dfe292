"""What its style makes of a path: its first policy, what it learns from, how its filter moves."""

from __future__ import annotations

from typing import Any, NamedTuple, get_args

from mppo.algorithm import filters
from mppo.algorithm.critic import Value
from mppo.algorithm.filters import Filter
from mppo.algorithm.methods import Method
from mppo.algorithm.performance import Outcome
from mppo.algorithm.policies import Architecture, Policy
from mppo.algorithm.population import Member, Progress, Record, fresh_record, kept, member, put
from mppo.algorithm.schedules import first, unchecked
from mppo.algorithm.styles import Sight, output_scales
from mppo.algorithm.surrogate import Gain, mean_entropy
from mppo.algorithm.types import Bonus, Optimiser, PyTree, Trajectories
from mppo.machine.lazy import jax, jnp

SIGHTS = get_args(Sight)


class Incentives(NamedTuple):
    """What a path learns from."""

    rewards: jax.Array  # [E, T] of the task, with a bonus in them where all paths get the same
    extra: jax.Array  # [E, T] bonus rewards apart from them, where paths differ; else zeros
    weight: jax.Array | float  # of the extra ones for this path
    bonus: Bonus  # added to the objective
    gain: Gain  # the reading of line 10
    recalls: jax.Array | float = 0.0  # weight of what V says in batches without a signal


def of_style(method: Method, field: str, number: PyTree) -> jax.Array:
    """A field of the style of that number; filters by their places in `SIGHTS`."""
    values = [getattr(one, field) for one in method.styles]
    if field == "filter":
        values = [SIGHTS.index(value) for value in values]
    return jnp.asarray(values)[number]


def random_policy(
    method: Method, architecture: Architecture, number: PyTree, key: jax.Array
) -> Policy:
    """A policy as the style of that number begins; without styles, as the paper's do."""
    if not method.styles:
        return architecture.init(key)
    scales = jnp.stack([output_scales(one, architecture.head) for one in method.styles])
    raw = of_style(method, "filter", number) == SIGHTS.index("none")
    turns = of_style(method, "filter", number) == SIGHTS.index("turning")
    log_std = jnp.log(of_style(method, "sigma", number))
    return architecture.init(key, scales[number][None], log_std, raw, turns)


def fresh_value(
    method: Method, architecture: Architecture, number: PyTree, key: jax.Array
) -> Value:
    """A value network for a path of the style of that number, or for all of them.

    It sees sines and cosines if the path does; one for all does if any path does.
    """
    turns: PyTree = ()
    if method.turns:
        one_for_all = jnp.asarray(method.value == "shared")
        turns = one_for_all | (of_style(method, "filter", number) == SIGHTS.index("turning"))
        turns = jnp.asarray(turns, jnp.float32)
    return method.critic.init(key, architecture.observation_size, turns)


def fresh_path(
    method: Method, architecture: Architecture, number: PyTree, key: jax.Array
) -> Member:
    """A path that was never rolled out, of the style of that number."""
    policy = random_policy(method, architecture, number, key)
    nowhere = jnp.zeros((1, architecture.observation_size))
    progress: PyTree = ()
    if method.looks_back:
        unknown, most = jnp.full(method.looks_back, jnp.nan), jnp.asarray(jnp.inf)
        curious = of_style(method, "bonus", number) > 0 if method.styles else jnp.asarray(False)
        progress = Progress(unknown, unknown, most, -most, curious, -most)
    return Member(
        policy,
        method.optimiser.init(policy.parameters),
        jnp.asarray(0.0),
        mean_entropy(architecture, policy, nowhere, method.entropy_index),
        fresh_record(method.estimator.memory),
        number,
        progress,
    )


def came_along(progress: Progress, record: Record, counted: Outcome) -> Progress:
    """The progress after one more batch; one without a finished episode tells nothing."""
    some = record.episodes > 0
    push = lambda old, new: jnp.where(some, jnp.append(old[1:], new), old)
    ended = counted.ended
    return progress._replace(
        means=push(progress.means, record.measured),
        errors=push(progress.errors, record.standard_error),
        lowest=jnp.minimum(progress.lowest, jnp.min(jnp.where(ended, counted.returns, jnp.inf))),
        highest=jnp.maximum(progress.highest, jnp.max(jnp.where(ended, counted.returns, -jnp.inf))),
    )


def renewed(
    method: Method, architecture: Architecture, population: Member, i: jax.Array, key: jax.Array
) -> Member:
    """The paths after path i, which the rule gives up, was drawn anew in the next plain style."""
    plain = [n for n, one in enumerate(method.styles) if not one.bonus]
    numbers = range(len(method.styles))
    after = [min((m for m in plain if m > n), default=plain[0]) for n in numbers]
    following = jnp.asarray(after)[population.style[i]]
    fresh = fresh_path(method, architecture, following, key)
    fresh = fresh._replace(policy=in_sight_of(method, fresh, member(population, i)))
    return put(population, i, fresh)


def in_sight_of(method: Method, fresh: Member, old: Member) -> Policy:
    """The policy of a fresh path; a folded filter of it has seen what its predecessor's saw."""
    if not method.folds:
        return fresh.policy
    folded = of_style(method, "filter", fresh.style) == SIGHTS.index("folded")
    known = folded & ~filters.is_raw(old.policy.filter)
    filter = kept(known, old.policy.filter, fresh.policy.filter)
    return fresh.policy._replace(filter=filter._replace(turns=fresh.policy.filter.turns))


def incentives(
    method: Method, architecture: Architecture, state: PyTree, path: Member, seen: Trajectories
) -> Incentives:
    """Rewards and bonus under a path's style.

    Advantages of shaped rewards are none of the task's return (decision 0006). Where paths differ
    in what they are paid for, the bonus is kept apart, so that V means the same for all of them.
    """
    shaped = method.exploration.reward(architecture, state, seen)
    bonus = method.exploration.bonus(architecture, state)
    if not method.bonus_apart:
        gain: Gain = method.gain if shaped is seen.rewards else "none"
        return Incentives(shaped, jnp.zeros(()), 0.0, bonus, gain)
    recalls: jax.Array | float = 0.0
    if method.styles:
        weight = of_style(method, "bonus", path.style)
        recalls = of_style(method, "recalls", path.style)
    else:
        weight = jnp.asarray(method.exploration.weight)  # type: ignore
    weighted: Bonus = lambda policy, observations: weight * bonus(policy, observations)
    extra = shaped - seen.rewards
    return Incentives(seen.rewards, extra, weight, weighted, method.gain, recalls)


def stepping(method: Method, path: Member) -> Optimiser:
    """The base optimiser, with the trust region of the path's style."""
    if all(one.reach == 1 for one in method.styles):
        return method.optimiser
    trust: Any = first(method.optimiser.max_kl)  # type: ignore
    return unchecked(method.optimiser, ["max_kl"], of_style(method, "reach", path.style) * trust)


def look(
    method: Method, policy: Policy, number: PyTree, observations: jax.Array, first: jax.Array
) -> Policy:
    """The policy with its filter brought up to date by a stack of observations [N, obs].

    A folded filter moves without changing the policy, but for the first batch of a run, which
    all such filters are warmed up on.
    """
    moved = filters.update(policy.filter, observations)
    if not method.styles:
        return policy._replace(filter=moved)
    sight = of_style(method, "filter", number)
    raw, fold = sight == SIGHTS.index("none"), (sight == SIGHTS.index("folded")) & ~first
    filter = kept(raw, policy.filter, moved)
    if not method.folds:
        return policy._replace(filter=filter)
    network = policy.parameters.network
    layer = kept(fold, filters.folded(network[0], policy.filter, moved), network[0])
    parameters = policy.parameters._replace(network=(layer, *network[1:]))
    return Policy(parameters, filter)


def warmed_up(method: Method, filter: Filter, styles: PyTree, batch: jax.Array, first: jax.Array):
    """All K folded filters after the first batch of a run: as if they had seen it."""
    common = filters.update(filters.init(batch.shape[-1]), batch)
    turns, filter = filter.turns, filter._replace(turns=())
    takes = first & (of_style(method, "filter", styles) == SIGHTS.index("folded"))
    warm = lambda leaf, one: jnp.where(takes.reshape(-1, *[1] * one.ndim), one[None], leaf)
    return jax.tree.map(warm, filter, common)._replace(turns=turns)
