"""Trust region policy optimisation: conjugate gradient, Fisher products, line search (Eq. 6)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from mppo.algorithm.optimisers.fisher import Product, fisher_product
from mppo.algorithm.policies import Architecture, Policy
from mppo.algorithm.schedules import Rate, first, is_zero, settle
from mppo.algorithm.surrogate import log_probs, statistics
from mppo.algorithm.types import Batch, Bonus
from mppo.errors import check_ranges
from mppo.machine.lazy import flatten_util, jax, jnp

SMALLEST_RESIDUAL = 1e-10  # squared; below it the system counts as solved
ZERO_GRADIENT = 1e-8  # no entry larger: there is nothing to follow


class Solution(NamedTuple):
    """What the conjugate gradient found."""

    x: jax.Array
    left: jax.Array  # b - A x
    residual: jax.Array  # its squared length
    iterations: jax.Array


class Search(NamedTuple):
    """Where the line search stands."""

    tries: jax.Array
    theta: jax.Array
    accepted: jax.Array
    kl: jax.Array
    objective: jax.Array


@dataclass(frozen=True)
class Trpo:
    """Trust region policy optimisation with the settings of the paper's appendix."""

    max_kl: Rate = 0.01
    """Trust region: largest mean KL divergence of a step (delta)."""
    cg_iterations: int = 20
    """Conjugate gradient steps at most."""
    damping: float = 0.1
    """Added to the diagonal of the Fisher matrix."""
    shrink: float = 0.5
    """The line search tries steps of shrink^j."""
    backtracks: int = 10
    """Steps that the line search tries at most."""
    kl_slack: float = 1.5
    """A step is accepted up to max_kl times this, as in the base code (Eq. 2 would be 1)."""
    fisher_stride: int = 1
    """Fisher products on every n-th time step (the base code: 5); 1 is the whole batch."""
    entropy_coefficient: Rate = 0.0
    """Weight of the entropy in the objective."""

    def __post_init__(self) -> None:
        check_ranges(self, cg_iterations=(1, inf), damping=(0, inf), shrink=(1e-3, 0.999))
        check_ranges(self, backtracks=(1, inf), kl_slack=(1e-12, inf), fisher_stride=(1, inf))
        settle(self, max_kl=(1e-12, inf), entropy_coefficient=(-inf, inf))

    def init(self, parameters) -> tuple:
        """TRPO keeps nothing between updates."""
        return ()

    def update(
        self,
        architecture: Architecture,
        state: tuple,
        policy: Policy,
        batch: Batch,
        bonus: Bonus,
        key: jax.Array,
    ) -> tuple[Policy, tuple, dict[str, jax.Array]]:
        """theta + shrink^j sqrt(2 delta / x'Hx) x with x = H^-1 g and the first j that fits."""
        theta, unravel = flatten_util.ravel_pytree(policy.parameters)
        as_policy = lambda t: Policy(unravel(t), policy.filter)
        measure = lambda t: self._measure(architecture, as_policy(t), batch, bonus)

        (before, _), g = jax.value_and_grad(measure, has_aux=True)(theta)
        fisher = fisher_product(architecture, policy, batch.observations[:: self.fisher_stride])
        hessian = lambda v: fisher(v) + self.damping * v
        solution = conjugate_gradient(hessian, g, self.cg_iterations)
        curvature = solution.x @ (g - solution.left)  # what is left of g is g - Hx
        usable = (curvature > 0) & jnp.isfinite(curvature) & (jnp.max(jnp.abs(g)) > ZERO_GRADIENT)
        length = jnp.sqrt(2 * first(self.max_kl) / jnp.where(usable, curvature, 1.0))
        full = jnp.where(usable, length * solution.x, 0.0)

        found = self._line_search(measure, theta, full, before, usable)
        improved = as_policy(jnp.where(found.accepted, found.theta, theta))
        log = {
            "kl": jnp.where(found.accepted, found.kl, 0.0),
            "surrogate_gain": jnp.where(found.accepted, found.objective - before, 0.0),
            "line_search_success": found.accepted,
            "line_search_steps": found.tries,
            "step_refused": ~usable | ~found.accepted,
            "cg_residual": solution.residual,
            "cg_iterations": solution.iterations,
            "gradient_norm": jnp.linalg.norm(g),
        }
        return improved, state, log

    def _measure(
        self, architecture: Architecture, policy: Policy, batch: Batch, bonus: Bonus
    ) -> tuple[jax.Array, jax.Array]:
        """Objective (Eq. 1) and KL(old || new) (Eq. 2)."""
        stats = statistics(architecture, policy, batch.observations)
        ratio = jnp.exp(log_probs(architecture, stats, batch.actions) - batch.log_probs)
        objective = jnp.mean(ratio * batch.advantages) + bonus(policy, batch.observations)
        if not is_zero(self.entropy_coefficient):
            entropy = jnp.mean(jax.vmap(architecture.head.entropy)(stats))
            objective = objective + first(self.entropy_coefficient) * entropy
        return objective, jnp.mean(jax.vmap(architecture.head.kl)(batch.statistics, stats))

    def _line_search(self, measure, theta, full, before, usable) -> Search:
        """The longest of the shrinking steps that keeps the trust region and does not lose."""

        def try_next(search: Search) -> Search:
            candidate = theta + self.shrink**search.tries * full
            objective, kl = measure(candidate)
            fits = (
                jnp.isfinite(objective)
                & (kl <= self.kl_slack * first(self.max_kl))
                & (objective >= before)
                & jnp.all(jnp.isfinite(candidate))
            )
            return Search(search.tries + 1, candidate, fits, kl, objective)

        going = lambda search: usable & ~search.accepted & (search.tries < self.backtracks)
        start = Search(jnp.asarray(0), theta, jnp.asarray(False), jnp.asarray(0.0), before)
        return jax.lax.while_loop(going, try_next, start)


def conjugate_gradient(product: Product, b: jax.Array, iterations: int) -> Solution:
    """Solve A x = b for a positive definite A known by its products.

    Stops early when solved, and before a direction of non-positive curvature spoils x.

    >>> a = jnp.array([[4.0, 1.0], [1.0, 3.0]])
    >>> print(conjugate_gradient(lambda v: a @ v, jnp.array([1.0, 2.0]), 2).x.round(4))
    [0.0909 0.6364]
    """

    def going(carry):
        n, _, r, _, sound = carry
        return sound & (n < iterations) & (r @ r > SMALLEST_RESIDUAL)

    def step(carry):
        n, x, r, p, _ = carry
        z = product(p)
        curvature = p @ z
        sound = (curvature > 0) & jnp.isfinite(curvature)
        pace = jnp.where(sound, (r @ r) / jnp.where(sound, curvature, 1.0), 0.0)
        r_next = r - pace * z
        p_next = r_next + (r_next @ r_next) / (r @ r) * p
        return n + 1, x + pace * p, jnp.where(sound, r_next, r), p_next, sound

    start = (jnp.asarray(0), jnp.zeros_like(b), b, b, jnp.asarray(True))
    n, x, r, _, _ = jax.lax.while_loop(going, step, start)
    return Solution(x, r, r @ r, n)
