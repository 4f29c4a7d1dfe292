"""The running filter against two passes in double precision."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mppo.algorithm import filters

update = jax.jit(filters.update)


def two_pass(observations):
    """Mean and variance over the prior (weight 0.01, mean 0, variance 1) and all observations."""
    x, prior = np.asarray(observations, np.float64), filters.FIRST_COUNT
    count = prior + len(x)
    mean = x.sum(0) / count
    variance = (((x - mean) ** 2).sum(0) + prior * (1 + mean**2)) / count
    return count, mean, variance


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 1.0, -30.0]),
    st.sampled_from([1e-3, 1.0, 100.0]),
    st.integers(1, 6),
)
def test_equals_two_passes(seed, centre, spread, batches):
    rng = np.random.default_rng(seed)
    x = (centre + spread * rng.normal(size=(batches, 32, 2))).astype(np.float32)
    seen = filters.init(2)
    for batch in x:
        seen = update(seen, batch)
    count, mean, variance = two_pass(x.reshape(-1, 2))
    np.testing.assert_allclose(seen.count, count, rtol=1e-6)
    np.testing.assert_allclose(seen.mean, mean, rtol=1e-4, atol=1e-5 * (spread + abs(centre)))
    size = (abs(centre) + spread) ** 2
    np.testing.assert_allclose(seen.deviations / seen.count, variance, rtol=1e-4, atol=1e-6 * size)


def test_order_and_batching_do_not_matter():
    rng = np.random.default_rng(0)
    x = rng.normal(3, 2, size=(64, 3)).astype(np.float32)
    whole = filters.update(filters.init(3), x)
    backwards = filters.update(filters.init(3), x[::-1])
    pieces = filters.init(3)
    for piece in np.split(x, [1, 2, 10, 40]):
        pieces = filters.update(pieces, piece)
    for other in (backwards, pieces):
        for one, two in zip(whole, other, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-5)


def test_many_batches_do_not_drift():
    """200 batches of 5000, as many as a run of a million steps has."""
    rng = np.random.default_rng(1)
    x = rng.normal(100, 0.5, size=(5000, 1)).astype(np.float32)
    seen = filters.init(1)
    for _ in range(200):
        seen = update(seen, x)
    assert float(seen.mean[0]) == pytest.approx(x.mean(dtype=np.float64), rel=1e-6)
    _, _, variance = two_pass(np.tile(x, (200, 1)))
    assert float(filters.scale(seen)[0]) == pytest.approx(np.sqrt(variance[0]), rel=1e-3)


def test_fresh_filter_only_clips():
    x = np.array([-7.0, -5.0, 0.3, 6.0], np.float32)
    np.testing.assert_allclose(filters.apply(filters.init(4), x), [-5, -5, 0.3, 5], rtol=1e-6)


def test_apply_by_hand():
    # mean 2, variance 4 -> (5 - 2) / 2 = 1.5; clip at 5 deviations: 100 -> 5, -100 -> -5
    seen = filters.Filter(jnp.array(10.0), jnp.full(3, 2.0), jnp.full(3, 40.0))
    found = filters.apply(seen, jnp.array([5.0, 100.0, -100.0]))
    np.testing.assert_allclose(found, [1.5, 5.0, -5.0], rtol=1e-6)


def test_constant_observation_is_divided_by_the_floor():
    seen = filters.update(filters.init(1), np.full((10_000, 1), 2.0, np.float32))
    assert float(filters.scale(seen)[0]) == pytest.approx(np.sqrt(filters.VARIANCE_FLOOR))
    assert float(filters.apply(seen, jnp.array([2.1]))[0]) == pytest.approx(1.0, rel=1e-3)
