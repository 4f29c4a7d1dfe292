"""Line 6: returns of episodes, the record of a path, and the estimators of J."""

from collections import deque
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mppo.algorithm.performance import (
    BatchMean,
    Shrunk,
    Window,
    all_episodes,
    episodes,
    remember,
    summary,
)
from mppo.algorithm.population import Member, fresh_record
from mppo.algorithm.types import Earlier
from tests import oracles
from tests.oracles import finished_episodes
from tests.worlds import random_trajectories

count = jax.jit(episodes, static_argnums=(1, 2))
count_all = jax.jit(all_episodes, static_argnums=(2, 3, 4))
keep = jax.jit(remember)


def seen(seed, ends=0.3, envs=3, steps=12):
    """Random trajectories whose first episodes began before the batch."""
    rng = np.random.default_rng(seed)
    earlier = Earlier(
        rng.normal(size=envs).astype(np.float32),
        rng.normal(size=envs).astype(np.float32),
        rng.integers(0, 20, envs).astype(np.int32),
    )
    return random_trajectories(seed, envs, steps, ends=ends)._replace(earlier=earlier)


@settings(max_examples=100)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.1, 0.6, 2.0]))
def test_episodes_equal_the_plain_loop(seed, ends):
    trajectories = seen(seed, ends)
    for gamma, unit in ((1.0, "undiscounted"), (0.9, "discounted")):
        outcome = count(trajectories, 0.9, unit)
        wanted = finished_episodes(trajectories, gamma)
        ended = np.asarray(outcome.ended)
        assert ended.sum() == len(wanted)
        if wanted:
            returns, lengths = zip(*wanted, strict=True)
            np.testing.assert_allclose(
                np.asarray(outcome.returns)[ended], returns, rtol=1e-4, atol=1e-5
            )
            np.testing.assert_array_equal(np.asarray(outcome.lengths)[ended], lengths)
        assert not np.any(np.asarray(outcome.returns)[~ended])
        n, mean, error = summary(outcome)
        if len(wanted) > 1:
            assert float(mean) == pytest.approx(np.mean(returns), rel=1e-4, abs=1e-4)
            standard_error = np.std(returns, ddof=1) / np.sqrt(len(returns))
            assert float(error) == pytest.approx(standard_error, rel=1e-3, abs=1e-4)
        else:
            assert float(error) == 0.0
        assert int(n) == len(wanted)


def test_discounted_return_by_hand():
    """An episode that began two steps before: 5 so far, then gamma^2 * 1 + gamma^3 * 1."""
    trajectories = random_trajectories(0, 1, 2)._replace(
        rewards=np.ones((1, 2), np.float32),
        terminated=np.array([[False, True]]),
        truncated=np.zeros((1, 2), bool),
        earlier=Earlier(np.array([7.0]), np.array([5.0]), np.array([2])),
    )
    discounted = count(trajectories, 0.5, "discounted")
    np.testing.assert_allclose(discounted.returns, [0, 5 + 0.25 + 0.125])
    plain = count(trajectories, 0.5, "undiscounted")
    np.testing.assert_allclose(plain.returns, [0, 9])
    np.testing.assert_array_equal(plain.lengths, [0, 4])


def test_a_cut_episode_goes_on_with_v_by_hand():
    """Two steps before the batch: 5 so far. Then 1 and the end; a new episode of 1, 1 and V = 8."""
    trajectories = random_trajectories(0, 1, 3)._replace(
        rewards=np.ones((1, 3), np.float32),
        terminated=np.array([[True, False, False]]),
        truncated=np.zeros((1, 3), bool),
        earlier=Earlier(np.float32([7.0]), np.float32([5.0]), np.int32([2])),
    )
    values = np.full((1, 3), 8.0, np.float32)
    found = count_all(trajectories, values, 0.5, "bootstrap", "bootstrap")
    np.testing.assert_allclose(found.returns, [5 + 0.25, 0, 1 + 0.5 + 0.25 * 8])
    np.testing.assert_array_equal(found.ended, [True, False, True])
    np.testing.assert_array_equal(found.lengths, [3, 0, 2])
    window = count_all(trajectories, values, 0.5, "bootstrap", "window")
    np.testing.assert_allclose(window.returns, [1, 0, 1 + 0.5 + 0.25 * 8])
    np.testing.assert_array_equal(window.lengths, [1, 0, 2])


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.1, 0.6, 2.0]))
def test_all_episodes_equal_the_plain_loop(seed, ends):
    trajectories = seen(seed, ends)
    shape = trajectories.rewards.shape
    values = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    for limit in ("bootstrap", "terminal"):
        for unfinished in ("bootstrap", "window"):
            outcome = count_all(trajectories, values, 0.9, limit, unfinished)
            wanted = oracles.all_episodes(trajectories, values, 0.9, limit, unfinished == "window")
            ended = np.asarray(outcome.ended)
            np.testing.assert_allclose(
                np.asarray(outcome.returns)[ended], wanted, rtol=1e-4, atol=1e-5
            )
            assert ended.reshape(shape)[:, -1].all()  # no environment without an episode


@pytest.mark.parametrize("memory", [1, 3, 8, 200])
def test_ring_equals_a_deque(memory):
    """Several batches; with the small memories more episodes in one batch than fit."""
    record, ring = fresh_record(memory), deque(maxlen=memory)
    window = Window(memory)
    for batch, ends in enumerate([0.2, 0.0, 1.0, 0.05, 0.4]):
        trajectories = seen(batch, ends)
        record = keep(record, count(trajectories, 1.0), jnp.asarray(batch))
        ring.extend(total for total, _ in finished_episodes(trajectories))
        one = jax.tree.map(lambda x: x[None], record)
        members = Member((), (), jnp.zeros(1), jnp.zeros(1), one)
        wanted = np.mean(ring) if ring else 0.0
        found = float(window.estimate(members, jnp.asarray(0)))
        assert found == pytest.approx(wanted, rel=1e-4, abs=1e-4)
        assert sorted(np.asarray(record.returns)[: len(ring)]) == pytest.approx(
            sorted(ring), rel=1e-4, abs=1e-4
        )
    assert (int(record.picks), int(record.last_pick)) == (5, 4)


def test_batch_without_a_finished_episode_keeps_what_was_known():
    record = keep(fresh_record(0), count(seen(0, 0.5), 1.0), jnp.asarray(3))
    later = keep(record, count(seen(1, 0.0), 1.0), jnp.asarray(4))
    assert float(later.measured) == float(record.measured) != 0.0
    assert float(later.standard_error) == float(record.standard_error) != 0.0
    assert (int(later.episodes), int(later.picks), int(later.last_pick)) == (0, 2, 4)
    assert int(later.finished) == int(record.finished)


def members(performance, measured, picks, error, episodes=None):
    K = len(performance)
    record = jax.tree.map(lambda leaf: jnp.stack([leaf] * K), fresh_record(0))
    record = record._replace(
        measured=jnp.array(measured),
        picks=jnp.array(picks),
        standard_error=jnp.array(error),
        episodes=jnp.array(episodes or [5] * K),
    )
    return Member((), (), jnp.array(performance), jnp.zeros(K), record)


def test_batch_mean_is_the_measured_mean():
    population = members([9.0, 9.0], [1.0, 2.0], [1, 1], [0.0, 0.0])
    assert float(BatchMean().estimate(population, jnp.asarray(1))) == 2.0


def test_shrunk_by_hand():
    # J = 1, 5 and now 12 for path 2 (its stored 100 is replaced); mean 6, variance between
    # (25 + 1 + 36) / 2 = 31; error 3 -> noise 9; weight 31 / 40; 6 + 31/40 * 6 = 10.65
    population = members([1.0, 5.0, 100.0], [0.0, 0.0, 12.0], [1, 1, 1], [0.0, 0.0, 3.0])
    found = Shrunk().estimate(population, jnp.asarray(2))
    assert float(found) == pytest.approx(10.65, rel=1e-6)


def test_shrunk_ignores_paths_never_rolled_out():
    # only paths 0 and 2 count: mean 6.5, between (5.5^2 + 5.5^2) / 1 = 60.5
    population = members([1.0, 500.0, 0.0], [0.0, 0.0, 12.0], [1, 0, 1], [0.0, 0.0, 3.0])
    wanted = 6.5 + 60.5 / 69.5 * 5.5
    assert float(Shrunk().estimate(population, jnp.asarray(2))) == pytest.approx(wanted, rel=1e-6)


def test_shrunk_without_noise_or_company_is_the_batch_mean():
    certain = members([1.0, 5.0], [0.0, 12.0], [1, 1], [0.0, 0.0])
    assert float(Shrunk().estimate(certain, jnp.asarray(1))) == 12.0
    alone = members([0.0, 0.0], [12.0, 0.0], [1, 0], [3.0, 0.0])
    assert float(Shrunk().estimate(alone, jnp.asarray(0))) == 12.0


def test_shrunk_does_not_trust_a_single_episode():
    # path 2 has one episode, 12. The others: 4 with error 2 (variance 4 * 2^2 = 16) and 3 with
    # error 1 (variance 3); pooled (3 * 16 + 2 * 3) / 5 = 10.8. Mean 6, between 31, as above.
    J, errors = [1.0, 5.0, 100.0], [2.0, 1.0, 0.0]
    population = members(J, [0.0, 0.0, 12.0], [1, 1, 1], errors, [4, 3, 1])
    found = Shrunk().estimate(population, jnp.asarray(2))
    assert float(found) == pytest.approx(6 + 31 / 41.8 * 6, rel=1e-6)
    # nor where its J is that of one episode some batches ago
    stale = members(J, [0.0, 0.0, 12.0], [1, 1, 1], errors, [4, 3, 0])
    assert float(Shrunk().estimate(stale, jnp.asarray(2))) == float(found)


def test_shrunk_of_single_episodes_alone_goes_half_the_way():
    # nothing tells noise from difference: 6 + 1/2 * 6
    J = [1.0, 5.0, 100.0]
    population = members(J, [0.0, 0.0, 12.0], [1, 1, 1], [0.0] * 3, [1, 1, 1])
    assert float(Shrunk().estimate(population, jnp.asarray(2))) == pytest.approx(9.0, rel=1e-6)
    alone = members([0.0, 0.0], [12.0, 0.0], [1, 0], [0.0, 0.0], [1, 0])
    assert float(Shrunk().estimate(alone, jnp.asarray(0))) == 12.0


def test_memories():
    assert (BatchMean().memory, Shrunk().memory, Window(7).memory) == (0, 0, 7)
    assert partial(Window)().unit == "undiscounted"
