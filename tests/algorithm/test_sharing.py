"""Shared successes: the memory against a slow oracle, the term's weights and its gradient."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mppo.algorithm.heads import Gaussian
from mppo.algorithm.networks import Mlp
from mppo.algorithm.policies import Architecture
from mppo.algorithm.sharing import Memory, NoSharing, Successes
from mppo.algorithm.types import Earlier
from tests.oracles import assert_same_bits, same_bits
from tests.worlds import random_trajectories, with_rewards

GAMMA, HEAD = 0.9, Gaussian(2)
SHAPE = Architecture(3, HEAD, Mlp(()))
PART = Successes(weight=0.5, memory=40, samples=16)
update = jax.jit(lambda memory, seen: PART.update(memory, seen, GAMMA))


def rolled_out(seed, sparse=True, **options):
    """A batch in which some episodes are paid nothing, with whole numbers for rewards."""
    options = {"envs": 3, "steps": 16, "observation": 3, "head": HEAD, "ends": 0.4} | options
    seen = random_trajectories(seed, **options)
    rng = np.random.default_rng(seed)
    paid = rng.integers(-1, 5, seen.rewards.shape) * (rng.random(seen.rewards.shape) < 0.2)
    return with_rewards(seen, paid) if sparse else seen


def whole_episodes(seen, gamma=GAMMA):
    """(score, [(observation, action, discounted return from here on)]) of each that ends here."""
    found = []
    for e in range(seen.rewards.shape[0]):
        begun, before = 0, float(seen.earlier.total[e])
        for t in range(seen.rewards.shape[1]):
            if not (seen.terminated[e, t] or seen.truncated[e, t]):
                continue
            steps = []
            for s in range(begun, t + 1):
                followed = sum(gamma ** (u - s) * seen.rewards[e, u] for u in range(s, t + 1))
                steps.append((seen.observations[e, s], seen.actions[e, s], followed))
            score = before + float(seen.rewards[e, begun : t + 1].sum())
            found.append((score, steps))
            begun, before = t + 1, 0.0
    return found


def remembered(batches):
    """The best steps by the return of their episodes, the first come first among equals."""
    best: list = []
    for seen in batches:  # older ones win ties, as the memory keeps what it has
        new = [(s, step) for s, part in whole_episodes(seen) if s != 0 for step in part]
        best = sorted(best + new, key=lambda row: -row[0])[: PART.memory]
    return best


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(1, 3))
def test_the_steps_of_the_best_whole_episodes_are_kept(seed, count):
    batches = [rolled_out(seed + n) for n in range(count)]
    memory = PART.init(SHAPE)
    for seen in batches:
        memory = update(memory, seen)
    best = remembered(batches)
    n = len(best)
    np.testing.assert_allclose(memory.scores[:n], [score for score, _ in best], rtol=1e-6)
    assert np.isneginf(memory.scores[n:]).all()
    for k, name in enumerate(("observations", "actions", "followed")):
        wanted = np.array([step[k] for _, step in best]).reshape(
            n, *getattr(memory, name).shape[1:]
        )
        np.testing.assert_allclose(getattr(memory, name)[:n], wanted, rtol=1e-5, atol=1e-6)


def test_episodes_that_the_batch_cuts_or_that_were_paid_nothing_are_left_out():
    seen = rolled_out(0, ends=0.0)
    assert np.abs(seen.rewards).sum() > 0
    assert np.isneginf(update(PART.init(SHAPE), seen).scores).all()
    ends = np.zeros_like(seen.terminated)
    ends[0, 4], ends[1, 7] = True, True
    paid = np.zeros_like(seen.rewards)
    paid[0, 3], paid[0, 9], paid[1, 12] = 2.0, 9.0, 9.0  # the nines lie in what is cut
    memory = update(PART.init(SHAPE), seen._replace(truncated=ends, rewards=paid))
    assert memory.scores[:6].tolist() == [2.0] * 5 + [-np.inf]
    np.testing.assert_allclose(
        memory.followed[:5], [2 * 0.9**3, 2 * 0.9**2, 2 * 0.9, 2.0, 0.0], rtol=1e-6
    )


def test_an_episode_that_began_in_the_batch_before_counts_as_a_whole():
    seen = rolled_out(0, ends=0.0)
    ends, paid = np.zeros_like(seen.terminated), np.zeros_like(seen.rewards)
    ends[:, 1], paid[:, 0] = True, 1.0
    total = np.array([10.0, 0.0, -1.0], np.float32)
    seen = seen._replace(
        terminated=ends, rewards=paid, earlier=Earlier(total, total, np.zeros(3, np.int32))
    )
    memory = update(PART.init(SHAPE), seen)
    assert memory.scores[:5].tolist() == [11.0, 11.0, 1.0, 1.0, -np.inf]  # the third was paid 0
    np.testing.assert_allclose(memory.followed[:4], [1.0, 0.0, 1.0, 0.0], rtol=1e-6)


def full(seed=0, n=None):
    """A memory whose first n rows are used."""
    rng = np.random.default_rng(seed)
    n, rows = n or PART.memory, PART.memory
    normal = lambda *shape: jnp.asarray(rng.normal(size=shape), jnp.float32)
    scores = jnp.where(jnp.arange(rows) < n, 1.0, -jnp.inf)
    return Memory(normal(rows, 3), normal(rows, 2), normal(rows), scores)


def policy_of(seed=0):
    rng = np.random.default_rng(seed)
    made = SHAPE.init(jax.random.key(seed))
    draw = lambda leaf: jnp.asarray(0.3 * rng.normal(size=leaf.shape), jnp.float32)
    return made._replace(parameters=jax.tree.map(draw, made.parameters))


@jax.jit
def term(policy, memory, values):
    """The term and its gradient where V is the same number everywhere."""
    bonus = PART.bonus(SHAPE, memory, lambda x: jnp.full(x.shape[0], values), jax.random.key(3))
    of = lambda parameters: bonus(policy._replace(parameters=parameters), memory.observations)
    return jax.value_and_grad(of)(policy.parameters)


def by_hand(policy, memory, value):
    """In double precision, one sampled row after the other."""
    rows = np.asarray(jax.random.randint(jax.random.key(3), (PART.samples,), 0, PART.memory))
    (layer,), free = policy.parameters.network, np.asarray(policy.parameters.free, float)
    used = np.isfinite(memory.scores)
    top = max(np.abs(np.asarray(memory.followed, float)[used]), default=1e-8)
    total = 0.0
    for row in rows:
        if not used[row]:
            continue
        weight = min(max(float(memory.followed[row]) - value, 0.0) / top, 1.0)
        seen = np.clip(np.asarray(memory.observations[row], float), -5, 5)
        mean = seen @ np.asarray(layer.weights, float) + np.asarray(layer.biases, float)
        z = (np.asarray(memory.actions[row], float) - mean) / np.exp(free)
        total += weight * -np.sum(0.5 * z**2 + free + 0.5 * np.log(2 * np.pi))
    return PART.weight * total / PART.samples


@pytest.mark.parametrize("n", [40, 11])
@pytest.mark.parametrize("value", [0.0, -2.0, 0.7])
def test_the_term_is_the_weighted_log_probability_of_what_was_done(n, value):
    memory, policy = full(n=n), policy_of()
    found, _ = term(policy, memory, value)
    assert abs(float(found)) > 1e-3
    assert float(found) == pytest.approx(by_hand(policy, memory, value), rel=1e-4)


def test_where_v_is_above_or_nothing_is_remembered_there_is_no_term():
    memory, policy = full(), policy_of()
    for other, value in ((memory, 1e3), (PART.init(SHAPE), -5.0)):
        found, gradient = term(policy, other, value)
        assert float(found) == 0.0
        assert all(float(jnp.abs(leaf).max()) == 0.0 for leaf in jax.tree.leaves(gradient))


def test_the_gradient_of_the_term_by_finite_differences():
    memory, policy, step = full(), policy_of(), 1e-4
    _, gradient = term(policy, memory, -0.2)
    leaves, shape = jax.tree.flatten(policy.parameters)
    for n, (leaf, slope) in enumerate(zip(leaves, jax.tree.leaves(gradient), strict=True)):
        for place in np.ndindex(leaf.shape):
            around = []
            for sign in (1, -1):
                moved = list(map(np.asarray, leaves))
                moved[n] = moved[n].astype(float)
                moved[n][place] += sign * step
                parameters = jax.tree.unflatten(shape, moved)
                around.append(by_hand(policy._replace(parameters=parameters), memory, -0.2))
            wanted = (around[0] - around[1]) / (2 * step)
            assert float(slope[place]) == pytest.approx(wanted, rel=1e-3, abs=1e-4)


def test_without_sharing_nothing_is_kept_and_nothing_is_added():
    none = NoSharing()
    assert none.init(SHAPE) == ()
    assert none.bonus(SHAPE, (), None, jax.random.key(0)) is None
    assert none.update((), rolled_out(0), GAMMA) == ()


def test_a_worse_batch_changes_nothing_of_a_full_memory():
    memory = full()
    seen = rolled_out(4)
    worse = seen._replace(rewards=np.minimum(seen.rewards, 0) - np.float32(0.01))
    assert_same_bits(update(memory, worse), memory)
    better = seen._replace(rewards=seen.rewards + np.float32(10))
    assert not same_bits(update(memory, better), memory)


@pytest.mark.parametrize("wrong", [{"weight": -1.0}, {"memory": 0}, {"samples": 0}])
def test_numbers_out_of_range_are_named(wrong):
    (name, value), *_ = wrong.items()
    with pytest.raises(ValueError, match=f"{name} is {value}; it must lie in"):
        Successes(**wrong)
