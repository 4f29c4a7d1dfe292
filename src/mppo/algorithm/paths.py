"""What its style makes of a path: its first policy, what it learns from, how its filter moves."""

from __future__ import annotations

from typing import NamedTuple, get_args

from mppo.algorithm import filters
from mppo.algorithm.filters import Filter
from mppo.algorithm.methods import Method
from mppo.algorithm.policies import Architecture, Policy
from mppo.algorithm.styles import Sight, output_scales
from mppo.algorithm.surrogate import Gain
from mppo.algorithm.types import Bonus, PyTree, Trajectories
from mppo.machine.lazy import jax, jnp

SIGHTS = get_args(Sight)


class Incentives(NamedTuple):
    """What a path learns from."""

    rewards: jax.Array  # [E, T]
    bonus: Bonus  # added to the objective
    gain: Gain  # the reading of line 10
    of_the_task: jax.Array | float  # 1 where advantages are those of the task's return, else 0


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
    log_std = jnp.log(of_style(method, "sigma", number))
    return architecture.init(key, scales[number], log_std, raw)


def incentives(
    method: Method, architecture: Architecture, state: PyTree, number: PyTree, seen: Trajectories
) -> Incentives:
    """Rewards and bonus under a path's style.

    Advantages of shaped rewards are none of the task's return (decision 0006).
    """
    rewards = method.exploration.reward(architecture, state, seen)
    bonus = method.exploration.bonus(architecture, state)
    if rewards is seen.rewards:
        gain: Gain = method.gain
    else:
        gain = "none" if not method.styles else method.gain
    if not method.styles:
        return Incentives(rewards, bonus, gain, 1.0)
    weight = of_style(method, "bonus", number)
    shaped = seen.rewards + weight * (rewards - seen.rewards)
    weighted: Bonus = lambda policy, observations: weight * bonus(policy, observations)
    return Incentives(shaped, weighted, gain, jnp.where(weight > 0, 0.0, 1.0))


def look(
    method: Method,
    policy: Policy,
    number: PyTree,
    observations: jax.Array,
    first: jax.Array,
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
    kept = _choose(raw, policy.filter, moved)
    if not method.folds:
        return policy._replace(filter=kept)
    network = policy.parameters.network
    layer = _choose(fold, filters.folded(network[0], policy.filter, moved), network[0])
    parameters = policy.parameters._replace(network=(layer, *network[1:]))
    return Policy(parameters, kept)


def warmed_up(method: Method, filter: Filter, styles: PyTree, batch: jax.Array, first: jax.Array):
    """All K folded filters after the first batch of a run: as if they had seen it."""
    common = filters.update(filters.init(batch.shape[-1]), batch)
    takes = first & (of_style(method, "filter", styles) == SIGHTS.index("folded"))
    return jax.tree.map(
        lambda leaf, one: jnp.where(takes.reshape(-1, *[1] * one.ndim), one[None], leaf),
        filter,
        common,
    )


def _choose(condition: jax.Array, one: PyTree, other: PyTree) -> PyTree:
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), one, other)
