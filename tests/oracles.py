"""Slow and plain: what the fast numerics are compared with, in float64 loops."""

from __future__ import annotations

import jax
import numpy as np


def gae(trajectories, values, next_values, gamma, gae_lambda, time_limit="bootstrap"):
    """A_t as the double sum over all later steps of the same episode, each term by itself."""
    rewards = np.asarray(trajectories.rewards, np.float64)
    values, next_values = np.asarray(values, np.float64), np.asarray(next_values, np.float64)
    terminated, truncated = np.asarray(trajectories.terminated), np.asarray(trajectories.truncated)
    envs, steps = rewards.shape
    advantages, one_step = np.zeros((envs, steps)), np.zeros((envs, steps))
    for e in range(envs):
        for t in range(steps):
            final = terminated[e, t] or (time_limit == "terminal" and truncated[e, t])
            one_step[e, t] = rewards[e, t] + (0.0 if final else gamma * next_values[e, t])
        for t in range(steps):
            for later in range(t, steps):
                delta = one_step[e, later] - values[e, later]
                advantages[e, t] += (gamma * gae_lambda) ** (later - t) * delta
                if terminated[e, later] or truncated[e, later]:
                    break
    return advantages, one_step


def finished_episodes(trajectories, gamma=1.0):
    """(return, length) of every episode that ends in the batch, environment by environment."""
    found = []
    for e in range(trajectories.rewards.shape[0]):
        total = float((trajectories.earlier.total if gamma == 1 else trajectories.earlier[1])[e])
        length = int(trajectories.earlier.length[e])
        for t in range(trajectories.rewards.shape[1]):
            total += gamma**length * float(trajectories.rewards[e, t])
            length += 1
            if trajectories.terminated[e, t] or trajectories.truncated[e, t]:
                found.append((total, length))
                total, length = 0.0, 0
    return found


def all_episodes(trajectories, next_values, gamma, time_limit="bootstrap", window=False):
    """Discounted return of every episode of the batch, those without an end going on with V."""
    found = []
    envs, steps = trajectories.rewards.shape
    for e in range(envs):
        total = 0.0 if window else float(trajectories.earlier.discounted[e])
        length = 0 if window else int(trajectories.earlier.length[e])
        for t in range(steps):
            total += gamma**length * float(trajectories.rewards[e, t])
            length += 1
            terminated, truncated = trajectories.terminated[e, t], trajectories.truncated[e, t]
            if terminated or truncated or t == steps - 1:
                final = terminated or (truncated and time_limit == "terminal")
                found.append(total + (0.0 if final else gamma**length * float(next_values[e, t])))
                total, length = 0.0, 0
    return found


def host(tree):
    """The leaves of a tree as NumPy arrays, random keys as their numbers."""
    is_key = lambda leaf: (
        hasattr(leaf, "dtype") and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)
    )
    leaves = [jax.random.key_data(x) if is_key(x) else x for x in jax.tree.leaves(tree)]
    return [np.array(leaf) for leaf in leaves]


def assert_same_bits(left, right, what=""):
    """Every leaf of two trees is equal to the last bit."""
    left, right = host(left), host(right)
    assert len(left) == len(right)
    for n, (one, other) in enumerate(zip(left, right, strict=True)):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), (what, n)
        assert one.tobytes() == other.tobytes(), (what, n, one, other)


def same_bits(left, right) -> bool:
    """Whether every leaf of two trees is equal to the last bit."""
    pairs = zip(host(left), host(right), strict=True)
    return all(one.tobytes() == other.tobytes() for one, other in pairs)


def all_finite(tree) -> bool:
    """Whether every number of a tree is finite."""
    return all(np.isfinite(x).all() for x in host(tree) if x.dtype.kind == "f")
