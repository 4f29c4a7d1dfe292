"""Algorithm 1: what an iteration changes, what it leaves alone, and that nothing else happens."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mppo.algorithm import filters
from mppo.algorithm.advantages import estimate_advantages
from mppo.algorithm.critic import Critic
from mppo.algorithm.estimates import fit_value
from mppo.algorithm.exploration.none import no_bonus
from mppo.algorithm.iteration import State, iterate
from mppo.algorithm.methods import METHODS, Method
from mppo.algorithm.networks import Mlp
from mppo.algorithm.policies import Architecture
from mppo.algorithm.population import member
from mppo.algorithm.surrogate import log_probs, mean_entropy, statistics
from mppo.algorithm.types import Batch
from mppo.training.programs import programs
from tests.oracles import all_finite, assert_same_bits, finished_episodes, same_bits
from tests.worlds import (
    CHOOSING,
    ENVS,
    SMALL,
    Fleeting,
    Poison,
    choosing,
    random_trajectories,
    small,
    with_rewards,
)

MULTIPLE = [name for name in METHODS if METHODS[name].paths > 1]


def known_state(name, performance=(3.0, 1.0), picks=(4, 2)):
    """A state in which all paths are known."""
    state = programs(SMALL[name], choosing(SMALL[name])).init(jax.random.key(7))
    J, count = state.population.performance, state.population.record.picks
    for k in range(SMALL[name].paths):  # `set` keeps the types, so that nothing compiles anew
        J, count = J.at[k].set(performance[k]), count.at[k].set(picks[k])
    record = state.population.record._replace(picks=count)
    population = state.population._replace(performance=J, record=record)
    return state._replace(population=population, iteration=state.iteration + 6)


def copied(tree):
    """The same tree, safe from being consumed."""
    return jax.tree.map(lambda leaf: leaf.copy(), tree)


def learn(name, state, i, seen):
    """The new state and the numbers, the old state being kept."""
    compiled = programs(SMALL[name], choosing(SMALL[name]))
    return compiled.learn(copied(state), jnp.asarray(i, jnp.int32), seen)


def measured_return(seen):
    return np.mean([total for total, _ in finished_episodes(seen)])


@pytest.mark.parametrize("name", MULTIPLE)
@pytest.mark.parametrize("i", [0, 1])
def test_paths_not_picked_keep_every_bit(name, i):
    before, seen = known_state(name), random_trajectories(1)
    after, metrics = learn(name, before, i, seen)
    slot = int(metrics["slot"])
    assert slot == int(after.current)
    if SMALL[name].replacement == "self":
        assert slot == i
        other = 1 - i
        assert_same_bits(member(after.population, other), member(before.population, other))
    changed = member(after.population, slot)
    assert not same_bits(changed.policy.parameters, member(before.population, i).policy.parameters)
    gain = float(metrics["gain"])
    assert float(changed.performance) == pytest.approx(measured_return(seen) + gain, rel=1e-4)
    assert int(after.iteration) == int(before.iteration) + 1
    assert_same_bits(after.key, before.key)


@pytest.mark.parametrize("name", ["mp-trpo-replace-worst", "mp-ppo-replace-worst"])
@pytest.mark.parametrize(
    ("performance", "picks", "i", "slot"),
    [
        ((100.0, -100.0), (3, 3), 0, 1),  # the other one is the worst
        ((-100.0, 100.0), (3, 3), 0, 0),  # it is the worst itself, by its new J too
        ((100.0, -100.0), (3, 0), 0, 0),  # the other one was never rolled out: no J to be worst by
    ],
)
def test_replace_worst(name, performance, picks, i, slot):
    """The worst slot gets the whole improved path; slot i keeps its policy, H and measured J."""
    before, seen = known_state(name, performance, picks), random_trajectories(2)
    after, metrics = learn(name, before, i, seen)
    assert int(metrics["slot"]) == int(after.current) == slot
    old, kept, improved = (
        member(before.population, i),
        member(after.population, i),
        member(after.population, slot),
    )
    J, gain = measured_return(seen), float(metrics["gain"])
    assert float(improved.performance) == pytest.approx(J + gain, rel=1e-4)
    assert int(improved.record.picks) == picks[i] + 1
    assert not same_bits(improved.policy, old.policy)
    if slot != i:
        assert_same_bits(kept.policy, old.policy)
        assert_same_bits(kept.optimiser, old.optimiser)
        assert_same_bits(kept.entropy, old.entropy)
        assert float(kept.performance) == pytest.approx(J, rel=1e-4)
        # the improved path saw the new observations, the one that stays did not
        assert float(improved.policy.filter.count) > float(kept.policy.filter.count) + 200
    else:
        other = 1 - i
        assert_same_bits(member(after.population, other), member(before.population, other))


@pytest.mark.parametrize("base", ["trpo", "ppo"])
def test_a_path_of_many_learns_as_a_single_one(base):
    """The same path, alone or beside another: the population is bookkeeping, nothing else."""
    seen, i = random_trajectories(3), 1
    together = known_state(f"mp-{base}")
    alone = known_state(base, (1.0,), (2,))
    one = jax.tree.map(lambda leaf: leaf[i : i + 1], together.population)
    alone = State(one, together.values, (), alone.current, together.iteration, together.key)
    many, metrics = learn(f"mp-{base}", together, i, seen)
    single, wanted = learn(base, alone, 0, seen)
    for left, right in zip(
        jax.tree.leaves((member(many.population, i), many.values)),
        jax.tree.leaves((member(single.population, 0), single.values)),
        strict=True,
    ):
        np.testing.assert_allclose(left, right, rtol=1e-5, atol=1e-6)
    for key in ("gain", "kl", "value_loss", "return_mean"):
        assert float(metrics[key]) == pytest.approx(float(wanted[key]), rel=1e-4, abs=1e-7)


def straight_line(method, policy, value, seen, value_key, policy_key):
    """TRPO as one would write it down: no paths, no population, no exploration."""
    observations = seen.observations.reshape(-1, 1)
    V = method.critic.values
    raw, targets = estimate_advantages(
        seen,
        V(value, seen.observations),
        V(value, seen.next_observations),
        method.gamma,
        method.gae_lambda,
        "bootstrap",
        "td-lambda",
    )
    value = value._replace(filter=filters.update(value.filter, observations))
    value, loss = method.critic.fit(value, observations, targets.ravel(), value_key)
    policy = policy._replace(filter=filters.update(policy.filter, observations))
    stats = statistics(CHOOSING, policy, observations)
    actions, A = seen.actions.reshape(-1, 1), raw.ravel()
    logs = log_probs(CHOOSING, stats, actions)
    standard = (A - A.mean()) / (A.std() + 1e-8)
    batch = Batch(observations, actions, stats, logs, standard, A)
    new, _, step = method.optimiser.update(CHOOSING, (), policy, batch, no_bonus, policy_key)
    new_stats = statistics(CHOOSING, new, observations)
    ratio = jnp.exp(log_probs(CHOOSING, new_stats, actions) - logs)
    entropy = mean_entropy(CHOOSING, new, observations)
    return new, value, jnp.mean((ratio - 1) * A), entropy, loss, step["kl"]


def test_one_path_is_a_straight_line_of_trpo():
    method, seen = SMALL["trpo"], random_trajectories(4)
    assert method.gain == "centred"
    before = known_state("trpo", (1.0,), (2,))
    after, metrics = learn("trpo", before, 0, seen)
    key = jax.random.fold_in(jax.random.fold_in(before.key, 1), before.iteration)
    value_key, policy_key, _ = jax.random.split(key, 3)
    policy, value, gain, entropy, loss, kl = jax.jit(partial(straight_line, method))(
        member(before.population, 0).policy, member(before.values, 0), seen, value_key, policy_key
    )
    found = member(after.population, 0)
    pairs = [(found.policy, policy), (member(after.values, 0), value)]
    for left, right in pairs:
        for one, other in zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    J = measured_return(seen) + float(gain)
    assert float(found.performance) == pytest.approx(J, rel=1e-4)
    assert float(found.entropy) == pytest.approx(float(entropy), rel=1e-5)
    assert float(metrics["value_loss"]) == pytest.approx(float(loss), rel=1e-3)
    assert float(metrics["kl"]) == pytest.approx(float(kl), rel=1e-3)


@pytest.mark.parametrize("name", MULTIPLE)
def test_permuting_paths_permutes_the_result(name):
    seen = random_trajectories(5)
    straight = known_state(name, (3.0, 1.0))
    flip = lambda tree: jax.tree.map(lambda leaf: leaf[::-1], tree)
    flipped = straight._replace(population=flip(straight.population))
    if SMALL[name].value == "independent":
        flipped = flipped._replace(values=flip(straight.values))
    after, metrics = learn(name, straight, 0, seen)
    other, other_metrics = learn(name, flipped, 1, seen)
    assert_same_bits(flip(other.population), after.population)
    assert int(other_metrics["slot"]) == 1 - int(metrics["slot"])
    values = flip(other.values) if SMALL[name].value == "independent" else other.values
    assert_same_bits(values, after.values)


@pytest.mark.parametrize("name", MULTIPLE)
@pytest.mark.parametrize("i", [0, 1])
def test_value_networks(name, i):
    """One for all paths, or only the picked path's own."""
    before, seen = known_state(name), random_trajectories(6)
    after, _ = learn(name, before, i, seen)
    independent = SMALL[name].value == "independent"
    assert jax.tree.leaves(after.values)[0].shape[0] == (2 if independent else 1)
    mine = i if independent else 0
    assert not same_bits(member(after.values, mine), member(before.values, mine))
    if independent:
        assert_same_bits(member(after.values, 1 - i), member(before.values, 1 - i))


@pytest.mark.parametrize("name", METHODS)
def test_a_batch_without_any_reward_is_learnt_from(name):
    """The state of sparse tasks for most of the time: no NaN, no J but 0 and the gain."""
    state = known_state(name, (0.0,) * SMALL[name].paths, (1,) * SMALL[name].paths)
    for n in range(2):
        seen = with_rewards(random_trajectories(10 + n), 0.0)
        state, metrics = learn(name, state, 0, seen)
        assert bool(metrics["finite"])
        assert float(metrics["return_mean"]) == 0.0
        stored = float(state.population.performance[int(metrics["slot"])])
        assert stored == pytest.approx(float(metrics["gain"]), abs=1e-6)
    # how a path came along begins with what is not known
    assert all_finite(state._replace(population=state.population._replace(progress=())))
    assert all_finite(metrics)


@pytest.mark.parametrize("name", METHODS)
def test_numbers_that_are_not_finite_are_noticed(name):
    """A NaN among the rewards: TRPO refuses the step; after PPO's, all is as it was before."""
    state = known_state(name, (0.0,) * SMALL[name].paths, (1,) * SMALL[name].paths)
    seen = random_trajectories(12)
    rewards = seen.rewards.copy()
    rewards[0, 5] = np.nan
    after, metrics = learn(name, state, 0, seen._replace(rewards=rewards))
    assert_same_bits(
        jax.tree.leaves(after.values)[0], jax.tree.leaves(state.values)[0], "V is kept"
    )
    assert bool(metrics["value_refused"])
    assert all_finite(member(after.population, int(metrics["slot"])).policy.parameters)
    refuses = name.endswith("trpo") or "trpo-" in name
    assert not refuses or bool(metrics["step_refused"])
    assert bool(metrics["finite"]) == (refuses and name != "div-trpo")  # which remembers J
    if not metrics["finite"]:
        assert_same_bits(after, state, "nothing moved, not even the counter")


@pytest.mark.parametrize(
    "changes",
    [
        {"optimiser": Poison(), "replacement": "worst", "observation_filter": "shared"},
        {"optimiser": Poison(harmless=True), "exploration": Fleeting()},
    ],
    ids=["step", "exploration"],
)
def test_what_is_not_finite_leaves_the_state_as_it_was(changes):
    """Neither policies, filters, V, J nor counters move; the first is a step, the second none."""
    method = replace(SMALL["mp-ppo"], **changes)
    compiled = programs(method, CHOOSING)
    state = compiled.init(jax.random.key(0))
    before = copied(state)
    after, metrics = compiled.learn(state, jnp.asarray(1, jnp.int32), random_trajectories(12))
    assert not bool(metrics["finite"])
    assert_same_bits(after, before)


@pytest.mark.parametrize("name", ["curiosity-trpo", "curiosity-ppo"])
def test_a_bonus_on_the_reward_is_no_gain_of_the_task(name):
    """Advantages are then those of shaped rewards: J stays the task's return."""
    state, seen = known_state(name, (0.0,), (1,)), random_trajectories(11)
    after, metrics = learn(name, state, 0, seen)
    assert float(metrics["kl"]) > 0
    assert float(metrics["gain"]) == 0.0
    J = float(after.population.performance[0])
    assert pytest.approx(measured_return(seen), rel=1e-5) == J


@pytest.mark.parametrize("name", ["mp-trpo", "multi-trpo-independent"])
def test_cut_episodes_count_with_the_path_s_own_value_network(name):
    """No episode ends: J is the discounted return so far plus V at the cut; 16 rewards of 1."""
    method, steps = SMALL[name], 16
    seen = with_rewards(random_trajectories(13, steps=steps, ends=0.0), 1.0)
    measure = programs(method, CHOOSING, "bootstrap").measure_only
    before = known_state(name)
    after, metrics = measure(copied(before), jnp.asarray(1, jnp.int32), seen)
    value = member(before.values, 1 % method.value_networks)
    V = np.asarray(method.critic.values(value, seen.next_observations[:, -1]))
    gamma = method.gamma
    wanted = sum(gamma**t for t in range(steps)) + gamma**steps * V.mean()
    assert abs(V.mean()) > 1e-3
    assert float(after.population.performance[1]) == pytest.approx(wanted, rel=1e-5)
    assert (int(metrics["episodes"]), np.isnan(float(metrics["return_mean"]))) == (0, True)
    assert int(after.population.record.episodes[1]) == ENVS


def test_measuring_changes_no_parameter():
    before, seen = known_state("mp-trpo"), random_trajectories(7)
    measure = programs(SMALL["mp-trpo"], CHOOSING).measure_only
    after, metrics = measure(copied(before), jnp.asarray(1, jnp.int32), seen)
    assert_same_bits(after.population.policy, before.population.policy)
    assert_same_bits(after.values, before.values)
    assert_same_bits(member(after.population, 0), member(before.population, 0))
    assert float(after.population.performance[1]) == pytest.approx(measured_return(seen), rel=1e-4)
    assert after.population.record.picks.tolist() == [4, 3]
    assert int(after.iteration) == 7
    assert (float(metrics["gain"]), float(metrics["kl"])) == (0.0, 0.0)


LINEAR = Critic(epochs=2, minibatch=64, learning_rate=0.05, network=Mlp(()))


@pytest.mark.parametrize("order", ["old-value", "new-value"])
def test_order_of_value_and_advantages(order):
    """Base code: advantages from V before its fit; Algorithm 1's lines: from the fitted one."""
    method = Method(critic=LINEAR, advantages_from=order)
    seen = random_trajectories(8)
    value = LINEAR.init(jax.random.key(0), 1)
    fitted, raw, log = jax.jit(partial(fit_value, method))(value, seen, jax.random.key(1))
    V = jax.jit(LINEAR.values)
    advantages = {}
    for which, network in (("old-value", value), ("new-value", fitted)):
        advantages[which], targets = estimate_advantages(
            seen, V(network, seen.observations), V(network, seen.next_observations), 0.995, 0.97
        )
        if which == "old-value":
            old = targets
    np.testing.assert_allclose(raw, advantages[order], rtol=1e-4, atol=1e-4)
    assert np.abs(advantages["old-value"] - advantages["new-value"]).max() > 0.05
    # in both orders the targets are of the old V, and the variance explained is what it explained
    unexplained = np.var(np.asarray(old) - np.asarray(V(value, seen.observations)))
    wanted = 1 - unexplained / np.var(np.asarray(old))
    assert float(log["explained_variance"]) == pytest.approx(wanted, rel=1e-3, abs=1e-4)


def test_shared_filter_moves_for_all_paths():
    method = small(
        "mp-ppo",
        **{
            "network.hidden": (),
            "critic.network.hidden": (),
            "critic.epochs": 1,
            "optimiser.epochs": 1,
            "observation_filter": "shared",
            "paths": 3,
        },
    )
    architecture = Architecture(1, CHOOSING.head, method.network, True, (1.0,))
    compiled = programs(method, architecture)
    before, seen = compiled.init(jax.random.key(0)), random_trajectories(9)
    parameters = copied(before.population.policy.parameters)
    after, _ = compiled.learn(before, jnp.asarray(1, jnp.int32), seen)
    wanted = filters.update(filters.init(1), seen.observations.reshape(-1, 1))
    for k in range(3):
        found = member(after.population.policy.filter, k)
        np.testing.assert_allclose(found.mean, wanted.mean, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found.deviations, wanted.deviations, rtol=1e-5)
        same = same_bits(member(after.population.policy.parameters, k), member(parameters, k))
        assert same == (k != 1)


def test_own_filter_moves_for_the_picked_path_alone():
    before, seen = known_state("mp-trpo"), random_trajectories(9)
    after, _ = learn("mp-trpo", before, 1, seen)
    wanted = filters.update(filters.init(1), seen.observations.reshape(-1, 1))
    found = after.population.policy.filter
    np.testing.assert_allclose(found.mean[1], wanted.mean, rtol=1e-5, atol=1e-6)
    assert_same_bits(member(found, 0), member(before.population.policy.filter, 0))


def test_lines_come_in_the_paper_s_order():
    """Pick, roll out the picked policy, learn from what it saw: each once."""
    calls = []
    state = known_state("mp-trpo")

    def pick(given):
        calls.append("pick")
        assert given is state
        return jnp.asarray(1), "policy of path 1"

    def collect(policy, path, iteration):
        calls.append(("collect", policy, path, iteration))
        return "what it saw"

    def learning(given, i, seen):
        calls.append(("learn", int(i), seen))
        return given, {"picked": i}

    iterate(pick, collect, learning, state)
    assert calls == [
        "pick",
        ("collect", "policy of path 1", 1, 6),
        ("learn", 1, "what it saw"),
    ]


def test_no_episode_finished_keeps_the_measured_return():
    seen = random_trajectories(13, ends=0.0)
    before = known_state("mp-trpo")
    measured = before.population.record.measured.at[0].set(2.5)
    record = before.population.record._replace(measured=measured)
    before = before._replace(population=before.population._replace(record=record))
    after, metrics = learn("mp-trpo", before, 0, seen)
    assert int(metrics["episodes"]) == 0
    assert np.isnan(float(metrics["return_mean"]))
    wanted = 2.5 + float(metrics["gain"])
    assert float(after.population.performance[0]) == pytest.approx(wanted, rel=1e-5)
