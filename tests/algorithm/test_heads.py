"""Action distributions against scipy, direct sums and numerical integration."""

import itertools
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

from mppo.algorithm.heads import Categorical, Gaussian, Product

HEADS = [
    Gaussian(1),
    Gaussian(3),
    Categorical((4,)),
    Categorical((2, 3)),
    Product((Gaussian(2), Categorical((3,)), Gaussian(1))),
]
ids = [repr(head) for head in HEADS]
numbers = st.floats(-3, 3, width=32)


@pytest.fixture(autouse=True, scope="module")
def _double_precision():
    with jax.enable_x64(True):
        yield


def draw(head, seed, scale=1.0):
    """Random statistics."""
    return scale * np.random.default_rng(seed).normal(size=head.outputs + head.free)


@lru_cache
def of(head, name, *settings):
    """A head's method, compiled once: most of the time here would go into single operations."""
    return jax.jit(lambda *arrays: getattr(head, name)(*arrays, *settings))


def softmax(logits):
    return np.exp(logits) / np.exp(logits).sum()


@settings(max_examples=200)
@given(st.lists(st.tuples(numbers, numbers, numbers), min_size=3, max_size=3))
def test_gaussian_log_prob_and_entropy_are_those_of_scipy(rows):
    mean, log_std, action = np.array(rows).T
    statistics, head = np.concatenate([mean, log_std]), Gaussian(3)
    normal = scipy.stats.norm(mean, np.exp(log_std))
    assert of(head, "log_prob")(statistics, action) == pytest.approx(
        normal.logpdf(action).sum(), rel=1e-10, abs=1e-10
    )
    assert of(head, "entropy")(statistics) == pytest.approx(
        normal.entropy().sum(), rel=1e-10, abs=1e-10
    )


@settings(max_examples=50)
@given(numbers, numbers, numbers, numbers)
def test_gaussian_kl_is_the_integral(mean, log_std, mean_2, log_std_2):
    head, log_std, log_std_2 = Gaussian(1), log_std / 2, log_std_2 / 2
    one, other = np.array([mean, log_std]), np.array([mean_2, log_std_2])
    p = scipy.stats.norm(mean, np.exp(log_std))
    q = scipy.stats.norm(mean_2, np.exp(log_std_2))
    spread = 12 * np.exp(log_std)
    wanted, _ = integrate.quad(
        lambda a: p.pdf(a) * (p.logpdf(a) - q.logpdf(a)), mean - spread, mean + spread
    )
    assert float(of(head, "kl")(one, other)) == pytest.approx(wanted, rel=1e-6, abs=1e-8)


@settings(max_examples=100)
@given(st.lists(numbers, min_size=5, max_size=5), st.lists(numbers, min_size=5, max_size=5))
def test_categorical_is_the_sum_over_all_joint_choices(one, other):
    head = Categorical((2, 3))
    p = np.outer(softmax(one[:2]), softmax(one[2:]))
    q = np.outer(softmax(other[:2]), softmax(other[2:]))
    for a, b in itertools.product(range(2), range(3)):
        found = of(head, "log_prob")(np.array(one), np.array([a, b], np.float32))
        assert found == pytest.approx(np.log(p[a, b]), rel=1e-10)
    assert of(head, "entropy")(np.array(one)) == pytest.approx(
        scipy.stats.entropy(p.ravel()), rel=1e-10, abs=1e-12
    )
    assert of(head, "kl")(np.array(one), np.array(other)) == pytest.approx(
        scipy.stats.entropy(p.ravel(), q.ravel()), rel=1e-8, abs=1e-12
    )
    assert of(head, "entropy", 2.0)(np.array(one)) == pytest.approx(1 - np.sum(p**2), rel=1e-10)
    assert of(head, "entropy", 0.5)(np.array(one)) == pytest.approx(
        (1 - np.sum(np.sqrt(p))) / -0.5, rel=1e-10
    )


@pytest.mark.parametrize("q", [0.5, 2.0, 3.0])
def test_gaussian_tsallis_entropy_is_the_integral(q):
    mean, log_std = np.array([0.3, -1.0]), np.array([0.2, -0.7])
    integrals = [
        integrate.quad(
            lambda a, m=m, s=s: scipy.stats.norm(m, np.exp(s)).pdf(a) ** q, m - 30, m + 30
        )[0]
        for m, s in zip(mean, log_std, strict=True)
    ]
    wanted = (1 - np.prod(integrals)) / (q - 1)
    found = Gaussian(2).entropy(np.concatenate([mean, log_std]), q)
    assert float(found) == pytest.approx(wanted, rel=1e-7)


@pytest.mark.parametrize("head", HEADS, ids=ids)
def test_tsallis_tends_to_shannon(head):
    statistics = draw(head, 1)
    shannon = float(of(head, "entropy")(statistics))
    for q in (1 - 1e-6, 1 + 1e-6):
        assert float(of(head, "entropy", q)(statistics)) == pytest.approx(
            shannon, rel=1e-4, abs=1e-4
        )


def test_product_is_the_sum_of_its_parts():
    head = HEADS[-1]
    one, other = draw(head, 2), draw(head, 3)
    action = np.array([0.5, -0.5, 2.0, 1.0])
    # statistics: 2 means, 2 log-stds | 3 logits | mean, log-std; actions: 2 | 1 | 1
    cut = [(slice(0, 4), slice(0, 2)), (slice(4, 7), slice(2, 3)), (slice(7, 9), slice(3, 4))]
    parts = list(zip(head.heads, cut, strict=True))
    log_prob = sum(of(part, "log_prob")(one[s], action[a]) for part, (s, a) in parts)
    assert of(head, "log_prob")(one, action) == pytest.approx(float(log_prob), rel=1e-12)
    kl = sum(of(part, "kl")(one[s], other[s]) for part, (s, _) in parts)
    assert of(head, "kl")(one, other) == pytest.approx(float(kl), rel=1e-12)
    entropy = sum(of(part, "entropy")(one[s]) for part, (s, _) in parts)
    assert of(head, "entropy")(one) == pytest.approx(float(entropy), rel=1e-12)
    # the integral of p^2 of independent parts is the product of theirs
    powers = np.prod([1 - float(of(part, "entropy", 2.0)(one[s])) for part, (s, _) in parts])
    assert of(head, "entropy", 2.0)(one) == pytest.approx(1 - powers, rel=1e-12)
    assert (head.outputs, head.free, head.size) == (2 + 3 + 1, 2 + 0 + 1, 2 + 1 + 1)


def test_product_statistics_are_sorted_by_head():
    head = Product((Gaussian(1), Categorical((2,)), Gaussian(1)))
    found = head.statistics(jnp.array([1.0, 2.0, 3.0, 4.0]), jnp.array([10.0, 20.0]))
    np.testing.assert_array_equal(found, [1, 10, 2, 3, 4, 20])


@pytest.mark.parametrize("head", HEADS, ids=ids)
def test_fisher_is_the_hessian_of_kl_at_equality(head):
    def pair(statistics, tangent):
        hessian = jax.hessian(lambda other: head.kl(statistics, other))(statistics)
        return head.fisher(statistics, tangent), hessian @ tangent

    statistics = np.array([draw(head, seed) for seed in range(20)])
    tangents = np.array([draw(head, 100 + seed) for seed in range(20)])
    found, wanted = jax.jit(jax.vmap(pair))(statistics, tangents)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("head", HEADS, ids=ids)
def test_kl_is_zero_at_equality_and_positive_elsewhere(head):
    for seed in range(20):
        one, other = draw(head, seed), draw(head, 50 + seed)
        assert float(of(head, "kl")(one, one)) == 0.0
        assert float(of(head, "kl")(one, other)) > 0.0


def test_gaussian_samples_are_normal():
    """Kolmogorov and Smirnov on 20,000 samples of each coordinate."""
    head, rng = Gaussian(2), np.random.default_rng(0)
    statistics = np.tile(np.array([1.0, -2.0, 0.5, -1.0], np.float32), (20_000, 1))
    actions = head.act(statistics, head.noise(rng, (20_000,)))
    for n, (mean, std) in enumerate([(1.0, np.exp(0.5)), (-2.0, np.exp(-1.0))]):
        assert scipy.stats.kstest(actions[:, n], scipy.stats.norm(mean, std).cdf).pvalue > 0.01
    assert abs(np.corrcoef(actions.T)[0, 1]) < 0.02


def test_categorical_samples_are_softmax():
    """Chi-square on the joint counts of 20,000 samples."""
    head, rng = Categorical((2, 3)), np.random.default_rng(1)
    logits = np.array([0.0, 1.0, -1.0, 0.5, 0.0], np.float32)
    noise = head.noise(rng, (20_000,))
    actions = head.act(np.tile(logits, (20_000, 1)), noise).astype(int)
    wanted = np.outer(softmax(logits[:2]), softmax(logits[2:]))
    counts = np.zeros((2, 3))
    np.add.at(counts, tuple(actions.T), 1)
    assert scipy.stats.chisquare(counts.ravel(), 20_000 * wanted.ravel()).pvalue > 0.01


def test_product_samples_each_head_with_its_own_noise():
    head, rng = Product((Categorical((2,)), Gaussian(1))), np.random.default_rng(2)
    statistics = np.tile(np.array([0.0, np.log(3.0), 5.0, 0.0], np.float32), (20_000, 1))
    actions = head.act(statistics, head.noise(rng, (20_000,)))
    assert actions[:, 0].mean() == pytest.approx(0.75, abs=0.01)
    assert scipy.stats.kstest(actions[:, 1], scipy.stats.norm(5, 1).cdf).pvalue > 0.01
    assert abs(np.corrcoef(actions.T)[0, 1]) < 0.02


def test_zero_noise_is_the_mode():
    gaussian = np.array([1.0, -2.0, 0.5, 0.5], np.float32)
    np.testing.assert_array_equal(Gaussian(2).act(gaussian, np.zeros(2)), [1.0, -2.0])
    choices = np.array([0.0, 1.0, 3.0, 2.0, 1.0], np.float32)
    np.testing.assert_array_equal(Categorical((2, 3)).act(choices, np.zeros(5)), [1.0, 0.0])
    both = Product((Gaussian(1), Categorical((2,))))
    np.testing.assert_array_equal(
        both.act(np.array([4.0, 0.0, 1.0, 2.0], np.float32), np.zeros(3)), [4.0, 1.0]
    )


@pytest.mark.parametrize("head", HEADS, ids=ids)
def test_single_precision_is_close_to_double(head):
    one, other = draw(head, 7), draw(head, 8)
    action = head.act(one, np.zeros(head.outputs))
    numbers = lambda one, other, action: (
        of(head, "log_prob")(one, action),
        of(head, "entropy")(one),
        of(head, "kl")(one, other),
    )
    wanted = numbers(one, other, action)
    one, other, action = (jnp.asarray(x, jnp.float32) for x in (one, other, action))
    found = numbers(one, other, action)
    assert all(x.dtype == jnp.float32 for x in found)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
