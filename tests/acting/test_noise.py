"""Persistent noise: exact marginals at every step, and the correlation that was asked for.

The columns of one wide draw are independent of each other, so each step of it is a plain sample:
no thinning, no loss of power.
"""

import math

import jax
import numpy as np
import pytest
import scipy.stats

from mppo.acting.actor import Actor, Ensemble, draw_noise, gumbel
from mppo.algorithm.heads import Categorical, Gaussian, Product
from mppo.algorithm.networks import Mlp
from mppo.algorithm.policies import Architecture
from mppo.algorithm.styles import ALIKE, Style

WIDE, STEPS = 12_000, 4
RHO = 0.8
STYLE = Style(persistence=RHO, choice_persistence=0.9)
HEADS = [
    Gaussian(2),
    Categorical((3,)),
    Categorical((2, 3)),
    Product((Gaussian(2), Categorical((3,)), Gaussian(1))),
]


def rng(seed=0):
    return np.random.default_rng(seed)


def p_values(noise, distribution):
    """Of Kolmogorov-Smirnov, for each step [T, n]."""
    return [scipy.stats.kstest(row, distribution).pvalue for row in noise]


def lagged(normal, lag):
    """Correlation over columns between steps that lie `lag` apart, one for each first step."""
    pairs = zip(normal[:-lag], normal[lag:], strict=True)
    return np.array([np.mean(one * other) for one, other in pairs])


@pytest.mark.parametrize("rho", [0.3, RHO, 0.99])
def test_gaussian_noise_is_standard_normal_at_every_step_and_decays_as_rho_to_the_k(rho):
    noise = draw_noise(Gaussian(WIDE), rng(), STEPS, Style(persistence=rho))
    assert (noise.shape, noise.dtype) == ((STEPS, WIDE), np.float32)
    assert min(p_values(noise, "norm")) > 1e-3
    for lag in range(1, STEPS):
        error = math.sqrt((1 + rho ** (2 * lag)) / WIDE)  # of a mean of products of normals
        np.testing.assert_allclose(lagged(noise, lag), rho**lag, atol=4 * error)


def test_the_sequence_of_one_column_is_stationary_over_a_long_time():
    """rho^k along time too, 40,000 steps of two actions: Bartlett's error at lag k."""
    steps = 40_000
    noise = draw_noise(Gaussian(2), rng(1), steps, Style(persistence=RHO)).astype(float)
    error = math.sqrt((1 + RHO**2) / (1 - RHO**2) / steps)
    for column in noise.T:
        assert column.std() == pytest.approx(1, abs=4 * error)
        for lag in (1, 2, 5, 20):
            found = np.mean(column[:-lag] * column[lag:])
            assert found == pytest.approx(RHO**lag, abs=4 * 1.5 * error)
    assert abs(np.corrcoef(noise.T)[0, 1]) < 4 * error  # actions do not depend on each other


LOGITS = [(0.0, 0.0, 0.0), (2.0, 0.0, -1.0), (0.3, -3.0, 0.5)]


@pytest.mark.parametrize("logits", LOGITS)
def test_choices_are_samples_of_the_softmax_at_every_step(logits):
    noise = draw_noise(Categorical((3 * WIDE,)), rng(), STEPS, Style(choice_persistence=0.9))
    chosen = Categorical((3,)).act(np.array(logits), noise.reshape(STEPS, WIDE, 3))[..., 0]
    wanted = np.exp(logits) / np.exp(logits).sum()
    error = np.sqrt(wanted * (1 - wanted) / WIDE)
    for row in chosen:
        found = np.bincount(row.astype(int), minlength=3) / WIDE
        np.testing.assert_array_less(np.abs(found - wanted), 4 * error)
    # and they persist: the same choice again is far more frequent than by chance
    again = np.mean(chosen[1:] == chosen[:-1])
    assert again > np.sum(wanted**2) + 0.1


def test_noise_of_choices_is_gumbel_over_a_normal_copula():
    rho = 0.9
    noise = draw_noise(Categorical((WIDE,)), rng(), STEPS, Style(choice_persistence=rho))
    assert noise.dtype == np.float32
    assert min(p_values(noise, "gumbel_r")) > 1e-3
    normal = scipy.stats.norm.ppf(scipy.stats.gumbel_r.cdf(noise.astype(float)))
    for lag in (1, 3):
        error = math.sqrt((1 + rho ** (2 * lag)) / WIDE)
        np.testing.assert_allclose(lagged(normal, lag), rho**lag, atol=4 * error)


def test_products_are_noisy_part_by_part():
    third = WIDE // 3
    head = Product((Gaussian(third), Categorical((third,)), Gaussian(third)))
    noise = draw_noise(head, rng(), STEPS, STYLE)
    parts = np.split(noise, 3, axis=1)
    for part, distribution in zip(parts, ("norm", "gumbel_r", "norm"), strict=True):
        assert min(p_values(part, distribution)) > 1e-3
    tolerance = 4 * math.sqrt(2 / third)
    np.testing.assert_allclose(lagged(parts[0], 1), RHO, atol=tolerance)
    np.testing.assert_allclose(lagged(parts[2], 1), RHO, atol=tolerance)
    normal = scipy.stats.norm.ppf(scipy.stats.gumbel_r.cdf(parts[1].astype(float)))
    np.testing.assert_allclose(lagged(normal, 1), STYLE.choice_persistence, atol=tolerance)
    assert abs(np.mean(parts[0] * parts[2])) < tolerance  # the parts are strangers


@pytest.mark.parametrize("head", [Gaussian(3), Categorical((3,)), Categorical((2, 2))], ids=repr)
def test_a_block_goes_on_exactly_where_the_one_before_ended(head):
    whole = draw_noise(head, rng(5), 12, STYLE)
    stream, before = rng(5), np.full(head.outputs, np.nan)
    parts = [draw_noise(head, stream, steps, STYLE, before) for steps in (1, 4, 7)]
    np.testing.assert_allclose(np.concatenate(parts), whole, rtol=1e-6, atol=1e-6)


def test_across_the_border_of_two_blocks_the_correlation_is_rho():
    stream, before = rng(2), np.full(WIDE, np.nan)
    first, second = (
        draw_noise(Gaussian(WIDE), stream, 2, Style(persistence=RHO), before) for _ in range(2)
    )
    np.testing.assert_allclose(before, second[-1], rtol=1e-6)
    error = math.sqrt(2 / WIDE)
    assert np.mean(first[-1] * second[0]) == pytest.approx(RHO, abs=4 * error)
    assert np.mean(first[0] * second[0]) == pytest.approx(RHO**2, abs=4 * error)
    assert min(p_values(second, "norm")) > 1e-3


@pytest.mark.parametrize("head", HEADS, ids=repr)
def test_where_there_was_no_step_before_it_begins_anew(head):
    fresh = draw_noise(head, rng(3), 5, STYLE)
    before = np.full(head.outputs, np.nan)
    np.testing.assert_array_equal(draw_noise(head, rng(3), 5, STYLE, before), fresh)
    assert np.isfinite(before).all()


def test_each_number_goes_on_or_begins_anew_by_itself():
    before = np.array([np.nan, 5.0])
    noise = draw_noise(Gaussian(2), rng(3), 1, Style(persistence=RHO), before)
    white = rng(3).standard_normal((1, 2))
    wanted = [white[0, 0], RHO * 5 + math.sqrt(1 - RHO**2) * white[0, 1]]
    np.testing.assert_allclose(noise[0], wanted, rtol=1e-6)
    np.testing.assert_allclose(before, wanted, rtol=1e-12)


@pytest.mark.parametrize("head", HEADS, ids=repr)
def test_white_noise_has_the_very_bits_of_the_head(head):
    before = np.full(head.outputs, 7.0)
    found = draw_noise(head, rng(4), 6, ALIKE, before)
    wanted = head.noise(rng(4), (6,))
    assert (found.dtype, found.tobytes()) == (wanted.dtype, wanted.tobytes())
    np.testing.assert_array_equal(before, 7.0)  # nobody needs them


def test_a_style_may_persist_in_one_kind_of_action_alone():
    head = Product((Categorical((3,)), Gaussian(2)))
    found = draw_noise(head, rng(4), 6, Style(persistence=RHO))
    white = Categorical((3,)).noise(rng(4), (6,))
    np.testing.assert_array_equal(found[:, :3], white)
    assert not np.array_equal(found[:, 3:], head.noise(rng(4), (6,))[:, 3:])


def test_both_tails_of_gumbel_keep_their_digits():
    """-log(-log Phi(z)): far right it is -log of the upper tail, far left -log(-log Phi)."""
    found = gumbel(np.array([-30.0, -8.0, 8.0, 30.0]))
    log_tail = [float(scipy.stats.norm.logsf(z)) for z in (8, 30)]  # of either side, by symmetry
    wanted = [-math.log(-log_tail[1]), -math.log(-log_tail[0]), -log_tail[0], -log_tail[1]]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    ranks = gumbel(np.linspace(-8, 8, 2001))
    assert np.isfinite(ranks).all()
    assert (np.diff(ranks) > 0).all()


def make(head, style=ALIKE, seed=0):
    architecture = Architecture(3, head, Mlp((4,)))
    shapes = jax.eval_shape(architecture.init, jax.random.key(0))
    draw = rng(seed)
    policy = jax.tree.map(lambda x: draw.uniform(0.5, 1, x.shape).astype(np.float32), shapes)
    return Actor(architecture, policy, style), policy


@pytest.mark.parametrize("head", [Gaussian(2), HEADS[3]], ids=repr)
def test_actors_act_with_the_noise_of_their_style(head):
    actor, policy = make(head, STYLE)
    found = actor.noise(rng(6), 9)
    wanted = draw_noise(head, rng(6), 9, STYLE)
    if isinstance(head, Gaussian):  # of others `act` scales
        wanted = wanted * np.exp(policy.parameters.free)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    before = np.full(head.outputs, np.nan)
    stream = rng(6)
    parts = [actor.noise(stream, 1, before) for _ in range(2)]
    assert np.isfinite(before).all()
    np.testing.assert_allclose(parts[0][0, :2], wanted[0, :2], rtol=1e-6)


@pytest.mark.parametrize("head", HEADS, ids=repr)
def test_an_ensemble_lets_each_actor_act_for_itself(head):
    actors = [make(head, seed=seed)[0] for seed in range(3)]
    observations = rng(7).normal(size=(3, 3)).astype(np.float32)
    noise = np.stack([actor.noise(rng(n), 1)[0] for n, actor in enumerate(actors)])
    for drawn in (noise, None):
        found = Ensemble(actors).act(observations, drawn)
        assert found.shape == (3, head.size)
        for e, actor in enumerate(actors):
            alone = actor.act(observations[e], None if drawn is None else drawn[e])
            np.testing.assert_array_equal(found[e], alone)
    with pytest.raises(ValueError, match="zip"):
        Ensemble(actors).act(observations[:2], None)
