"""The clipped objective and its Adam against plain NumPy."""

from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mppo.algorithm import filters
from mppo.algorithm.exploration.none import no_bonus
from mppo.algorithm.heads import Gaussian
from mppo.algorithm.networks import Layer, Mlp
from mppo.algorithm.optimisers.ppo import Ppo
from mppo.algorithm.policies import Architecture, Parameters, Policy
from mppo.algorithm.surrogate import log_probs, ratios, statistics
from mppo.algorithm.types import Batch
from tests.oracles import all_finite

LINEAR = Architecture(2, Gaussian(1), Mlp(()), filtered=False)
N = 32


@lru_cache
def jitted(ppo):
    run = lambda state, policy, batch, key: ppo.update(LINEAR, state, policy, batch, no_bonus, key)
    return jax.jit(run)


def update(ppo, policy, batch, key=0):
    return jitted(ppo)(ppo.init(policy.parameters), policy, batch, jax.random.key(key))


def make(seed=0, n=N):
    """A linear Gaussian policy and a batch of samples of a policy nearby."""
    rng = np.random.default_rng(seed)
    normal = lambda *shape: rng.normal(size=shape).astype(np.float32)
    layer = Layer(normal(2, 1), normal(1))
    policy = Policy(Parameters((layer,), np.array([-0.3], np.float32)), filters.init(2))
    observations = normal(n, 2)
    stats = statistics(LINEAR, policy, observations)
    actions = np.asarray(stats[:, :1]) + np.float32(np.exp(-0.3)) * normal(n, 1)
    advantages = normal(n)
    logs = log_probs(LINEAR, stats, actions)
    return policy, Batch(observations, actions, stats, logs, advantages, advantages)


def plain_log_prob(theta, observations, actions):
    """Log density of a linear Gaussian policy and its derivative; theta = W, b, log sigma."""
    mean = observations @ theta[:2] + theta[2]
    z = (actions[:, 0] - mean) / np.exp(theta[3])
    value = -0.5 * z**2 - theta[3] - 0.5 * np.log(2 * np.pi)
    to_mean = z / np.exp(theta[3])
    derivative = np.stack(
        [to_mean * observations[:, 0], to_mean * observations[:, 1], to_mean, z**2 - 1], axis=1
    )
    return value, derivative


def plain_gradient(theta, batch, clip):
    """Derivative of mean min(r A, clip(r) A): zero where the clipped term is the smaller one."""
    log_prob, derivative = plain_log_prob(theta, batch.observations, batch.actions)
    ratio, A = np.exp(log_prob - batch.log_probs), batch.advantages
    active = ratio * A <= np.clip(ratio, 1 - clip, 1 + clip) * A
    return np.mean((active * A * ratio)[:, None] * derivative, axis=0)


def plain_adam(theta, gradient_of, steps, rate, epsilon):
    m, v = np.zeros_like(theta), np.zeros_like(theta)
    for t in range(1, steps + 1):
        g = -gradient_of(theta)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        step = (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + epsilon)
        theta = theta - rate * step
    return theta


def as_vector(policy):
    (layer,) = policy.parameters.network
    parts = [np.ravel(layer.weights), np.ravel(layer.biases), np.ravel(policy.parameters.free)]
    return np.concatenate(parts).astype(np.float64)


@pytest.mark.parametrize(("rate", "epochs"), [(1e-3, 1), (0.05, 12)])
def test_equals_plain_adam_on_the_clipped_objective(rate, epochs):
    """One minibatch as large as the batch: no order to depend on; the larger rate clips many."""
    ppo = Ppo(learning_rate=rate, epochs=epochs, minibatch=N)
    policy, batch = make()
    plain = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), batch)
    gradient_of = partial(plain_gradient, batch=plain, clip=0.2)
    wanted = plain_adam(as_vector(policy), gradient_of, epochs, rate, 1e-5)
    improved, _, log = update(ppo, policy, batch)
    np.testing.assert_allclose(as_vector(improved), wanted, rtol=1e-3, atol=1e-5)
    if epochs > 1:
        assert float(log["clip_fraction"]) > 0.1
    new, _ = plain_log_prob(wanted, plain.observations, plain.actions)
    ratio = np.exp(new - plain.log_probs)
    assert float(log["surrogate_gain"]) == pytest.approx(
        np.mean((ratio - 1) * plain.advantages), rel=1e-2, abs=1e-5
    )


def test_gradient_by_hand():
    """Four samples with ratios 1.5, 1.5, 0.5, 0.5 and advantages of either sign.

    min(r A, clip(r) A) is flat for r = 1.5, A = 1 and for r = 0.5, A = -1; the other two count:
    A r d(log pi) = -1.5 d2 + 0.5 d3, mean over four.
    """
    policy, batch = make(n=4)
    log_prob, derivative = plain_log_prob(as_vector(policy), batch.observations, batch.actions)
    shifted = log_prob - np.log([1.5, 1.5, 0.5, 0.5])
    advantages = np.array([1.0, -1.0, 1.0, -1.0])
    batch = batch._replace(
        log_probs=shifted.astype(np.float32), advantages=advantages.astype(np.float32)
    )
    wanted = (-1.5 * derivative[1] + 0.5 * derivative[2]) / 4
    plain = plain_gradient(as_vector(policy), batch, 0.2)
    np.testing.assert_allclose(plain, wanted, rtol=1e-5)
    # one step of Adam from rest moves every parameter by rate * g / (|g| + epsilon)
    improved, _, _ = update(Ppo(epochs=1, minibatch=4), policy, batch)
    step = 3e-4 * wanted / (np.abs(wanted) + 1e-5)
    np.testing.assert_allclose(as_vector(improved) - as_vector(policy), step, rtol=2e-3, atol=1e-7)


def test_improves_a_simple_batch():
    """Actions above the mean are good: the mean goes up, and so does the surrogate."""
    policy, batch = make(3)
    above = np.sign(batch.actions[:, 0] - np.asarray(batch.statistics)[:, 0])
    batch = batch._replace(advantages=above.astype(np.float32))
    improved, _, log = update(Ppo(learning_rate=3e-3, minibatch=8), policy, batch)
    ratio = ratios(LINEAR, improved, batch)
    assert float(log["surrogate_gain"]) > 0.1
    assert float(jnp.mean((ratio - 1) * above)) == pytest.approx(
        float(log["surrogate_gain"]), rel=1e-5
    )
    assert float(improved.parameters.network[0].biases[0]) > float(
        policy.parameters.network[0].biases[0]
    )
    assert 0 < float(log["kl"]) < 0.5


def test_zero_advantages_change_nothing():
    policy, batch = make(1)
    improved, state, log = update(
        Ppo(minibatch=8), policy, batch._replace(advantages=np.zeros(N, np.float32))
    )
    np.testing.assert_array_equal(as_vector(improved), as_vector(policy))
    assert all_finite((state, log))
    assert (float(log["kl"]), float(log["clip_fraction"])) == (0.0, 0.0)


def test_state_goes_on():
    """Adam's step count and moments are carried from update to update."""
    ppo = Ppo(epochs=2, minibatch=8)
    policy, batch = make()
    improved, state, _ = update(ppo, policy, batch)
    counts = [leaf for leaf in jax.tree.leaves(state) if leaf.ndim == 0]
    assert [int(count) for count in counts] == [2 * N // 8]
    again, later, _ = jitted(ppo)(state, improved, batch, jax.random.key(1))
    from_rest, _, _ = update(ppo, improved, batch, key=1)
    assert not np.allclose(as_vector(again), as_vector(from_rest), atol=1e-7)
    counts = [leaf for leaf in jax.tree.leaves(later) if leaf.ndim == 0]
    assert [int(count) for count in counts] == [4 * N // 8]


def test_entropy_coefficient_widens():
    policy, batch = make(1)
    batch = batch._replace(advantages=np.zeros(N, np.float32))
    # the gradient of the entropy in log sigma is 1: Adam moves it by the rate at every step
    improved, _, _ = update(Ppo(epochs=1, minibatch=N, entropy_coefficient=1.0), policy, batch)
    rise = float(improved.parameters.free[0]) - float(policy.parameters.free[0])
    assert rise == pytest.approx(3e-4, rel=1e-3)


def test_gradient_norm_is_clipped():
    """Adam does not see the size of a constant gradient; its first moment does."""
    policy, batch = make(4)
    ppo = Ppo(epochs=1, minibatch=N, max_gradient_norm=1e-3)
    _, state, _ = update(ppo, policy, batch)
    moments = [leaf for leaf in jax.tree.leaves(state) if leaf.ndim > 0]
    first = moments[: len(moments) // 2]
    length = np.sqrt(sum(float(jnp.sum(leaf**2)) for leaf in first))
    assert length == pytest.approx(0.1 * 1e-3, rel=1e-4)


def approximate_kl(policy, batch):
    """Mean of r - 1 - log r, by which the passes are ended."""
    log = np.log(np.asarray(ratios(LINEAR, policy, batch)))
    return float(np.mean(np.expm1(log) - log))


def test_passes_end_once_the_policy_is_too_far():
    """One minibatch a pass: the k-th step is taken exactly if the policy before it is near."""
    policy, batch = make()
    far = {"minibatch": N, "learning_rate": 0.03, "clip": 10.0}
    kls = [
        approximate_kl(update(Ppo(epochs=n, **far), policy, batch)[0], batch) for n in range(1, 9)
    ]
    assert kls == sorted(kls)  # each pass goes further
    target = (kls[3] + kls[4]) / 2 / 1.5
    stopped, state, log = update(Ppo(epochs=8, target_kl=target, **far), policy, batch)
    assert int(log["minibatches"]) == 5  # the fifth step led beyond it, the sixth is not taken
    expected, expected_state, _ = update(Ppo(epochs=5, **far), policy, batch)
    np.testing.assert_allclose(as_vector(stopped), as_vector(expected), atol=1e-6)
    counts = [int(s[0].count) for s in (state, expected_state)]
    assert counts == [5, 5]  # Adam has not gone on either


def test_a_target_out_of_reach_changes_nothing():
    policy, batch = make()
    ppo = Ppo(epochs=3, minibatch=8)
    plain, _, log = update(ppo, policy, batch)
    wide, _, said = update(Ppo(epochs=3, minibatch=8, target_kl=1e6), policy, batch)
    np.testing.assert_allclose(as_vector(wide), as_vector(plain), atol=1e-6)
    assert int(said["minibatches"]) == 3 * N // 8
    assert "minibatches" not in log
    with pytest.raises(ValueError, match="target_kl is -1"):
        Ppo(target_kl=-1)
