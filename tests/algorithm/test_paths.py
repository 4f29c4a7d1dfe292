"""What a style makes of a path: its start, its filter, what it is paid for, its successor."""

from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mppo.acting.actor import Actor
from mppo.algorithm import filters
from mppo.algorithm.advantages import carries_signal
from mppo.algorithm.contest import Contest
from mppo.algorithm.critic import Critic
from mppo.algorithm.estimates import fit_value, with_bonus
from mppo.algorithm.exploration.none import no_bonus
from mppo.algorithm.heads import Categorical, Gaussian, Product
from mppo.algorithm.methods import Method
from mppo.algorithm.networks import Mlp
from mppo.algorithm.optimisers.ppo import Ppo
from mppo.algorithm.optimisers.trpo import Trpo
from mppo.algorithm.paths import (
    came_along,
    fresh_path,
    in_sight_of,
    incentives,
    look,
    renewed,
    stepping,
)
from mppo.algorithm.performance import Outcome
from mppo.algorithm.policies import Architecture
from mppo.algorithm.population import member
from mppo.algorithm.sharing import Successes
from mppo.algorithm.styles import Style
from mppo.algorithm.surrogate import log_probs, mean_kl, statistics
from mppo.training.programs import programs
from tests.oracles import assert_same_bits, same_bits
from tests.worlds import random_trajectories, with_rewards


@dataclass(frozen=True)
class Ascent:
    """One step up the gradient of the whole objective: all that an update sees is in it."""

    rate: float = 0.05

    def init(self, parameters):
        return ()

    def update(self, architecture, state, policy, batch, bonus, key):
        def objective(parameters):
            moved = policy._replace(parameters=parameters)
            stats = statistics(architecture, moved, batch.observations)
            ratio = jnp.exp(log_probs(architecture, stats, batch.actions) - batch.log_probs)
            return jnp.mean(ratio * batch.advantages) + bonus(moved, batch.observations)

        gradient = jax.grad(objective)(policy.parameters)
        step = lambda leaf, slope: leaf + self.rate * slope
        new = policy._replace(parameters=jax.tree.map(step, policy.parameters, gradient))
        log = {"kl": mean_kl(architecture, new, batch), "followed": batch.advantages}
        return new, state, log


@dataclass(frozen=True)
class Far:
    """A bonus for what lies far from the origin: it has nothing to learn, and compiles fast."""

    def init(self, architecture, key):
        return jnp.zeros(())

    def reward(self, architecture, state, trajectories):
        return trajectories.rewards + 0.1 * jnp.sum(trajectories.observations**2, axis=-1)

    def bonus(self, architecture, state):
        return no_bonus

    def update(self, architecture, state, policy, performance, trajectories, key):
        return state + 1, {}


HEAD, NETWORK = Gaussian(2), Mlp((4,))
PLAIN = Method(
    Ascent(),
    paths=3,
    network=NETWORK,
    critic=Critic(epochs=1, minibatch=32, learning_rate=1e-2, network=Mlp((4,))),
    batch_size=64,
    gamma=0.9,
)
SHAPE = Architecture(3, HEAD, NETWORK, True, (1.0, 1.0))
RULE = Contest(caution=1.0, ahead=10.0, patience=2, share=2, looks_back=4)
rolled_out = partial(random_trajectories, envs=4, steps=16, observation=3, head=HEAD)


outputs = jax.jit(statistics, static_argnums=0)


def copied(tree):
    return jax.tree.map(lambda leaf: leaf.copy(), tree)


def learn(method, state, i, seen, architecture=SHAPE):
    """The new state and the numbers; the old state is kept."""
    compiled = programs(method, architecture)
    return compiled.learn(copied(state), jnp.asarray(i, jnp.int32), seen)


def begun(method, architecture=SHAPE, iteration=3):
    state = programs(method, architecture).init(jax.random.key(2))
    return state._replace(iteration=state.iteration + iteration)


def close(left, right, rtol=1e-5, atol=1e-6):
    for one, other in zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=atol)


# how paths begin

MIXED = Product((Categorical((2,)), Gaussian(2)))


@pytest.mark.parametrize("weights", ["normc", "orthogonal"])
def test_each_path_begins_with_the_output_scale_and_sigma_of_its_style(weights):
    styles = (Style(), Style(output_scale=2.0, sigma=0.3), Style(output_scale=0.5, sigma=3.0))
    network = Mlp((8,), weights=weights)
    method = replace(PLAIN, paths=5, styles=styles, network=network)
    state = programs(method, Architecture(3, MIXED, network)).init(jax.random.key(0))
    assert state.population.style.tolist() == [0, 1, 2, 0, 1]  # in turn
    last = state.population.policy.parameters.network[-1].weights
    lengths = np.linalg.norm(np.asarray(last), axis=1)  # [K, outputs]; each column's
    for k, style in enumerate([*styles, *styles[:2]]):
        np.testing.assert_allclose(lengths[k, :2], 0.01, rtol=1e-5)  # choices are alike always
        np.testing.assert_allclose(lengths[k, 2:], style.output_scale, rtol=1e-5)
        sigma = np.exp(np.asarray(state.population.policy.parameters.free[k]))
        np.testing.assert_allclose(sigma, style.sigma, rtol=1e-6)
    entropy = np.asarray(state.population.entropy)
    np.testing.assert_allclose(entropy[1] - entropy[0], 2 * np.log(0.3), rtol=1e-3)


def test_alike_is_the_start_of_a_method_without_styles():
    styled = replace(PLAIN, styles=(Style(), Style()))
    some_raw = replace(PLAIN, styles=(Style(), Style(filter="none")))  # of another path's style
    first = Architecture(3, MIXED, NETWORK)
    one, other, raw = (
        programs(method, architecture).init(jax.random.key(5))
        for method, architecture in (
            (PLAIN, first),
            (styled, first),
            (some_raw, replace(first, some_raw=True)),
        )
    )
    # compiled, the last layer's scale may be multiplied in another order
    close(one.population.policy, other.population.policy, rtol=2.5e-7, atol=0)
    assert_same_bits(
        one.population.policy.parameters.network[0].weights,
        other.population.policy.parameters.network[0].weights,
    )
    assert_same_bits(one.values, other.values)
    assert_same_bits(one.key, other.key)
    there = raw.population.policy
    close(member(there, 0), member(one.population.policy, 0), rtol=2.5e-7, atol=0)
    assert there.filter.count.tolist() == [np.float32(0.01), 0.0, np.float32(0.01)]


def test_paths_of_one_style_apart_are_unlike_each_other_and_alike_ones_are_not():
    """Differences of mean actions on the same observations, in standard deviations."""
    seen = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    apart = Style(output_scale=1.0, sigma=0.3)
    method = replace(PLAIN, paths=4, styles=(Style(), apart))
    policies = programs(method, SHAPE).init(jax.random.key(0)).population.policy
    means = [outputs(SHAPE, member(policies, k), seen)[:, :2] for k in range(4)]
    assert np.abs(means[0] - means[2]).mean() < 0.02
    assert np.abs(means[1] - means[3]).mean() / apart.sigma > 0.5


# how they see

RAW = replace(PLAIN, styles=(Style(filter="none"), Style(), Style(filter="folded")))
SOME_RAW = replace(SHAPE, some_raw=True)
looked = jax.jit(partial(look, RAW))
made = jax.jit(partial(fresh_path, RAW, SOME_RAW))


def grown(seed, style):
    """A policy of that style whose weights are not small, after two batches of its own."""
    rng = np.random.default_rng(seed)
    policy = made(style, jax.random.key(seed)).policy
    draw = lambda leaf: jnp.asarray(rng.normal(size=leaf.shape), jnp.float32)
    policy = policy._replace(parameters=jax.tree.map(draw, policy.parameters))
    centre, width = rng.normal(size=3) * 5, np.exp(rng.normal(size=3))
    batch = lambda shift: jnp.asarray(
        centre + width * (shift + rng.uniform(-1.7, 1.7, (64, 3))), jnp.float32
    )
    return looked(policy, style, batch(0.0), True), batch


@pytest.mark.parametrize("seed", range(6))
def test_a_folded_filter_moves_without_changing_the_policy(seed):
    policy, batch = grown(seed, 2)
    new = batch(1.0)
    moved = looked(policy, 2, new, False)
    close(moved.filter, filters.update(policy.filter, new))
    shift = np.abs(moved.filter.mean - policy.filter.mean) / filters.scale(policy.filter)
    assert shift.min() > 0.2  # it has moved
    seen = np.concatenate([new, batch(0.0)])
    for filter in (policy.filter, moved.filter):
        standard = (seen - np.asarray(filter.mean)) / np.asarray(filters.scale(filter))
        assert np.abs(standard).max() < filters.CLIP  # of what is clipped nothing is promised
    before, after = outputs(SOME_RAW, policy, seen), outputs(SOME_RAW, moved, seen)
    assert np.abs(before).max() > 0.5
    np.testing.assert_allclose(after, before, rtol=1e-4, atol=2e-5)
    acted = Actor(SOME_RAW, moved).outputs(seen)
    np.testing.assert_allclose(acted, before[:, :2], rtol=1e-4, atol=2e-5)
    # today's filter makes another policy of it
    plain = policy._replace(filter=moved.filter)
    assert np.abs(outputs(SOME_RAW, plain, seen) - before).max() > 0.05


def test_only_the_first_batch_of_a_run_is_not_folded_and_running_filters_never_are():
    for style, first in ((2, True), (1, False), (1, True)):
        policy, batch = grown(3, style)
        new = batch(1.0)
        moved = looked(policy, style, new, first)
        assert_same_bits(moved.parameters, policy.parameters)
        close(moved.filter, filters.update(policy.filter, new))


@pytest.mark.parametrize("seed", range(2))
def test_a_raw_path_sees_observations_as_they_are_whatever_came_by(seed):
    policy, batch = grown(seed, 0)
    moved = looked(policy, 0, batch(1.0), False)
    assert_same_bits(moved, policy)
    assert bool(filters.is_raw(moved.filter))
    seen = np.asarray(batch(0.0)) * 10  # far beyond the clip
    wanted = jax.vmap(partial(NETWORK.apply, policy.parameters.network))(seen)
    found = outputs(SOME_RAW, moved, seen)[:, :2]
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    actor = Actor(SOME_RAW, moved)
    np.testing.assert_allclose(actor.outputs(seen), wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(actor.outputs(seen[0]), wanted[0], rtol=1e-4, atol=1e-5)


def test_a_running_path_beside_raw_ones_sees_as_ever():
    policy, batch = grown(1, 1)
    seen = batch(0.0)
    np.testing.assert_allclose(
        outputs(SOME_RAW, policy, seen), outputs(SHAPE, policy, seen), rtol=1e-5, atol=1e-6
    )


def test_a_fresh_path_takes_over_what_a_folded_filter_has_seen():
    old = made(1, jax.random.key(0))
    old = old._replace(policy=looked(old.policy, 1, jnp.ones((64, 3)), False))
    found = lambda style, holder: in_sight_of(RAW, made(style, jax.random.key(1)), holder).filter
    assert_same_bits(found(2, old), old.policy.filter)
    close(found(1, old), filters.init(3))  # a running one finds out for itself
    assert float(found(0, old).count) == 0.0
    close(found(2, made(0, jax.random.key(0))), filters.init(3))  # a raw one hands nothing over


# what they are paid for

PAID = replace(PLAIN, exploration=Far(), styles=(Style(), Style(bonus=0.5), Style()))


def both(i, seen):
    """What path i becomes beside a bonus that only path 1 takes, and where there is none."""
    state = begun(PAID)
    bare = state._replace(exploration=(), population=state.population._replace(style=()))
    return state, *learn(PAID, state, i, seen), *learn(PLAIN, bare, i, seen)


def test_a_path_without_a_bonus_learns_as_if_there_were_none():
    seen = rolled_out(3)
    before, after, metrics, bare, wanted = both(0, seen)
    mine, theirs = member(after.population, 0), member(bare.population, 0)
    assert not same_bits(mine.policy.parameters, member(before.population, 0).policy.parameters)
    close(mine._replace(style=()), theirs)
    close(after.values, bare.values)
    for name in ("gain", "kl", "value_loss", "return_mean", "followed"):
        np.testing.assert_allclose(metrics[name], wanted[name], rtol=1e-4, atol=1e-6)
    # the bonus's own V is not asked, but the bonus sees the batch all the same
    assert_same_bits(after.exploration.value, before.exploration.value)
    assert float(after.exploration.bonus) == 1.0


def test_where_no_style_has_a_bonus_all_paths_take_the_method_s_as_the_paper_has_it():
    paid, seen = replace(PLAIN, exploration=Far()), rolled_out(3)
    styled = replace(paid, styles=(Style(),))
    after, metrics = learn(styled, begun(styled), 1, seen)
    usual, wanted = learn(paid, begun(paid), 1, seen)
    close(after.population._replace(style=()), usual.population)
    close(after.values, usual.values)
    np.testing.assert_allclose(metrics["value_loss"], wanted["value_loss"], rtol=1e-4)
    without, _ = learn(PLAIN, begun(PLAIN), 1, seen)
    assert not np.allclose(
        usual.population.policy.parameters.network[0].weights,
        without.population.policy.parameters.network[0].weights,
    )


def test_v_of_all_paths_is_of_the_task_alone():
    seen = rolled_out(3)
    before, after, metrics, bare, wanted = both(1, seen)
    close(after.values, bare.values)
    assert float(metrics["value_loss"]) == pytest.approx(float(wanted["value_loss"]), rel=1e-5)
    assert not same_bits(after.exploration.value, before.exploration.value)
    # but the bonus counts for the path
    assert np.abs(metrics["followed"] - wanted["followed"]).max() > 0.1
    mine, theirs = (s.population.policy.parameters.free[1] for s in (after, bare))
    assert np.abs(mine - theirs).max() > 1e-3


def standard(x):
    x = np.asarray(x, float)
    return (x - x.mean()) / x.std()


@jax.jit
def parts(state, seen):
    """Advantages of the task and of the bonus, each by its own V."""
    key = jax.random.fold_in(jax.random.fold_in(state.key, 1), state.iteration)
    value_key, _, _ = jax.random.split(key, 3)
    shaped = PAID.exploration.reward(SHAPE, state.exploration.bonus, seen)
    extra = seen._replace(rewards=shaped - seen.rewards)
    _, task, _ = fit_value(PAID, member(state.values, 0), seen, value_key)
    _, bonus, _ = fit_value(PAID, state.exploration.value, extra, jax.random.fold_in(key, 3))
    return task, bonus


def test_a_curious_path_follows_both_standardised_and_its_gain_is_the_task_s():
    seen, state = rolled_out(3), begun(PAID)
    after, metrics = learn(PAID, state, 1, seen)
    task, bonus = parts(state, seen)
    wanted = standard(standard(task) + 0.5 * standard(bonus)).ravel()
    np.testing.assert_allclose(metrics["followed"], wanted, rtol=1e-3, atol=1e-3)
    assert np.abs(wanted - standard(task).ravel()).max() > 0.2
    new = member(after.population, 1).policy
    old = member(state.population, 1).policy._replace(filter=new.filter)
    flat, actions = seen.observations.reshape(-1, 3), seen.actions.reshape(-1, 2)
    logs = [log_probs(SHAPE, outputs(SHAPE, p, flat), actions) for p in (old, new)]
    ratio = np.exp(np.asarray(logs[1] - logs[0], float))
    gain = np.mean((ratio - 1) * np.asarray(task, float).ravel())
    assert abs(gain) > 1e-4
    assert float(metrics["gain"]) == pytest.approx(gain, rel=2e-2)
    measured = float(after.population.record.measured[1])
    assert float(after.population.performance[1]) == pytest.approx(measured + gain, abs=1e-3)
    assert measured == pytest.approx(float(metrics["return_mean"]))


def test_a_batch_without_signal_is_followed_by_the_bonus_alone():
    state = begun(PAID)
    silent, paid = with_rewards(rolled_out(3), 0.0), rolled_out(3)
    other = state._replace(values=jax.tree.map(lambda leaf: 2 * leaf + 0.1, state.values))
    after, metrics = learn(PAID, state, 1, silent)
    again, _ = learn(PAID, other, 1, silent)
    # V is all noise here: whatever it says, the step is the same
    assert_same_bits(member(again.population.policy, 1), member(after.population.policy, 1))
    _, bonus = parts(state, silent)
    np.testing.assert_allclose(metrics["followed"], standard(bonus).ravel(), rtol=1e-3, atol=1e-3)
    one, two = (learn(PAID, start, 1, paid)[0] for start in (state, other))
    assert not same_bits(member(one.population.policy, 1), member(two.population.policy, 1))
    # with V = 0 nothing is gained for the task by following the bonus
    zeros = jax.tree.map(jnp.zeros_like, state.values.network)
    nothing = state._replace(values=state.values._replace(network=zeros))
    moved, row = learn(PAID, nothing, 1, silent)
    assert float(row["kl"]) > 1e-6
    assert (float(row["gain"]), float(moved.population.performance[1])) == (0.0, 0.0)


def test_a_batch_without_a_signal_recalls_what_v_knows_in_the_unit_of_those_with_one():
    style = Style(bonus=0.5, recalls=2.0)
    method = replace(PAID, styles=(style,), paths=2)
    state, key = begun(method), jax.random.key(0)
    known = (state.exploration.value, state.exploration.usual)
    silent, loud = with_rewards(rolled_out(3), 0.0), rolled_out(3)
    path = member(state.population, 1)
    paid = incentives(method, SHAPE, state.exploration.bonus, path, silent)
    follow = jax.jit(lambda known, seen, raw: with_bonus(method, known, seen, paid, raw, key))
    spread = jax.random.normal(key, silent.rewards.shape)
    centred = np.asarray(spread - jnp.mean(spread))
    # before any pay: the bonus alone, and nothing is usual yet
    alone, (_, usual) = follow(known, silent, spread)
    assert float(usual) == 0
    followed = np.asarray(alone)
    np.testing.assert_allclose([followed.mean(), followed.std()], [0, 1], atol=1e-4)
    # the first batch with a signal sets the unit, later ones move it by a tenth
    _, (_, usual) = follow(known, loud, 4 * spread)
    np.testing.assert_allclose(usual, 4 * centred.std(), rtol=1e-5)
    _, (_, moved) = follow((known[0], usual), loud, 14 * spread)
    np.testing.assert_allclose(moved, 5 * centred.std(), rtol=1e-5)
    # a quarter of what is usual counts a quarter, by the weight of 2, beside half of the bonus
    towards, (_, kept) = follow((known[0], usual), silent, spread)
    assert float(kept) == float(usual)
    expected = 2 * centred / (4 * centred.std()) + 0.5 * followed
    np.testing.assert_allclose(towards, expected, atol=1e-4)
    # and never more than one that is louder than usual
    towards, _ = follow((known[0], usual), silent, 100 * spread)
    expected = 2 * centred / centred.std() + 0.5 * followed
    np.testing.assert_allclose(towards, expected, atol=1e-3)


def test_a_style_that_recalls_has_a_bonus():
    with pytest.raises(ValueError, match="recalls the task beside its bonus"):
        replace(PAID, styles=(Style(bonus=0.5), Style(recalls=1.0)), paths=2)


def test_the_reach_of_a_style_is_a_factor_of_its_trust_region():
    assert stepping(PAID, member(begun(PAID).population, 1)) is PAID.optimiser
    styles = (Style(bonus=0.5), Style(reach=3.0), Style(reach=0.5))
    far = replace(PAID, styles=styles, optimiser=Trpo())
    trust = [float(stepping(far, member(begun(far).population, i)).max_kl) for i in range(3)]
    np.testing.assert_allclose(trust, [0.01, 0.03, 0.005], rtol=1e-6)


def test_a_step_with_reach_is_that_of_a_larger_trust_region():
    styles = (Style(bonus=0.5), Style(), Style())
    plain = replace(PAID, styles=styles, optimiser=Trpo(max_kl=0.03, cg_iterations=10))
    reaching = replace(
        PAID,
        styles=(styles[0], Style(reach=3.0), styles[2]),
        optimiser=Trpo(max_kl=0.01, cg_iterations=10),
    )
    state, seen = begun(plain), rolled_out(3)
    one, two = (learn(method, state, 1, seen)[1] for method in (plain, reaching))
    np.testing.assert_allclose(one["kl"], two["kl"], rtol=1e-3)
    assert 0.005 < float(two["kl"]) <= 0.045  # the line search accepts up to 1.5 of it


def test_only_a_trust_region_can_be_reached_beyond():
    with pytest.raises(ValueError, match="needs --optimiser trpo"):
        replace(PAID, styles=(Style(bonus=0.5, reach=2.0),), optimiser=Ppo())


def test_what_carries_a_signal():
    seen = rolled_out(0, ends=0.0)
    ended = seen.terminated.copy()
    ended[1, 3] = True
    says = lambda rewards, **more: bool(
        carries_signal(with_rewards(seen, rewards)._replace(**more))
    )
    single = np.zeros(seen.rewards.shape)
    single[2, 5] = 1e-3
    assert says(single)
    assert not says(0.0)
    assert not says(0.0, terminated=ended)  # lives of any length are paid the same
    assert not says(1.0)
    assert not says(1.0, truncated=ended)
    assert says(1.0, terminated=ended)  # a longer life is worth more
    assert says(-1.0, terminated=ended)


# who follows them

STYLES = (Style(bonus=1.0), Style(), Style(sigma=0.5, filter="folded"))
CONTEST = replace(
    PLAIN,
    picking=RULE,
    styles=STYLES,
    exploration=Far(),
    sharing=Successes(weight=3.0, memory=50, samples=30),
)


def test_the_next_plain_style_follows_and_the_other_paths_stay():
    styles = (Style(), Style(bonus=1.0), Style(sigma=0.5), Style(sigma=2.0))
    method = replace(CONTEST, paths=4, styles=styles)
    state = programs(method, SHAPE).init(jax.random.key(0))
    record = state.population.record._replace(picks=jnp.arange(4) + 1)
    population = state.population._replace(record=record, performance=jnp.arange(4.0))
    draw = jax.jit(partial(renewed, method, SHAPE))
    for i, (following, sigma) in enumerate([(2, 0.5), (2, 0.5), (3, 2.0), (0, 1.0)]):
        found = draw(population, jnp.asarray(i), jax.random.key(9))
        new = member(found, i)
        assert int(new.style) == following
        np.testing.assert_allclose(np.exp(new.policy.parameters.free), sigma, rtol=1e-6)
        assert (int(new.record.picks), float(new.performance)) == (0, 0.0)
        assert not same_bits(new.policy.parameters, member(population, i).policy.parameters)
        for k in {0, 1, 2, 3} - {i}:
            assert_same_bits(member(found, k), member(population, k))


def test_while_nothing_is_paid_a_plain_path_that_was_tried_is_drawn_anew():
    state, silent = begun(CONTEST), with_rewards(rolled_out(5), 0.0)
    assert state.population.progress.curious.tolist() == [True, False, False]
    after, row = learn(CONTEST, state, 1, silent)
    assert after.population.style.tolist() == row["style"].tolist() == [0, 2, 2]
    assert after.population.record.picks.tolist() == [0, 0, 0]
    again, _ = learn(CONTEST, after, 1, silent)
    assert again.population.style.tolist() == [0, 1, 2]
    weights = [s.population.policy.parameters.network[0].weights[1] for s in (state, after, again)]
    assert len({np.asarray(w).tobytes() for w in weights}) == 3
    curious, _ = learn(CONTEST, state, 0, silent)
    assert curious.population.record.picks.tolist() == [1, 0, 0]
    paid, row = learn(CONTEST, state, 1, rolled_out(5))
    assert paid.population.style.tolist() == [0, 1, 2]
    assert paid.population.record.picks.tolist() == [0, 1, 0]
    later, _ = learn(CONTEST, paid, 2, silent)  # it is paid somewhere: nobody is given up
    assert later.population.record.picks.tolist() == [0, 1, 1]


def test_a_path_drawn_anew_has_a_new_v_where_each_has_its_own():
    method = replace(CONTEST, value="independent")
    state = begun(method)
    seen = lambda rewards: learn(method, state, 1, with_rewards(rolled_out(5), rewards))[0]
    counts = seen(0.0).values.filter.count
    np.testing.assert_allclose(counts, filters.FIRST_COUNT, rtol=1e-6)  # it knows nothing yet
    kept = learn(method, state, 1, rolled_out(5))[0].values.filter.count
    np.testing.assert_allclose(kept, [0.01, 64.01, 0.01], rtol=1e-5)  # paid, so not drawn anew


def test_an_update_that_is_not_finite_draws_nobody_anew_and_remembers_nothing():
    state, seen = begun(CONTEST), with_rewards(rolled_out(5), np.nan)
    after, row = learn(CONTEST, state, 1, seen)
    assert not bool(row["finite"])
    assert_same_bits(after, state)


def test_the_first_batch_warms_up_all_folded_filters_and_no_other():
    before, seen = begun(CONTEST, iteration=0), rolled_out(1)
    after, _ = learn(CONTEST, before, 0, seen)
    common = filters.update(filters.init(3), jnp.asarray(seen.observations.reshape(-1, 3)))
    policies, old = after.population.policy, before.population.policy
    close(member(policies.filter, 2), common)  # though path 0 was rolled out
    assert_same_bits(member(policies.parameters, 2), member(old.parameters, 2))
    assert_same_bits(member(after.population, 1), member(before.population, 1))
    later, _ = learn(CONTEST, after, 0, rolled_out(2))
    assert_same_bits(member(later.population, 2), member(after.population, 2))


def test_successes_of_earlier_batches_are_in_the_objective():
    state, first, second = begun(CONTEST), rolled_out(6), rolled_out(7)
    after, _ = learn(CONTEST, state, 1, first)
    assert np.isfinite(after.shared.scores).sum() > 20
    forgetful = after._replace(shared=state.shared)
    one, _ = learn(CONTEST, after, 2, second)
    other, _ = learn(CONTEST, forgetful, 2, second)
    moved = one.population.policy.parameters.free[2] - other.population.policy.parameters.free[2]
    assert float(jnp.abs(moved).max()) > 1e-3
    assert_same_bits(one.values, other.values)


def test_progress_keeps_the_last_batches_and_the_range_of_all_episodes():
    state = begun(CONTEST)
    path = member(state.population, 1)
    progress = path.progress
    assert np.isnan(progress.means).all()
    outcome = lambda *returns: Outcome(
        jnp.asarray([*returns, 99.0]), jnp.asarray([True] * len(returns) + [False]), jnp.zeros(3)
    )
    record = lambda mean, n: path.record._replace(
        measured=jnp.asarray(mean), standard_error=jnp.asarray(mean / 10), episodes=jnp.asarray(n)
    )
    for mean, low, high in ((2.0, 1.0, 3.0), (5.0, 2.0, 8.0)):
        progress = came_along(progress, record(mean, 2), outcome(low, high))
    np.testing.assert_allclose(progress.means, [np.nan, np.nan, 2, 5])
    np.testing.assert_allclose(progress.errors, [np.nan, np.nan, 0.2, 0.5], rtol=1e-6)
    assert (float(progress.lowest), float(progress.highest)) == (1.0, 8.0)
    same = came_along(progress, record(5.0, 0), outcome())
    assert_same_bits(same, progress)
    for mean in (6.0, 7.0, 8.0):
        progress = came_along(progress, record(mean, 2), outcome(mean, mean))
    np.testing.assert_allclose(progress.means, [5, 6, 7, 8])


def test_rows_tell_the_style_of_every_path_where_there_are_styles():
    seen = rolled_out(3)
    _, _, with_styles, _, without = both(0, seen)
    assert with_styles["style"].tolist() == [0, 1, 2]
    assert "style" not in without
