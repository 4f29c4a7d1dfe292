"""A base optimiser and a picking rule of one's own, from outside the package.

Run it here, or from the command line in this folder; every field is a flag:

    mppo train mp-trpo CartPole-v1 --steps 5e4 --out runs/own \\
        --optimiser own_optimiser:NaturalGradient --optimiser.max-kl 0.005 \\
        --picking own_optimiser:UpperConfidence
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

import mppo
from mppo.algorithm.optimisers.fisher import fisher_product
from mppo.algorithm.optimisers.trpo import conjugate_gradient
from mppo.algorithm.surrogate import mean_kl, ratios


@dataclass(frozen=True)
class NaturalGradient:
    """The natural policy gradient: TRPO's full step, taken without a line search."""

    max_kl: float = 0.01
    """KL divergence that the step aims at."""
    damping: float = 0.1
    """Added to the diagonal of the Fisher matrix."""

    def init(self, parameters):
        return ()  # nothing to keep between updates

    def update(self, architecture, state, policy, batch, bonus, key):
        theta, unravel = ravel_pytree(policy.parameters)
        moved = lambda t: policy._replace(parameters=unravel(t))

        def objective(t):
            gain = jnp.mean(ratios(architecture, moved(t), batch) * batch.advantages)
            return gain + bonus(moved(t), batch.observations)

        g = jax.grad(objective)(theta)
        fisher = fisher_product(architecture, policy, batch.observations)
        x = conjugate_gradient(lambda v: fisher(v) + self.damping * v, g, 10).x  # F^-1 g
        improved = moved(theta + jnp.sqrt(2 * self.max_kl / jnp.maximum(g @ x, 1e-8)) * x)
        return improved, state, {"kl": mean_kl(architecture, improved, batch)}


@dataclass(frozen=True)
class UpperConfidence:
    """Pick the path whose J might be highest: rarely tried ones get the benefit of the doubt."""

    width: float = 1.0
    """Weight of the doubt against J, which is scaled to 0 ... 1."""

    def pick(self, population, iteration, key):
        J, picks = population.performance, population.record.picks
        span = jnp.maximum(jnp.max(J) - jnp.min(J), 1e-8)
        doubt = jnp.sqrt(jnp.log1p(iteration) / jnp.maximum(picks, 1))
        scores = (J - jnp.min(J)) / span + self.width * doubt
        return jnp.argmax(jnp.where(picks == 0, jnp.inf, scores)).astype(jnp.int32)

    def report(self, population, iteration, key):
        return jnp.argmax(population.performance).astype(jnp.int32)


if __name__ == "__main__":
    own = mppo.Method(NaturalGradient(), paths=2, picking=UpperConfidence(), batch_size=1000)
    agent = mppo.train(own, "CartPole-v1", steps=10_000, eval_every=0)
    for row in agent.metrics:
        print(f"path {row['picked']}: return {row['return_mean']:.0f}, KL {row['kl']:.4f}")
