"""Theorem 1, checked at every pick: a switch costs at most alpha / (1 - alpha) of J's spread."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mppo.algorithm.picking import Best, Weighted
from mppo.algorithm.population import Member
from mppo.machine.lazy import jax


class Check(NamedTuple):
    """The printed bound, and by how much it is kept."""

    bound: float  # J_j - J_i is at least this
    slack: float  # by how much more


class TheoremViolated(ArithmeticError):
    """The picking rule did what Theorem 1 excludes: a bug, never a property of a task."""


def check(rule, performance: np.ndarray, entropy: np.ndarray, i: int, j: int) -> Check | None:
    """Compare the pick j with the previous pick i, J and H being those the rule has seen.

    Exact form: J_j - J_i >= -alpha / (1 - alpha) * R * (H_j - H_i), H min-max normalised. It holds
    for any numbers, so a violation raises. The printed bound replaces H_j - H_i by 1. None where
    the theorem says nothing: another rule, or alpha = 1.

    >>> J, H = np.array([1.0, 0.95, 0.0]), np.array([0.0, 1.0, 0.5])
    >>> bound, slack = check(Weighted(0.1), J, H, i=0, j=1)
    >>> round(bound, 4), round(slack, 4)
    (-0.1111, 0.0611)
    """
    if not isinstance(rule, Weighted | Best) or rule.alpha >= 1:
        return None
    J, H = np.asarray(performance, np.float64), np.asarray(entropy, np.float64)
    spread = J.max() - J.min()
    if isinstance(rule, Weighted):
        spread = max(spread, rule.min_range)
    if spread <= 1e-8 * max(1.0, abs(J.max())):
        spread = 0.0  # the rule takes all J for equal
    factor = rule.alpha / (1 - rule.alpha)
    difference = float(J[j] - J[i])
    span = H.max() - H.min()
    more_entropy = (H[j] - H[i]) / span if span > 1e-8 * max(1.0, abs(H.max())) else 0.0
    exact = -factor * spread * more_entropy
    tolerance = 1e-6 * max(1.0, spread, np.abs(J).max()) / (1 - rule.alpha)
    if difference < exact - tolerance:
        raise TheoremViolated(
            f"Theorem 1 is violated: path {j} was picked after path {i} although J fell by "
            f"{-difference:.6g}, more than {-exact:.6g}; J = {J.tolist()}, H = {H.tolist()}"
        )
    bound = float(-factor * spread)
    return Check(bound, difference - bound)


def seen(rule, population: Member, before: int | None, picked: int) -> Check | None:
    """The check of a pick; None where a path was never measured, or nothing was picked before."""
    if before is None or not (np.asarray(population.record.picks) > 0).all():
        return None
    performance, entropy = jax.device_get((population.performance, population.entropy))
    return check(rule, performance, entropy, before, picked)


def row(found: Check | None) -> dict[str, float | None]:
    """The fields of metrics.jsonl."""
    bound, slack = (None, None) if found is None else found
    return {"theorem_bound": bound, "theorem_slack": slack}
