"""Squashed Gaussian actions against numerical integration over the bounded action itself."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

from mppo.algorithm.heads import Gaussian

HEAD = Gaussian(1, squashed=True)
CASES = [(0.0, 1.0), (0.7, 0.3), (-2.0, 0.5), (1.5, 2.0), (0.2, 0.05), (0.0, 4.0)]


def stats(mean, std):
    return jnp.array([mean, np.log(std)], jnp.float32)


def density(mean, std):
    """Of a in -1 ... 1, by the change of variables written out in double precision."""

    def at(a):
        u = np.arctanh(a)
        normal = np.exp(-0.5 * ((u - mean) / std) ** 2) / (std * np.sqrt(2 * np.pi))
        return normal / (1 - a * a)

    return at


def integral(function, mean, std):
    """Over a in -1 ... 1, as an integral over u, where nothing is steep."""
    wide = 12 * std
    f = lambda u: function(np.tanh(u)) * (1 - np.tanh(u) ** 2) if abs(np.tanh(u)) < 1 else 0.0
    return quad(f, mean - wide, mean + wide, limit=400, points=[mean, 0.0])[0]


@pytest.mark.parametrize(("mean", "std"), CASES)
def test_the_density_is_that_of_the_bounded_action(mean, std):
    for u in mean + std * np.array([-2.0, -0.5, 0.0, 1.0, 2.0]):
        if abs(u) < 6:  # beyond it, tanh in double precision has few digits left
            found = float(HEAD.log_prob(stats(mean, std), jnp.array([u], jnp.float32)))
            assert found == pytest.approx(np.log(density(mean, std)(np.tanh(u))), abs=2e-4)
    p = density(mean, std)
    assert integral(p, mean, min(std, 1.4)) == pytest.approx(1, abs=3e-3) or std > 1.4


@pytest.mark.parametrize(("mean", "std"), CASES)
def test_the_entropy_is_that_of_the_bounded_action(mean, std):
    slope = lambda u: 2 * (np.log(2) - u - np.logaddexp(0, -2 * u))  # log(1 - tanh(u)^2)
    minus_log = lambda u: 0.5 * ((u - mean) / std) ** 2 + np.log(std) + 0.5 * np.log(2 * np.pi)
    integrand = lambda u: np.exp(-minus_log(u)) * (minus_log(u) + slope(u))
    ends = (mean - 12 * std, mean + 12 * std)
    expected = quad(integrand, *ends, limit=400, points=[mean])[0]
    found = float(HEAD.entropy(stats(mean, std)))
    assert found == pytest.approx(expected, abs=2e-4 if std <= 1 else 2e-2)
    assert found <= np.log(2) + 1e-4  # that of the uniform distribution on -1 ... 1


@pytest.mark.parametrize(("mean", "std"), CASES[:3])
def test_tsallis_entropy(mean, std):
    normal = lambda u: np.exp(-0.5 * ((u - mean) / std) ** 2) / (std * np.sqrt(2 * np.pi))
    ends = (mean - 12 * std, mean + 12 * std)
    powers = quad(lambda u: normal(u) ** 2 * np.cosh(u) ** 2, *ends, limit=400, points=[mean])[0]
    assert float(HEAD.entropy(stats(mean, std), 2.0)) == pytest.approx(1 - powers, abs=2e-3)


@pytest.mark.parametrize("other", [(0.1, 0.8), (-0.5, 1.2)])
def test_kl_is_that_of_the_bounded_actions(other):
    mean, std = 0.3, 0.6
    p, q = density(mean, std), density(*other)
    expected = integral(lambda a: p(a) * np.log(p(a) / q(a)), mean, std)
    assert float(HEAD.kl(stats(mean, std), stats(*other))) == pytest.approx(expected, abs=1e-4)


def test_fisher_information_is_the_second_derivative_of_kl():
    at, tangent = stats(0.3, 0.6), jnp.array([0.5, -1.0])
    hessian = jax.hessian(lambda other: HEAD.kl(at, other))(at)
    np.testing.assert_allclose(HEAD.fisher(at, tangent), hessian @ tangent, rtol=1e-4)


def test_ratios_are_those_of_the_actions_before_tanh():
    plain, u = Gaussian(2), jnp.array([3.0, -9.0])
    one, other = jnp.array([1.0, -2.0, 0.1, 0.2]), jnp.array([0.5, -2.5, 0.0, 0.3])
    head = Gaussian(2, squashed=True)
    ratio = head.log_prob(one, u) - head.log_prob(other, u)
    assert float(ratio) == pytest.approx(
        float(plain.log_prob(one, u) - plain.log_prob(other, u)), abs=1e-4
    )
    assert np.isfinite(float(head.log_prob(one, jnp.array([50.0, -50.0]))))
