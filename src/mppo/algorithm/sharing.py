"""Successes that all paths share: the picked path may learn from the best episodes of any.

Self-imitation (Oh et al. 2018) inside the trust region: to the objective of a step is added
weight * mean(w log pi(a|s)) over remembered steps, w = min((G - V(s))+ / scale, 1), where G is the
discounted return that followed and scale the largest of them. What the path already does as well
as that, by V, has no weight. Importance weights are not needed, since nothing is said of the value
of the path that made the episode.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from mppo.algorithm.policies import Architecture, Policy
from mppo.algorithm.surrogate import log_probs, statistics
from mppo.algorithm.types import Bonus, PyTree, Trajectories
from mppo.errors import check_ranges
from mppo.machine.lazy import jax, jnp


class Memory(NamedTuple):
    """Steps of the best episodes, the best first; unused rows have the score -inf."""

    observations: jax.Array  # [M, obs]
    actions: jax.Array  # [M, act]
    followed: jax.Array  # [M] discounted return from this step on
    scores: jax.Array  # [M] return of the whole episode


@dataclass(frozen=True)
class NoSharing:
    """Paths learn from their own samples alone."""

    def init(self, architecture: Architecture) -> tuple:
        return ()

    def bonus(self, architecture: Architecture, memory: PyTree, values, key: jax.Array) -> None:
        return None

    def update(self, memory: PyTree, seen: Trajectories, gamma: float) -> PyTree:
        return memory


@dataclass(frozen=True)
class Successes:
    """Self-imitation of the best episodes of all paths."""

    weight: float = 0.1
    """Weight of the imitation in the objective."""
    memory: int = 5000
    """Steps that are remembered."""
    samples: int = 500
    """Steps of them that one update looks at."""

    def __post_init__(self) -> None:
        check_ranges(self, weight=(0, inf), memory=(1, inf), samples=(1, inf))

    def init(self, architecture: Architecture) -> Memory:
        """Nothing is remembered yet."""
        n = self.memory
        return Memory(
            jnp.zeros((n, architecture.observation_size)),
            jnp.zeros((n, architecture.head.size)),
            jnp.zeros(n),
            jnp.full(n, -jnp.inf),
        )

    def bonus(self, architecture: Architecture, memory: Memory, values, key: jax.Array) -> Bonus:
        """The term of the objective; `values` gives V of a stack of observations."""
        rows = jax.random.randint(key, (self.samples,), 0, self.memory)
        chosen = jax.tree.map(lambda leaf: leaf[rows], memory)
        missing = jnp.where(jnp.isfinite(chosen.scores), chosen.followed, -jnp.inf)
        better = jnp.maximum(missing - values(chosen.observations), 0.0)
        top = jnp.max(jnp.where(jnp.isfinite(memory.scores), jnp.abs(memory.followed), 0.0))
        weights = jnp.minimum(better / jnp.maximum(top, 1e-8), 1.0)

        def term(policy: Policy, observations: jax.Array) -> jax.Array:
            stats = statistics(architecture, policy, chosen.observations)
            return self.weight * jnp.mean(weights * log_probs(architecture, stats, chosen.actions))

        return term

    def update(self, memory: Memory, seen: Trajectories, gamma: float) -> Memory:
        """The memory after a batch: the steps of the best episodes of both."""
        scores, followed = _returns(seen, gamma)
        flat = lambda x: jnp.asarray(x).reshape(-1, x.shape[-1])
        new = Memory(flat(seen.observations), flat(seen.actions), followed.ravel(), scores.ravel())
        both = jax.tree.map(lambda a, b: jnp.concatenate([a, b]), memory, new)
        best = jnp.argsort(-both.scores, stable=True)[: self.memory]
        return jax.tree.map(lambda leaf: leaf[best], both)


def _returns(seen: Trajectories, gamma: float) -> tuple[jax.Array, jax.Array]:
    """Of every step [E, T]: the return of its whole episode, and what follows, discounted.

    Episodes that the batch cuts, or that were paid nothing, have the score -inf.
    """
    rewards = jnp.asarray(seen.rewards)
    ended = jnp.asarray(seen.terminated) | jnp.asarray(seen.truncated)

    def back(carry, now):
        followed, total, whole = carry
        reward, end = now
        followed = reward + gamma * jnp.where(end, 0.0, followed)
        total, whole = reward + jnp.where(end, 0.0, total), end | whole
        return (followed, total, whole), (followed, total, whole)

    zeros = jnp.zeros(rewards.shape[0])
    start = (zeros, zeros, zeros > 0)
    _, (followed, later, whole) = jax.lax.scan(back, start, (rewards.T, ended.T), reverse=True)

    fresh = jnp.concatenate([jnp.ones_like(ended[:, :1]), ended[:, :-1]], axis=1)

    def forward(score, now):
        total, first = now
        score = jnp.where(first, total, score)
        return score, score

    # an episode that goes on from the batch before was paid there too
    later = later.at[0].add(jnp.asarray(seen.earlier.total))
    _, scores = jax.lax.scan(forward, zeros, (later, fresh.T))
    return jnp.where(whole & (scores != 0), scores, -jnp.inf).T, followed.T
