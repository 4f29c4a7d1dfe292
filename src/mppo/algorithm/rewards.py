"""Rewards in units of the running deviation of discounted returns, as the peers normalise them.

J, what is logged and what is evaluated stay in the task's own unit: only advantages and the value
regression see scaled rewards. All paths share one unit, since they may share a value network.
"""

from __future__ import annotations

from mppo.algorithm import filters
from mppo.algorithm.filters import Filter
from mppo.algorithm.types import Trajectories
from mppo.machine.lazy import jax, jnp

SMALLEST_VARIANCE = 1e-8
LARGEST = 10.0  # deviations; scaled rewards are clipped to it


def init() -> Filter:
    """Nothing seen yet: a deviation of 1."""
    return filters.init(1)


def update(returns: Filter, seen: Trajectories, gamma: float) -> Filter:
    """Take in R_t = r_t + gamma R_(t-1) of all steps; a batch and an episode begin with R = 0."""
    ended = seen.terminated | seen.truncated

    def step(before, now):
        reward, end = now
        total = reward + gamma * before
        return jnp.where(end, 0.0, total), total

    zeros = jnp.zeros(seen.rewards.shape[0])
    _, totals = jax.lax.scan(step, zeros, (seen.rewards.T, ended.T))
    return filters.update(returns, totals.reshape(-1, 1))


def deviation(returns: Filter) -> jax.Array:
    """The unit of scaled rewards.

    >>> print(deviation(init()))
    1.0
    """
    return jnp.sqrt(returns.deviations[0] / returns.count + SMALLEST_VARIANCE)


def scaled(returns: Filter, seen: Trajectories) -> Trajectories:
    """The trajectories with rewards in that unit."""
    rewards = jnp.clip(seen.rewards / deviation(returns), -LARGEST, LARGEST)
    return seen._replace(rewards=rewards)
