"""A picking rule of one's own, from outside the package: Thompson sampling on J.

Run it here, or from the command line in this folder:

    mppo train mp-trpo mppo/Maze-v0 --steps 5e4 --picking own_picking_rule:Thompson
"""

from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp

import mppo


@dataclass(frozen=True)
class Thompson:
    """Pick the path whose J, drawn from what its last batch says of it, is highest."""

    spread: float = 1.0
    """Standard errors by which the draw may stray."""

    def pick(self, population, iteration, key):
        known = population.record
        noise = self.spread * known.standard_error * jax.random.normal(key, known.picks.shape)
        drawn = jnp.where(known.picks == 0, jnp.inf, population.performance + noise)
        return jnp.argmax(drawn).astype(jnp.int32)

    def report(self, population, iteration, key):
        return jnp.argmax(population.performance).astype(jnp.int32)


if __name__ == "__main__":
    method = replace(mppo.METHODS["mp-trpo"], picking=Thompson(), paths=4)
    agent = mppo.train(method, "mppo/Maze-v0", steps=50_000, eval_every=0)
    print("picked:", [int(row["picked"]) for row in agent.metrics])
