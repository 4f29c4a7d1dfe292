"""Eq. (1) and what is measured of a policy on a batch: shared by both base optimisers."""

from __future__ import annotations

from typing import Literal

from mppo.algorithm.policies import Architecture, Policy
from mppo.algorithm.types import Batch
from mppo.machine.lazy import jax, jnp

Gain = Literal["literal", "centred", "return-units", "standardised", "none"]


def statistics(architecture: Architecture, policy: Policy, observations: jax.Array) -> jax.Array:
    """Statistics of the policy at a stack of observations."""
    return jax.vmap(architecture.statistics, in_axes=(None, 0))(policy, observations)


def log_probs(architecture: Architecture, stats: jax.Array, actions: jax.Array) -> jax.Array:
    """Log probabilities of a stack of actions."""
    return jax.vmap(architecture.head.log_prob)(stats, actions)


def ratios(architecture: Architecture, policy: Policy, batch: Batch) -> jax.Array:
    """pi_new(a|s) / pi_old(a|s), exactly 1 for an unchanged policy."""
    stats = statistics(architecture, policy, batch.observations)
    return jnp.exp(log_probs(architecture, stats, batch.actions) - batch.log_probs)


def mean_kl(architecture: Architecture, policy: Policy, batch: Batch) -> jax.Array:
    """KL(old || new), mean over the batch's states."""
    new = statistics(architecture, policy, batch.observations)
    return jnp.mean(jax.vmap(architecture.head.kl)(batch.statistics, new))


def mean_entropy(
    architecture: Architecture, policy: Policy, observations: jax.Array, tsallis: float = 1.0
) -> jax.Array:
    """H of the picking rule: mean over states of the action distribution's entropy."""
    stats = statistics(architecture, policy, observations)
    return jnp.mean(jax.vmap(lambda s: architecture.head.entropy(s, tsallis))(stats))


def performance_gain(
    gain: Gain, architecture: Architecture, policy: Policy, batch: Batch, mean_length: jax.Array
) -> jax.Array:
    """Line 10: what the step promises to add to J, in the reading chosen (decision 0006)."""
    if gain == "none":
        return jnp.asarray(0.0)
    ratio = ratios(architecture, policy, batch)
    if gain == "standardised":
        return jnp.mean(ratio * batch.advantages)
    if gain == "literal":
        return jnp.mean(ratio * batch.raw_advantages)
    centred = jnp.mean((ratio - 1) * batch.raw_advantages)
    return centred * mean_length if gain == "return-units" else centred
