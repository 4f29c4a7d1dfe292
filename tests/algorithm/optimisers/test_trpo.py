"""Conjugate gradient, Fisher products and the step against slow oracles."""

import itertools
from functools import lru_cache, partial

import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import pytest

from mppo.algorithm.exploration.none import no_bonus
from mppo.algorithm.filters import Filter
from mppo.algorithm.heads import Categorical, Gaussian, Product
from mppo.algorithm.networks import Mlp
from mppo.algorithm.optimisers import fisher, trpo
from mppo.algorithm.optimisers.fisher import fisher_product
from mppo.algorithm.optimisers.trpo import Trpo, conjugate_gradient
from mppo.algorithm.policies import Architecture, Policy
from mppo.algorithm.surrogate import log_probs, mean_kl, ratios, statistics
from mppo.algorithm.types import Batch
from tests.oracles import all_finite, assert_same_bits, same_bits

HEADS = [Gaussian(2), Categorical((3,)), Product((Gaussian(1), Categorical((2,))))]
N = 48


@partial(jax.jit, static_argnums=2)
def solve(matrix, b, iterations):
    return conjugate_gradient(lambda v: matrix @ v, b, iterations)


def test_conjugate_gradient_solves_200_systems():
    with jax.enable_x64(True):
        for seed in range(200):
            rng = np.random.default_rng(seed)
            basis, _ = np.linalg.qr(rng.normal(size=(12, 12)))
            condition = 10.0 ** rng.uniform(0, 4)
            matrix = basis @ np.diag(np.geomspace(1, condition, 12)) @ basis.T
            b = 1e4 * condition * rng.normal(size=12)  # far above the residual that ends the search
            found = solve(matrix, b, 60)
            wanted = np.linalg.solve(matrix, b)
            assert np.linalg.norm(found.x - wanted) <= 1e-6 * np.linalg.norm(wanted), seed
            residual = np.sum((b - matrix @ np.asarray(found.x)) ** 2)
            assert abs(float(found.residual) - residual) < 1e-8 * (b @ b)
            np.testing.assert_allclose(
                found.left, b - matrix @ np.asarray(found.x), atol=1e-4 * np.linalg.norm(b)
            )
            assert int(found.iterations) <= 60


def test_error_falls_in_the_matrix_norm():
    """Each further step brings x closer in the norm of the matrix: what the method rests on."""
    with jax.enable_x64(True):
        rng = np.random.default_rng(0)
        root = rng.normal(size=(12, 12))
        matrix, b = root @ root.T + np.eye(12), rng.normal(size=12)
        wanted = np.linalg.solve(matrix, b)
        errors = []
        for iterations in range(1, 9):
            e = np.asarray(solve(matrix, b, iterations).x) - wanted
            errors.append(e @ matrix @ e)
        assert all(later < earlier for earlier, later in itertools.pairwise(errors))


def test_nothing_to_solve():
    found = solve(jnp.eye(12), jnp.zeros(12), 20)
    np.testing.assert_array_equal(found.x, np.zeros(12))
    assert int(found.iterations) == 0


def test_identity_takes_one_step():
    b = jnp.arange(12.0)
    found = solve(jnp.eye(12), b, 20)
    np.testing.assert_allclose(found.x, b, rtol=1e-6)
    assert int(found.iterations) == 1


def test_indefinite_matrices_never_give_numbers_that_are_not():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        root = rng.normal(size=(12, 12)).astype(np.float32)
        scale = np.float32(10.0 ** rng.integers(-6, 7))
        found = solve(jnp.asarray(root + root.T) * scale, jnp.asarray(root[0]), 30)
        assert all_finite(found), seed
    for bad in (np.nan, np.inf):
        found = solve(jnp.full((12, 12), bad, jnp.float32), jnp.ones(12), 30)
        np.testing.assert_array_equal(found.x, np.zeros(12))


def make(architecture, seed, dtype=np.float32):
    """A policy with weights of size one and a batch of its own actions, drawn without jax."""
    rng, head = np.random.default_rng(seed), architecture.head
    normal = lambda *shape: rng.normal(size=shape).astype(dtype)
    shapes = jax.eval_shape(architecture.init, jax.random.key(0)).parameters
    parameters = jax.tree.map(lambda leaf: 0.5 * normal(*leaf.shape), shapes)
    size = architecture.observation_size
    policy = Policy(parameters, Filter(dtype(1.0), np.zeros(size, dtype), np.ones(size, dtype)))
    observations, advantages = normal(N, size), normal(N)
    advantages = (advantages - advantages.mean()) / advantages.std()
    stats = np.asarray(stats_of(architecture)(policy, observations))
    action = head.act(stats, head.noise(rng, (N,))).astype(dtype)
    logs = logs_of(architecture)(stats, action)
    return policy, Batch(observations, action, stats, logs, advantages, advantages)


@lru_cache
def stats_of(architecture):
    return jax.jit(partial(statistics, architecture))


@lru_cache
def logs_of(architecture):
    return jax.jit(partial(log_probs, architecture))


@pytest.mark.parametrize(
    ("samples", "activation"),
    [(1, "tanh"), (6, "tanh"), (7, "tanh"), (12, "relu"), (7, "elu"), (7, "silu")],
)
def test_fisher_products_in_blocks_are_those_of_the_linearisation(monkeypatch, activation, samples):
    monkeypatch.setattr(fisher, "BLOCK", 6)  # so that the last block is full, or not
    for hidden in [(), (5,), (4, 3, 5)]:
        architecture = Architecture(3, HEADS[-1], Mlp(hidden, activation))
        policy = architecture.init(jax.random.key(1))
        policy = jax.tree.map(
            lambda leaf: leaf + 0.3 * jnp.cos(jnp.arange(leaf.size)).reshape(leaf.shape), policy
        )
        observations = jax.random.normal(jax.random.key(2), (samples, 3))
        flat, _ = jax.flatten_util.ravel_pytree(policy.parameters)
        v = jax.random.normal(jax.random.key(3), flat.shape)
        product = lambda way, p, o, v, n=architecture: way(n, p, o)(v)
        ways = [partial(product, way) for way in (fisher._by_linearisation, fisher.fisher_product)]
        wanted, found = (jax.jit(way)(policy, observations, v) for way in ways)
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-6 * np.abs(wanted).max())


@pytest.mark.parametrize("head", HEADS, ids=repr)
def test_fisher_product_is_the_hessian_of_the_mean_kl(head):
    architecture = Architecture(2, head, Mlp((3,)))
    with jax.enable_x64(True):

        @jax.jit
        def both(seed_policy, batch, vectors):
            flat, back = jax.flatten_util.ravel_pytree(seed_policy.parameters)
            kl = lambda t: mean_kl(architecture, Policy(back(t), seed_policy.filter), batch)
            product = fisher_product(architecture, seed_policy, batch.observations)
            return jax.hessian(kl)(flat), jax.vmap(product)(vectors)

        for seed in range(3):
            policy, batch = make(architecture, seed, np.float64)
            size = sum(leaf.size for leaf in jax.tree.leaves(policy.parameters))
            hessian, matrix = both(policy, batch, np.eye(size))
            np.testing.assert_allclose(matrix, hessian, atol=1e-10)
            np.testing.assert_allclose(matrix, np.asarray(matrix).T, atol=1e-12)
            assert np.linalg.eigvalsh(matrix).min() > -1e-12


ARCHITECTURE = Architecture(2, Gaussian(2), Mlp((3,)))
update = jax.jit(
    lambda trpo, policy, batch: trpo.update(
        ARCHITECTURE, (), policy, batch, no_bonus, jax.random.key(0)
    ),
    static_argnums=0,
)
prepare = partial(make, ARCHITECTURE)


@jax.jit
def measured(policy, batch):
    ratio = ratios(ARCHITECTURE, policy, batch)
    return jnp.mean(ratio * batch.advantages), mean_kl(ARCHITECTURE, policy, batch)


def test_200_steps_keep_the_trust_region_and_do_not_lose():
    trpo, moved = Trpo(), 0
    for seed in range(200):
        policy, batch = prepare(seed)
        improved, _, log = update(trpo, policy, batch)
        before, (after, kl) = measured(policy, batch)[0], measured(improved, batch)
        if bool(log["step_refused"]):
            assert_same_bits(improved, policy)
            assert float(log["kl"]) == 0.0
            continue
        moved += 1
        assert float(kl) <= 1.5 * 0.01 * (1 + 1e-4) + 1e-7, seed
        assert float(after) >= float(before) - 1e-6, seed
        assert float(log["kl"]) == pytest.approx(float(kl), rel=1e-3, abs=1e-7)
        assert float(log["surrogate_gain"]) == pytest.approx(float(after - before), abs=1e-5)
        assert 1 <= int(log["line_search_steps"]) <= 10
        assert_same_bits(improved.filter, policy.filter)
    assert moved > 190


def test_step_is_the_equation():
    """One step by linear algebra: theta + sqrt(2 delta / x'Hx) x with (F + damping) x = g."""
    with jax.enable_x64(True):
        policy, batch = prepare(3, np.float64)
        trpo = Trpo(max_kl=1e-4, cg_iterations=100)  # small: the first try fits
        theta, back = jax.flatten_util.ravel_pytree(policy.parameters)
        objective = lambda t: jnp.mean(
            ratios(ARCHITECTURE, Policy(back(t), policy.filter), batch) * batch.advantages
        )
        kl = lambda t: mean_kl(ARCHITECTURE, Policy(back(t), policy.filter), batch)
        g = np.asarray(jax.jit(jax.grad(objective))(theta))
        matrix = np.asarray(jax.jit(jax.hessian(kl))(theta)) + 0.1 * np.eye(theta.size)
        x = np.linalg.solve(matrix, g)
        wanted = np.asarray(theta) + np.sqrt(2 * 1e-4 / (x @ matrix @ x)) * x
        improved, _, log = update(trpo, policy, batch)
        assert int(log["line_search_steps"]) == 1
        found, _ = jax.flatten_util.ravel_pytree(improved.parameters)
        step = np.linalg.norm(wanted - np.asarray(theta))
        assert np.linalg.norm(found - wanted) < 1e-3 * step


def test_log_std_is_in_the_vector():
    policy, batch = prepare(0)
    improved, _, _ = update(Trpo(), policy, batch)
    assert np.all(np.asarray(improved.parameters.free) != np.asarray(policy.parameters.free))


def test_zero_advantages_change_nothing():
    policy, batch = prepare(1)
    batch = batch._replace(advantages=np.zeros(N, np.float32))
    improved, _, log = update(Trpo(), policy, batch)
    assert_same_bits(improved, policy)
    assert all_finite(log)
    assert bool(log["step_refused"])
    assert not bool(log["line_search_success"])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("advantages", np.nan),
        ("advantages", np.inf),
        ("advantages", -np.inf),
        ("observations", np.nan),  # infinite ones are clipped by the filter
        ("actions", np.nan),
        ("actions", np.inf),
        ("log_probs", np.nan),
        ("log_probs", -np.inf),
    ],
)
def test_what_is_not_finite_changes_nothing(field, value):
    policy, batch = prepare(2)
    poisoned = np.array(getattr(batch, field))
    poisoned[(7, *[0] * (poisoned.ndim - 1))] = value
    improved, _, log = update(Trpo(), policy, batch._replace(**{field: poisoned}))
    assert_same_bits(improved, policy)
    assert bool(log["step_refused"])
    assert float(log["kl"]) == 0.0


@pytest.mark.parametrize("factor", [0.125, 8.0, 1024.0])
def test_scale_of_advantages_does_not_matter(factor):
    """The step's length follows from KL alone; powers of two keep rounding out of it."""
    policy, batch = prepare(4)
    one, _, _ = update(Trpo(), policy, batch)
    other, _, _ = update(Trpo(), policy, batch._replace(advantages=factor * batch.advantages))
    theta, one, other = (
        np.asarray(jax.flatten_util.ravel_pytree(p.parameters)[0]) for p in (policy, one, other)
    )
    assert np.linalg.norm(one - other) < 0.01 * np.linalg.norm(one - theta)


def test_backtracking_shrinks_until_the_step_fits():
    """With no slack the full step of a curved problem is too long, and shorter ones are tried."""
    strict = Trpo(max_kl=0.5, kl_slack=1.0)
    tries = []
    for seed in range(30):
        policy, batch = prepare(seed)
        improved, _, log = update(strict, policy, batch)
        if not bool(log["step_refused"]):
            tries.append(int(log["line_search_steps"]))
            assert float(measured(improved, batch)[1]) <= 0.5 * (1 + 1e-5)
    assert max(tries) > 1


def test_steps_that_lose_are_shortened():
    """A penalty on the way travelled makes long steps lose, though the trust region allows them."""
    lost = 0
    run = jax.jit(lambda p, b: Trpo().update(ARCHITECTURE, (), p, b, penalty(p), jax.random.key(0)))
    for seed in range(20):
        policy, batch = prepare(seed)
        improved, _, log = run(policy, batch)
        lost += int(log["line_search_steps"]) > 1
        assert float(log["surrogate_gain"]) >= 0.0
        value = measured(improved, batch)[0] + penalty(policy)(improved, None)
        assert float(value) >= float(measured(policy, batch)[0]) - 1e-6
    assert lost > 10


def penalty(start):
    """Minus the squared distance from a policy, at a price: flat where it starts."""

    def bonus(policy, observations):
        pairs = zip(
            jax.tree.leaves(policy.parameters), jax.tree.leaves(start.parameters), strict=True
        )
        return -20.0 * sum(jnp.sum((one - other) ** 2) for one, other in pairs)

    return bonus


def test_no_backtracks_left_returns_the_input():
    policy, batch = prepare(5)
    improved, _, log = update(Trpo(max_kl=0.5, kl_slack=1e-9, backtracks=2), policy, batch)
    assert_same_bits(improved, policy)
    assert (int(log["line_search_steps"]), bool(log["step_refused"])) == (2, True)


def test_fisher_stride_uses_every_nth_state():
    policy, batch = prepare(6)
    v = jnp.ones(sum(leaf.size for leaf in jax.tree.leaves(policy.parameters)))
    product = jax.jit(
        lambda p, o: fisher_product(ARCHITECTURE, p, o)(v),
    )
    one_by_one = [product(policy, batch.observations[n : n + 1]) for n in range(0, N, 5)]
    found = product(policy, batch.observations[::5])
    np.testing.assert_allclose(found, np.mean(one_by_one, axis=0), rtol=1e-4, atol=1e-6)
    whole, _, _ = update(Trpo(), policy, batch)
    sparse, _, _ = update(Trpo(fisher_stride=5), policy, batch)
    assert not same_bits(whole, sparse)


def test_the_step_of_a_stride_is_that_of_every_nth_state(monkeypatch):
    """Products by linearisation on the chosen states, picked one by one, give the same step."""
    policy, batch = prepare(6)
    chosen = jnp.stack([batch.observations[n] for n in range(N) if n % 5 == 0])
    found, _, log = update(Trpo(fisher_stride=5), policy, batch)
    assert_same_bits(
        update(Trpo(fisher_stride=1), policy, batch)[0], update(Trpo(), policy, batch)[0]
    )
    oracle = lambda architecture, at, _: fisher._by_linearisation(architecture, at, chosen)
    monkeypatch.setattr(trpo, "fisher_product", oracle)
    slow = Trpo().update(ARCHITECTURE, (), policy, batch, no_bonus, jax.random.key(0))
    for one, other in zip(*(jax.tree.leaves(p.parameters) for p in (found, slow[0])), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)
    assert float(log["kl"]) == pytest.approx(float(slow[2]["kl"]), rel=1e-3)


def test_bonus_and_entropy_are_in_the_objective():
    """With zero advantages the entropy coefficient alone moves the standard deviations up."""
    policy, batch = prepare(7)
    batch = batch._replace(advantages=jnp.zeros(N))
    improved, _, log = update(Trpo(entropy_coefficient=0.1), policy, batch)
    assert np.all(np.asarray(improved.parameters.free) > np.asarray(policy.parameters.free))
    # the entropy is linear in the log-stds, so the gain is 0.1 times their sum's change
    rise = float(jnp.sum(improved.parameters.free - policy.parameters.free))
    assert float(log["surrogate_gain"]) == pytest.approx(0.1 * rise, rel=1e-3)

    bonus = lambda p, o: jnp.sum(p.parameters.free)
    spread = jax.jit(lambda p, b: Trpo().update(ARCHITECTURE, (), p, b, bonus, jax.random.key(0)))
    improved, _, _ = spread(policy, batch)
    assert np.all(np.asarray(improved.parameters.free) > np.asarray(policy.parameters.free))
