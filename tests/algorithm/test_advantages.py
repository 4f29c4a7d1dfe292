"""Lines 7 and 8 against plain float64 loops and by hand."""

from functools import partial

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mppo.algorithm.advantages import estimate_advantages, scale
from mppo.algorithm.types import Trajectories
from tests.oracles import gae
from tests.worlds import fresh

SHAPES = [(1, 1), (2, 7), (3, 16)]


@partial(jax.jit, static_argnames=("time_limit", "target"))
def jitted(seen, values, following, gamma, gae_lambda, time_limit, target):
    return estimate_advantages(seen, values, following, gamma, gae_lambda, time_limit, target)


def trajectories(rewards, terminated, truncated, dtype=np.float32):
    rewards = np.asarray(rewards, dtype)
    blank = np.zeros((*rewards.shape, 1), dtype)
    flags = np.asarray(terminated, bool), np.asarray(truncated, bool)
    return Trajectories(blank, blank, rewards, blank, *flags, fresh(len(rewards)))


def random_case(seed, shape, dtype=np.float32):
    """Random flags, so that all four combinations occur at all positions."""
    rng = np.random.default_rng(seed)
    often = rng.choice([0.0, 0.1, 0.5, 1.0], 2)
    terminated, truncated = rng.random((2, *shape)) < often[:, None, None]
    rewards, values, following = rng.normal(size=(3, *shape)) * rng.choice([1e-2, 1.0, 1e2])
    seen = trajectories(rewards, terminated, truncated, dtype)
    return seen, values.astype(dtype), following.astype(dtype)


@settings(max_examples=400)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(SHAPES),
    st.sampled_from([0.0, 0.5, 0.995, 1.0]),
    st.sampled_from([0.0, 0.9, 0.97, 1.0]),
    st.sampled_from(["terminal", "bootstrap"]),
)
def test_equals_the_double_sum(seed, shape, gamma, gae_lambda, time_limit):
    seen, values, following = random_case(seed, shape)
    wanted, _ = gae(seen, values, following, gamma, gae_lambda, time_limit)
    found = jitted(seen, values, following, gamma, gae_lambda, time_limit, "td-lambda")
    size = np.abs(wanted).max() + np.abs(values).max()
    np.testing.assert_allclose(found.advantages, wanted, rtol=1e-5, atol=1e-5 * size)
    np.testing.assert_allclose(found.targets, wanted + values, rtol=1e-5, atol=1e-5 * size)


def test_equals_the_double_sum_in_double_precision():
    """100 cases at 1e-12: no room for a formula that is nearly right."""
    with jax.enable_x64(True):
        for seed in range(100):
            seen, values, following = random_case(seed, (2, 7), np.float64)
            wanted, _ = gae(seen, values, following, 0.99, 0.95)
            found = jitted(seen, values, following, 0.99, 0.95, "bootstrap", "td-lambda")
            assert found.advantages.dtype == np.float64
            size = np.abs(wanted).max()
            np.testing.assert_allclose(found.advantages, wanted, rtol=1e-12, atol=1e-12 * size)


#              step 0   step 1        step 2       step 3 (batch ends, episode goes on)
# reward         1        2             3             4
# V(s), V(s')  10, 20   20, 30        40, 50        60, 70
# ends                  truncated     terminated
# With gamma = lambda = 1/2 (gamma lambda = 1/4):
# delta_3 = 4 + 35 - 60 = -21                        A_3 = -21
# delta_2 = 3 +  0 - 40 = -37                        A_2 = -37
# delta_1 = 2 + 15 - 20 = -3  (bootstrap), 2 - 20 = -18 (terminal): the recursion stops here
# delta_0 = 1 + 10 - 10 = 1                          A_0 = 1 + A_1 / 4
HAND = {
    "seen": trajectories([[1, 2, 3, 4]], [[0, 0, 1, 0]], [[0, 1, 0, 0]]),
    "values": np.array([[10, 20, 40, 60]], np.float32),
    "following": np.array([[20, 30, 50, 70]], np.float32),
    "gamma": 0.5,
    "gae_lambda": 0.5,
}


@pytest.mark.parametrize(
    ("time_limit", "advantages"),
    [("bootstrap", [0.25, -3, -37, -21]), ("terminal", [-3.5, -18, -37, -21])],
)
def test_by_hand(time_limit, advantages):
    found = jitted(**HAND, time_limit=time_limit, target="td-lambda")
    np.testing.assert_array_equal(found.advantages, [advantages])
    np.testing.assert_array_equal(found.targets, HAND["values"] + np.array([advantages]))


def test_td_zero_target_is_one_step_ahead():
    # r + V(s')/2 without a successor at the termination: 1 + 10, 2 + 15, 3, 4 + 35
    found = jitted(**HAND, time_limit="bootstrap", target="td-zero")
    np.testing.assert_array_equal(found.targets, [[11, 17, 3, 39]])
    np.testing.assert_array_equal(found.advantages, [[0.25, -3, -37, -21]])


def test_both_flags_at_once_count_as_termination():
    seen = trajectories([[1.0]], [[1]], [[1]])
    one = np.array([[5.0]], np.float32)
    found = jitted(seen, one, one, 0.9, 0.97, "bootstrap", "td-lambda")
    assert float(found.advantages[0, 0]) == 1.0 - 5.0


def test_lambda_one_is_the_discounted_reward_to_go():
    """With lambda = 1 all values but the first and the last cancel."""
    rng = np.random.default_rng(0)
    seen = trajectories(rng.normal(size=(2, 7)), np.eye(7, dtype=bool)[[6, 6]], np.zeros((2, 7)))
    values = rng.normal(size=(2, 8)).astype(np.float32)
    found = jitted(seen, values[:, :-1], values[:, 1:], 0.9, 1.0, "bootstrap", "td-lambda")
    for e in range(2):
        for t in range(7):
            to_go = sum(0.9 ** (s - t) * float(seen.rewards[e, s]) for s in range(t, 7))
            np.testing.assert_allclose(found.targets[e, t], to_go, rtol=1e-5, atol=1e-6)


def test_end_of_batch_bootstraps_in_either_mode():
    seen = trajectories([[1.0]], [[0]], [[0]])
    for time_limit in ("terminal", "bootstrap"):
        one = np.array([[5.0]], np.float32)
        found = jitted(seen, one, 2 * one, 0.5, 0.5, time_limit, "td-lambda")
        assert float(found.advantages[0, 0]) == 1.0 + 0.5 * 10.0 - 5.0


def test_scale():
    raw = np.array([1.0, 2.0, 6.0], np.float32)  # mean 3, std sqrt((4 + 1 + 9) / 3)
    np.testing.assert_array_equal(scale(raw, "raw"), raw)
    np.testing.assert_allclose(scale(raw, "centred"), [-2, -1, 3], rtol=1e-6)
    np.testing.assert_allclose(
        scale(raw, "standardised"), np.array([-2, -1, 3]) / np.sqrt(14 / 3), rtol=1e-6
    )


@pytest.mark.parametrize("value", [0.0, 1.0, -0.1, 1000.1])
def test_equal_advantages_scale_to_zeros(value):
    """Rounding of the mean must not be blown up to advantages of size one."""
    raw = np.full(5000, value, np.float32)
    np.testing.assert_allclose(scale(jax.numpy.asarray(raw), "standardised"), 0.0, atol=1e-2)
