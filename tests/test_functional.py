"""The pure core under `jit` and `vmap`, for loops of one's own."""

import jax
import jax.numpy as jnp
import numpy as np

from mppo.functional import init, learn, pick, report
from mppo.training.programs import programs
from tests.worlds import CHOOSING, SMALL, random_trajectories

METHOD = SMALL["mp-ppo"]


def test_a_stack_of_seeds_is_each_seed_by_itself():
    """vmap of init, pick and learn over two seeds, against two calls of each."""
    keys = jax.vmap(jax.random.key)(jnp.array([1, 2]))
    seen = [random_trajectories(seed) for seed in (5, 6)]
    stacked = jax.tree.map(lambda *parts: jnp.stack(parts), *seen)
    states = jax.jit(jax.vmap(lambda key: init(METHOD, CHOOSING, key)))(keys)
    chosen, _ = jax.jit(jax.vmap(lambda state: pick(METHOD, state)))(states)
    together, metrics = jax.jit(
        jax.vmap(lambda state, i, batch: learn(METHOD, CHOOSING, state, i, batch))
    )(states, chosen, stacked)

    one, shown = programs(METHOD, CHOOSING), jax.jit(lambda state: report(METHOD, state))
    for n in range(2):
        state = one.init(keys[n])
        i, _ = one.pick(state)
        assert int(i) == int(chosen[n])
        alone, row = one.learn(state, i, seen[n])
        for name in ("kl", "gain", "value_loss", "performance", "entropy"):
            np.testing.assert_allclose(metrics[name][n], row[name], rtol=2e-3, atol=1e-5)
        mine = jax.tree.map(lambda leaf, n=n: leaf[n], together.population.policy.parameters)
        for ours, theirs in zip(
            jax.tree.leaves(mine), jax.tree.leaves(alone.population.policy.parameters), strict=True
        ):
            np.testing.assert_allclose(ours, theirs, atol=2e-4)
        assert int(shown(alone)[0]) == int(i)  # the only path known so far


def test_the_exported_names_exist():
    import mppo.functional as functional

    assert all(hasattr(functional, name) for name in functional.__all__)
