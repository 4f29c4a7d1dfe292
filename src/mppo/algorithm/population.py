"""The policy buffer: K paths as one tree with a leading axis K on every leaf."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeVar

from mppo.algorithm.policies import Policy
from mppo.algorithm.types import PyTree
from mppo.machine.lazy import jax, jnp

Tree = TypeVar("Tree")
Replacement = Literal["self", "worst"]


class Record(NamedTuple):
    """What is known of a path beyond J and H."""

    measured: jax.Array  # mean return of its last batch, before the gain
    episodes: jax.Array  # that counted in that batch
    standard_error: jax.Array  # of `measured`
    picks: jax.Array  # how often it was rolled out
    last_pick: jax.Array  # iteration of the last time, -1 for never
    returns: jax.Array  # [memory] ring of its last episodes' returns
    finished: jax.Array  # episodes that counted in all


class Progress(NamedTuple):
    """How a path came along, for rules that look back."""

    means: jax.Array  # [m] mean returns of its last batches, the newest last; NaN before
    errors: jax.Array  # [m] their standard errors
    lowest: jax.Array  # return of any of its episodes
    highest: jax.Array
    curious: jax.Array  # whether it learns from a bonus too
    raced: jax.Array  # return with which it won its place; -inf without a race


class Member(NamedTuple):
    """One path of the policy buffer: a policy and what is known of it."""

    policy: Policy
    optimiser: PyTree  # the base optimiser's own state
    performance: jax.Array  # J_k
    entropy: jax.Array  # H_k
    record: Record
    style: PyTree = ()  # its number among the method's styles, where there are any
    progress: PyTree = ()  # a Progress, for rules that look back


def fresh_record(memory: int) -> Record:
    """The record of a path that was never rolled out."""
    zero, count = jnp.asarray(0.0), jnp.asarray(0)
    return Record(zero, count, zero, count, jnp.asarray(-1), jnp.zeros(memory), count)


def member(population: Tree, i: jax.Array) -> Tree:
    """Element i of a stack."""
    return jax.tree.map(lambda leaf: leaf[i], population)


def put(population: Tree, i: jax.Array, element: Tree) -> Tree:
    """The stack with element i replaced as a whole; all others keep their bits."""
    return jax.tree.map(lambda leaf, new: leaf.at[i].set(new), population, element)


def kept(sound: jax.Array, new: Tree, old: Tree) -> Tree:
    """The new numbers if they are sound, else the old ones."""
    return jax.tree.map(lambda one, other: jnp.where(sound, one, other), new, old)


def slot_for(replacement: Replacement, population: Member, i: jax.Array) -> jax.Array:
    """Where the improved version of path i goes: its own place, or the worst known path's."""
    if replacement == "self":
        return i
    known = population.record.picks > 0  # a path never rolled out has no J to be worst by
    return jnp.argmin(jnp.where(known, population.performance, jnp.inf)).astype(i.dtype)


def share_filter(population: Member, i: jax.Array) -> Member:
    """All policies look through the filter of path i."""
    policy = population.policy
    shared = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf[i], leaf.shape), policy.filter)
    return population._replace(policy=policy._replace(filter=shared))
