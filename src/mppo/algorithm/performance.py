"""Line 6 of Algorithm 1: the performance J of the picked path, from its episodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from mppo.algorithm.advantages import TimeLimit, terminations
from mppo.algorithm.population import Member, Record, member
from mppo.algorithm.types import Trajectories
from mppo.machine.lazy import jax, jnp

Unit = Literal["undiscounted", "discounted"]
Unfinished = Literal["drop", "bootstrap", "window"]
"""What J makes of episodes that the batch cuts: nothing; their return so far plus V; the same,
but counted from the start of the batch (decision 0036)."""


class Outcome(NamedTuple):
    """The episodes of a batch that count."""

    returns: jax.Array  # [E * T], the return of the episode that ends here, else 0
    ended: jax.Array  # [E * T]
    lengths: jax.Array  # [E * T], its number of steps, else 0


def episodes(trajectories: Trajectories, gamma: float, unit: Unit = "undiscounted") -> Outcome:
    """Returns of the episodes that ended in the batch, at the step where they ended."""
    ended = trajectories.terminated | trajectories.truncated
    earlier = trajectories.earlier
    discount = gamma if unit == "discounted" else 1.0
    start = earlier.discounted if unit == "discounted" else earlier.total

    def step(carry, now):
        total, length = carry
        reward, end = now
        total = total + discount**length * reward
        length = length + 1
        going = ~end
        return (total * going, length * going), (total * end, length * end)

    columns = (trajectories.rewards.T, ended.T)
    _, (returns, lengths) = jax.lax.scan(step, (start, earlier.length), columns)
    return Outcome(returns.T.ravel(), ended.ravel(), lengths.T.ravel())


def all_episodes(
    trajectories: Trajectories,
    next_values: jax.Array,
    gamma: float,
    time_limit: TimeLimit,
    unfinished: Unfinished,
) -> Outcome:
    """Discounted returns of all episodes of the batch, with V where they go on beyond it.

    sum of gamma^t r_t + gamma^n V(s_n): what V stands for is what `estimate_advantages` makes of
    it, so an episode stopped by its time limit goes on in V unless that counts as its end.
    """
    terminal = terminations(trajectories, time_limit)
    stops = jnp.asarray(trajectories.terminated | trajectories.truncated).at[:, -1].set(True)
    beyond = jnp.where(stops & ~terminal, gamma * next_values, 0.0)
    whole = trajectories._replace(rewards=trajectories.rewards + beyond, truncated=stops)
    if unfinished == "window":
        whole = whole._replace(earlier=jax.tree.map(jnp.zeros_like, whole.earlier))
    return episodes(whole, gamma, "discounted")


def summary(outcome: Outcome) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Number of episodes, mean return and its standard error (0 below two episodes)."""
    n = jnp.sum(outcome.ended)
    mean = jnp.sum(outcome.returns) / jnp.maximum(n, 1)
    spread = jnp.sum(jnp.where(outcome.ended, (outcome.returns - mean) ** 2, 0.0))
    variance = spread / jnp.maximum(n - 1, 1)
    return n, mean, jnp.where(n > 1, jnp.sqrt(variance / jnp.maximum(n, 1)), 0.0)


def remember(record: Record, outcome: Outcome, iteration: jax.Array) -> Record:
    """The record after one more rollout; a batch without a finished episode keeps the old J."""
    n, mean, error = summary(outcome)
    memory = record.returns.shape[0]
    order = record.finished + jnp.cumsum(outcome.ended) - 1
    newest = outcome.ended & (order >= record.finished + n - memory)
    place = jnp.where(newest, order % max(memory, 1), memory)  # `memory` lies outside: dropped
    return Record(
        jnp.where(n > 0, mean, record.measured),
        n,
        jnp.where(n > 0, error, record.standard_error),
        record.picks + 1,
        iteration,
        record.returns.at[place].set(outcome.returns, mode="drop"),
        record.finished + n,
    )


@dataclass(frozen=True)
class BatchMean:
    """J is the mean return of the batch just collected (the words of Algorithm 1)."""

    unit: Unit = "undiscounted"
    """What a return is: the plain sum of rewards, or the discounted one."""
    memory = 0

    def estimate(self, population: Member, i: jax.Array) -> jax.Array:
        return member(population.record, i).measured


@dataclass(frozen=True)
class Window:
    """J is the mean over the path's last episodes, as the base code's episode buffer has it."""

    episodes: int = 40
    """How many episodes."""
    unit: Unit = "undiscounted"
    """What a return is: the plain sum of rewards, or the discounted one."""

    @property
    def memory(self) -> int:
        return self.episodes

    def estimate(self, population: Member, i: jax.Array) -> jax.Array:
        record = member(population.record, i)
        filled = jnp.arange(self.episodes) < record.finished
        total = jnp.sum(jnp.where(filled, record.returns, 0.0))
        return total / jnp.maximum(jnp.sum(filled), 1)


@dataclass(frozen=True)
class Shrunk:
    """The batch mean, drawn towards the mean of all paths by as much as it is noise.

    weight = T / (T + E) with T the variance of J between paths and E the squared standard error.
    A single episode has none of its own: it is taken to vary as those of all paths do, and where
    no path has two to compare, E counts as much as T.
    """

    unit: Unit = "undiscounted"
    """What a return is: the plain sum of rewards, or the discounted one."""
    memory = 0

    def estimate(self, population: Member, i: jax.Array) -> jax.Array:
        record = member(population.record, i)
        known = population.record.picks > 0
        values = population.performance.at[i].set(record.measured)
        n = jnp.maximum(jnp.sum(known), 1)
        mean = jnp.sum(jnp.where(known, values, 0.0)) / n
        between = jnp.sum(jnp.where(known, (values - mean) ** 2, 0.0)) / jnp.maximum(n - 1, 1)
        alone = (record.episodes < 2) & (record.standard_error == 0)
        pooled = _variance_of_episodes(population.record, between)
        noise = jnp.where(alone, pooled, record.standard_error**2)
        weight = jnp.where(noise > 0, between / jnp.where(noise > 0, between + noise, 1.0), 1.0)
        return mean + weight * (record.measured - mean)


def _variance_of_episodes(records: Record, unknown: jax.Array) -> jax.Array:
    """Variance of single returns within paths, pooled; `unknown` where no path has two of them."""
    spare = jnp.maximum(records.episodes - 1, 0)
    within = records.standard_error**2 * records.episodes
    total = jnp.sum(spare)
    return jnp.where(total > 0, jnp.sum(spare * within) / jnp.maximum(total, 1), unknown)
