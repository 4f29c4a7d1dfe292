"""The contest of paths: populations worked by hand, growth against least squares, properties."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mppo.algorithm import theorem
from mppo.algorithm.contest import Contest, errors_of_j, growth, varied
from mppo.algorithm.population import Member, Progress, fresh_record

RULE = Contest(caution=1.0, ahead=10.0, patience=2, share=3, looks_back=4)
KEY = jax.random.key(0)


def population(
    J, picks, errors=0.0, means=None, mean_errors=0.0, raced=-np.inf, curious=False, paid=True
):
    """K paths of which only this is known; `paid`: whether episodes of a path differ in return."""
    K, m = len(J), RULE.looks_back
    spread = lambda value, kind=np.float32: jnp.asarray(np.broadcast_to(value, K).astype(kind))
    record = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (K, *leaf.shape)), fresh_record(0))
    record = record._replace(picks=spread(picks, np.int32), standard_error=spread(errors))
    means = np.full((K, m), np.nan) if means is None else np.asarray(means)
    progress = Progress(
        jnp.asarray(means, jnp.float32),
        jnp.asarray(np.where(np.isnan(means), np.nan, mean_errors), jnp.float32),
        spread(0.0),
        spread(paid),
        spread(curious, bool),
        spread(raced),
    )
    return Member((), (), spread(J), spread(0.0), record, (), progress)


@partial(jax.jit, static_argnums=0)
def looked(rule, paths, iteration):
    """All that the rule says of a population: pick, lead, who is open, who is shown."""
    return rule.pick(paths, iteration, KEY), *rule.standing(paths), rule.report(paths, 0, KEY)


def standing(*arguments, rule=RULE, **options):
    _, lead, open_, _ = looked(rule, population(*arguments, **options), 0)
    return int(lead), np.asarray(open_).tolist()


def pick(paths, iteration, rule=RULE):
    return int(looked(rule, paths, iteration)[0])


def test_the_lead_is_the_most_picked_of_those_not_clearly_worse_than_the_best():
    # best 10 - 0.5 = 9.5; path 2 reaches 9.5 + 0.5, path 0 only 5.5
    assert standing([5, 10, 9.5], [8, 3, 6], errors=0.5)[0] == 2
    assert standing([5, 10, 9.5], [8, 3, 6], errors=0.2)[0] == 1  # 9.7 < 9.8: clearly worse
    assert standing([5, 10, 9.5], [8, 6, 6], errors=0.5)[0] == 1  # as often picked: the higher J
    assert standing([5, 10, 99], [8, 3, 0])[0] == 1  # J of a path never tried says nothing
    doubtful = Contest(caution=3.0, ahead=0.0, patience=0, share=2, looks_back=4)
    assert standing([5, 10, 9.5], [8, 3, 6], errors=0.2, rule=doubtful)[0] == 2


RISING, FLAT, FALLING = [2.0, 3.0, 4.0, 5.0], [5.0] * 4, [5.0, 4.0, 3.0, 2.0]


def test_open_is_who_may_overtake_within_the_picks_ahead():
    # soon: 5 + 10 * 1 = 15; 10; 2, and the lead is path 1 with 10
    means = [RISING, [10.0] * 4, FALLING]
    assert standing([5, 10, 2], [4, 6, 4], means=means) == (1, [True, True, False])
    # its growth less its error: 1 - sqrt(5) * 0.5 / 5 = 0.776, and 5 + 7.76 is still above 10
    found = standing([5, 10, 2], [4, 6, 4], means=means, mean_errors=0.5)
    assert found == (1, [True, True, False])
    # with errors of 1.2 nothing is left but 5 + 10 * 0.463 < 10
    assert standing([5, 10, 2], [4, 6, 4], means=means, mean_errors=1.2)[1][0] is False
    # the standard error of J itself counts once: 9.5 + 0.5 reaches 10, and 9.4 + 0.5 does not
    assert standing([9.5, 10, 9.4], [4, 6, 4], errors=0.5)[1] == [True, True, False]


def test_the_lead_s_own_growth_must_be_overtaken():
    means = [FLAT, RISING, FLAT]
    # the lead is at 5 and rising: 15 soon; the others stay at 5
    assert standing([4, 5, 4], [4, 6, 4], means=means) == (1, [False, True, False])


def test_the_first_path_is_never_given_up_before_its_patience():
    for picks, waits in ((0, True), (1, True), (2, False), (3, False)):
        assert standing([-100, 10], [picks, 9], means=[FLAT, RISING])[1][0] is waits
    assert standing([10, -100], [9, 1])[1][1] is False  # the others have none


def test_a_path_never_tried_needs_a_claim():
    rising = [RISING, [np.nan] * 4]
    flat = [FLAT, [np.nan] * 4]
    # the lead has 5, and soon 15
    assert standing([5, 0], [4, 0], means=rising)[1][1] is False
    assert standing([5, 0], [4, 0], means=rising, raced=[-np.inf, 14.9])[1][1] is False
    assert standing([5, 0], [4, 0], means=rising, raced=[-np.inf, 15.1])[1][1] is True
    # a lead that no longer grows, after as many picks as the rule looks back on
    assert standing([5, 0], [4, 0], means=flat)[1][1] is True
    assert standing([5, 0], [3, 0], means=flat)[1][1] is False


def test_lead_and_challengers_take_turns():
    paths = population([9, 10, 9, 9, 0], [3, 6, 5, 3, 1], errors=[1, 1, 1, 1, 0])
    assert looked(RULE, paths, 0)[2].tolist() == [True, True, True, True, False]
    assert [pick(paths, n) for n in range(4)] == [1, 0, 1, 0]  # path 3 has 3 picks as well
    fewer = population([9, 10, 9, 9, 0], [5, 6, 5, 3, 1], errors=[1, 1, 1, 1, 0])
    assert [pick(fewer, n) for n in range(2)] == [1, 3]
    # winners of a race come first among those picked as often
    raced = population([9, 10, 9, 9, 0], [3, 6, 5, 3, 1], errors=[1, 1, 1, 1, 0], raced=range(5))
    assert [pick(raced, n) for n in range(2)] == [1, 3]


def test_the_lead_goes_on_alone_where_nobody_may_overtake_or_has_had_fewer_picks():
    alone = population([0, 10, 0], [5, 6, 5])
    level = population([9, 10, 9], [6, 6, 6], errors=1)
    for n in range(4):
        assert pick(alone, n) == 1
        assert pick(level, n) == 1


def test_while_nothing_is_paid_the_curious_learn_and_every_so_many_others_are_tried():
    paths = population([0] * 4, [3, 1, 1, 0], curious=[1, 0, 1, 0], paid=False)
    # share 3: iterations 2, 5, 8, ... try the least picked of 1 and 3
    assert [pick(paths, n) for n in range(6)] == [2, 2, 3, 2, 2, 3]
    every = Contest(caution=1.0, ahead=10.0, patience=2, share=1, looks_back=4)
    assert [pick(paths, n, every) for n in range(2)] == [3, 3]
    plain = population([0] * 4, [3, 1, 1, 2], paid=False)
    assert [pick(plain, n) for n in range(6)] == [1] * 6  # nobody is curious: all in turn
    curious = population([0] * 4, [3, 1, 1, 2], curious=True, paid=False)
    assert [pick(curious, n) for n in range(6)] == [1] * 6
    # levels of J say nothing while all that is in them is the gain's noise
    odd = population([5, -1, 2, 3], [3, 1, 1, 0], curious=[1, 0, 1, 0], paid=False)
    assert [pick(odd, n) for n in range(3)] == [2, 2, 3]
    # as soon as one path has seen a difference, it is the lead that counts
    seen = population([5, -1, 2, 3], [3, 1, 1, 0], curious=[1, 0, 1, 0], paid=[0, 0, 1, 0])
    assert pick(seen, 0) == 0


def test_only_a_plain_path_among_curious_ones_is_drawn_anew_and_only_while_nothing_is_paid():
    renews = lambda paths: [bool(RULE.renews(paths, jnp.asarray(i))) for i in range(2)]
    assert renews(population([0, 0], [1, 1], curious=[1, 0], paid=False)) == [False, True]
    assert renews(population([0, 0], [1, 1], curious=[1, 0], paid=[1, 0])) == [False, False]
    assert renews(population([0, 0], [1, 1], curious=[0, 0], paid=False)) == [False, False]
    assert renews(population([0, 0], [1, 1], curious=[1, 1], paid=False)) == [False, False]


def test_the_best_known_path_is_reported():
    shown = lambda *given: int(looked(RULE, population(*given), 0)[3])
    assert shown([1, 5, 9], [4, 2, 0]) == 1
    assert shown([-9, -5, 0], [4, 2, 0]) == 1
    assert shown([1, 5, 9], [0, 0, 0]) == 2  # nothing known


def test_episodes_differ_only_if_two_returns_do():
    progress = population([0] * 3, [1] * 3).progress._replace(
        lowest=jnp.array([np.inf, 2.0, 1.0]), highest=jnp.array([-np.inf, 2.0, 2.0])
    )
    assert varied(progress).tolist() == [False, False, True]


def test_theorem_1_says_nothing_of_this_rule():
    J, H = np.array([1.0, -50.0]), np.array([0.0, 0.0])
    assert theorem.check(RULE, J, H, 0, 1) is None


@pytest.mark.parametrize("finished", [0, 1, 3, 5, 12])
def test_errors_of_j_are_those_of_the_returns_remembered(finished):
    rng = np.random.default_rng(finished)
    returns = rng.normal(size=(2, 5)).astype(np.float32)
    paths = population([0, 0], [1, 1], errors=7.0)
    record = paths.record._replace(
        returns=jnp.asarray(returns), finished=jnp.full(2, finished, jnp.int32)
    )
    n = min(finished, 5)
    wanted = [np.std(row[:n], ddof=1) / np.sqrt(n) if n > 1 else 0.0 for row in returns]
    np.testing.assert_allclose(errors_of_j(paths._replace(record=record)), wanted, rtol=1e-5)
    np.testing.assert_array_equal(errors_of_j(paths), [7.0, 7.0])  # none remembered: the batch's


grown = jax.jit(growth)


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(0, 6), st.sampled_from([0.0, 0.1, 3.0]))
def test_growth_is_the_least_squares_slope_less_its_standard_error(seed, known, noise):
    rng = np.random.default_rng(seed)
    means, errors = rng.normal(size=(2, 6)).cumsum(axis=1)
    means[: 6 - known], errors[: 6 - known] = np.nan, np.nan
    errors = noise * np.abs(errors)
    found = float(grown(jnp.asarray(means, jnp.float32), jnp.asarray(errors, jnp.float32)))
    if known < 3:
        assert found == 0.0
        return
    time = np.arange(6 - known, 6)
    slope = np.polyfit(time, means[time], 1)[0]
    design = np.stack([time, np.ones(known)], axis=1)  # var = (X'X)^-1 X' D X (X'X)^-1
    to_fit = np.linalg.inv(design.T @ design) @ design.T
    error = np.sqrt((to_fit @ np.diag(errors[time] ** 2) @ to_fit.T)[0, 0])
    assert found == pytest.approx(max(slope - error, 0.0), rel=1e-4, abs=1e-5)


K = 4
numbers = st.sampled_from([-3.0, 0.0, 0.5, 1.0, 1.1, 4.0])


@settings(max_examples=150)
@given(
    st.lists(numbers, min_size=K, max_size=K),
    st.lists(st.integers(0, 5), min_size=K, max_size=K),
    st.lists(st.sampled_from([0.0, 0.3, 2.0]), min_size=K, max_size=K),
    st.lists(st.lists(numbers, min_size=4, max_size=4), min_size=K, max_size=K),
    st.lists(st.sampled_from([-np.inf, 0.0, 2.0]), min_size=K, max_size=K),
    st.lists(st.booleans(), min_size=K, max_size=K),
    st.lists(st.booleans(), min_size=K, max_size=K),
    st.integers(0, 7),
)
def test_what_holds_for_every_population(J, picks, errors, means, raced, curious, paid, iteration):
    paths = population(J, picks, errors, means, 0.1, raced, curious, paid)
    i, lead, open_, _ = looked(RULE, paths, iteration)
    i, lead, open_ = int(i), int(lead), np.asarray(open_)
    if any(picks):
        assert picks[lead] > 0  # who was never tried does not lead
        assert open_[lead]  # and the lead may overtake itself
    if not any(paid):
        others = not all(curious) and any(curious) and iteration % RULE.share == RULE.share - 1
        group = [k for k in range(K) if curious[k] != others or not any(curious)]
        assert i in group
        assert picks[i] == min(picks[k] for k in group)
    elif i != lead:
        assert open_[i]
        assert picks[i] < picks[lead]
        assert iteration % 2 == 1


@pytest.mark.parametrize(
    "wrong",
    [{"caution": -1.0}, {"ahead": -1.0}, {"patience": -1}, {"share": 0}, {"looks_back": 2}],
)
def test_numbers_out_of_range_are_named(wrong):
    (name, value), *_ = wrong.items()
    with pytest.raises(ValueError, match=f"{name} is {value}; it must lie in"):
        Contest(**wrong)
