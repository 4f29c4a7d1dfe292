"""The race for the places of paths that begin apart, against a plain loop."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mppo.algorithm import race
from mppo.algorithm.contest import Contest
from mppo.algorithm.exploration.curiosity import Curiosity
from mppo.algorithm.heads import Categorical, Gaussian, Product
from mppo.algorithm.methods import Method
from mppo.algorithm.networks import Mlp
from mppo.algorithm.policies import Architecture
from mppo.algorithm.population import member
from mppo.algorithm.styles import Style
from mppo.training.programs import programs
from tests.oracles import assert_same_bits, same_bits
from tests.worlds import random_trajectories

ENVS, STEPS = 5, 8
APART = Style(output_scale=1.0, sigma=0.3, filter="none")
METHOD = Method(
    paths=5,
    styles=(Style(), APART, replace(APART, bonus=1.0), replace(APART, filter="folded", sigma=0.5)),
    exploration=Curiosity(size=2),
    picking=Contest(caution=1.0, ahead=10.0, patience=2, share=2, looks_back=4),
    race=2,
    network=Mlp((3,)),
)
PLACES = [1, 3]  # path 4 begins as path 0, path 2 is paid for something else
SHAPE = Architecture(2, Gaussian(2), METHOD.network, True, (), True)


def begun(iteration=1):
    """The state before a round, with filters that have seen something."""
    state = programs(METHOD, SHAPE).init(jax.random.key(1))
    filter = state.population.policy.filter
    moved = filter._replace(mean=filter.mean + 0.5)
    population = state.population._replace(policy=state.population.policy._replace(filter=moved))
    return state._replace(population=population, iteration=state.iteration + iteration)


def rolled_out(seed):
    """One episode for each environment: ended with the last step, or not at all."""
    seen = random_trajectories(seed, ENVS, STEPS, 2, SHAPE.head, ends=0.0)
    ended = np.zeros_like(seen.terminated)
    ended[:3, -1] = True
    return seen._replace(truncated=ended)


def round_of(state, seen, method=METHOD):
    """Runners, the state after their round, and the row; the old state is kept."""
    ran = programs(method, SHAPE).runners(state, ENVS)
    copy = jax.tree.map(lambda leaf: leaf.copy(), state)
    after, row = programs(method, SHAPE).finish(copy, ran, seen)
    return ran, after, row


def place_of(iteration, e):
    return PLACES[((iteration - 1) * ENVS + e) % len(PLACES)]


def test_only_paths_that_begin_apart_without_a_bonus_are_raced_for():
    assert race.rounds(METHOD, SHAPE) == 2
    state = begun()
    ran = programs(METHOD, SHAPE).runners(state, ENVS)
    assert ran.style.tolist() == [place_of(1, e) for e in range(ENVS)]
    widths = np.exp(np.asarray(ran.policy.parameters.free))
    wanted = [0.3 if style == 1 else 0.5 for style in ran.style]
    np.testing.assert_allclose(widths, np.repeat(np.array(wanted)[:, None], 2, axis=1), rtol=1e-6)
    first = ran.policy.parameters.network[0].weights
    assert len({first[e].tobytes() for e in range(ENVS)}) == ENVS  # each is another policy
    later = programs(METHOD, SHAPE).runners(begun(2), ENVS)
    assert later.style.tolist() == [place_of(2, e) for e in range(ENVS)] == [3, 1, 3, 1, 3]
    assert not same_bits(later.policy.parameters, ran.policy.parameters)


def test_runners_with_a_folded_filter_see_as_the_holder_of_the_place_does():
    state = begun()
    ran = programs(METHOD, SHAPE).runners(state, ENVS)
    holders = state.population.policy.filter
    for e in range(ENVS):
        found = member(ran.policy.filter, e)
        if int(ran.style[e]) == 3:
            assert_same_bits(found, member(holders, 3))
        else:  # raw: its numbers mean nothing
            assert float(found.count) == 0.0


@pytest.mark.parametrize("iteration", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_a_place_keeps_the_best_of_those_drawn_for_it(seed, iteration):
    state, seen = begun(iteration), rolled_out(seed)
    held = jnp.full(5, -jnp.inf).at[3].set(1.5)  # one round before, somebody won the place 3
    progress = state.population.progress._replace(raced=held)
    state = state._replace(population=state.population._replace(progress=progress))
    ran, after, row = round_of(state, seen)
    scores = seen.rewards.astype(float).sum(1)
    assert np.ptp(scores) > 1
    for k in range(5):
        drawn = [e for e in range(ENVS) if k in PLACES and place_of(iteration, e) == k]
        best = max(drawn, key=lambda e: scores[e], default=None)
        new, old = member(after.population, k), member(state.population, k)
        if best is None or scores[best] <= float(held[k]):
            assert_same_bits(new, old)
            continue
        winner = member(ran, best)
        assert_same_bits(new.policy, winner.policy)
        assert_same_bits(new.optimiser, winner.optimiser)
        assert float(new.progress.raced) == pytest.approx(scores[best], rel=1e-5)
        assert float(new.progress.highest) == pytest.approx(scores[best], rel=1e-5)
        assert float(new.progress.lowest) == pytest.approx(scores.min(), rel=1e-5)
        # the return that it won with counts for nothing else: J is to be measured
        assert (float(new.performance), int(new.record.picks)) == (0.0, 0)
        assert np.isnan(new.progress.means).all()
    assert int(row["picked"]) == place_of(iteration, int(np.argmax(scores)))
    assert int(after.iteration) == iteration + 1
    for name in ("values", "exploration", "shared", "key", "current"):
        assert_same_bits(getattr(after, name), getattr(state, name))
    assert row["style"].tolist() == [0, 1, 2, 3, 0]


def test_in_a_later_round_places_go_to_who_beats_what_is_at_stake_and_v_begins_with_them():
    again = replace(METHOD.picking, races_again=True)
    method = replace(METHOD, picking=again, value="independent")
    state, seen = begun(10), rolled_out(0)
    state = state._replace(values=programs(method, SHAPE).init(jax.random.key(1)).values)
    scores = seen.rewards.astype(float).sum(1)
    drawn = {k: [e for e in range(ENVS) if place_of(10, e) == k] for k in PLACES}
    best = {k: max(drawn[k], key=lambda e: scores[e]) for k in PLACES}
    record = state.population.record._replace(picks=jnp.array([5, 4, 0, 4, 0]))
    # place 1 has one less than the best drawn for it, place 3 one more; nobody is paid
    J = jnp.zeros(5).at[1].set(scores[best[1]] - 1).at[3].set(scores[best[3]] + 1)
    held = state.population._replace(record=record, performance=J)
    after = round_of(state._replace(population=held), seen, method)[1]
    ran = programs(method, SHAPE).runners(state._replace(population=held), ENVS)
    assert_same_bits(member(after.population.policy, 1), member(ran.policy, best[1]))
    assert int(after.population.record.picks[1]) == 0
    for k in (0, 2, 3, 4):
        assert_same_bits(member(after.population, k), member(held, k))
    old, new = state.values.network, after.values.network
    unlike = [not same_bits(member(new, k), member(old, k)) for k in range(5)]
    assert unlike == [False, True, False, False, False]
    # in the rounds at the start V has seen nothing yet, and stays
    first = round_of(state._replace(iteration=jnp.asarray(1)), seen, method)[1]
    assert_same_bits(first.values, state.values)


def test_the_rule_asks_for_later_rounds_only_where_there_is_a_race():
    method = replace(METHOD, picking=replace(METHOD.picking, races_again=True))
    asks = lambda method, shape: bool(race.again(method, shape, begun(10)))
    assert asks(method, SHAPE)  # nothing is paid, and 10 = 1 + 2 + 3 + 4
    assert not asks(METHOD, SHAPE)
    assert not asks(method, replace(SHAPE, head=Categorical((3,))))
    assert not asks(replace(method, race=0), SHAPE)


def test_the_row_of_a_round_tells_of_its_episodes():
    seen = rolled_out(0)
    _, _, row = round_of(begun(), seen)
    assert int(row["episodes"]) == 3
    assert float(row["return_mean"]) == pytest.approx(seen.rewards[:3].sum(1).mean(), rel=1e-5)
    assert (float(row["kl"]), float(row["gain"]), bool(row["finite"])) == (0.0, 0.0, True)
    assert row["picks"].tolist() == [0] * 5


def test_scores_are_means_over_lives_and_what_goes_on_counts_as_it_stands():
    seen = random_trajectories(0, 3, 4, 2, SHAPE.head, ends=0.0)
    rewards = np.array([[1, 2, 3, 4], [1, 2, 3, 4], [-1, 0, 0, 5]], np.float32)
    ended = np.array([[0, 1, 0, 1], [0, 0, 0, 0], [0, 0, 0, 1]], bool)
    found = race._scores(seen._replace(rewards=rewards, terminated=ended))
    assert found.tolist() == [5.0, 10.0, 4.0]


def test_there_is_no_race_where_random_policies_act_alike():
    shaped = lambda head: replace(SHAPE, head=head)
    assert race.rounds(METHOD, shaped(Categorical((3,)))) == 0
    assert race.rounds(METHOD, shaped(Product((Gaussian(1), Categorical((3,)))))) == 2
    assert race.rounds(replace(METHOD, race=0), SHAPE) == 0
    assert race.rounds(Method(), SHAPE) == 0
    paid = replace(METHOD, styles=(Style(), replace(APART, bonus=1.0)))
    assert race.rounds(paid, SHAPE) == 0  # what begins apart there is paid a bonus
