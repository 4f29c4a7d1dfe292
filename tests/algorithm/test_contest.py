"""The contest of paths: populations worked by hand, growth against least squares, properties."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mppo.algorithm import theorem
from mppo.algorithm.contest import Contest, errors_of_j, growth, is_paid, varied
from mppo.algorithm.population import Member, Progress, fresh_record

RULE = Contest(caution=1.0, ahead=10.0, patience=2, share=3, looks_back=4, recent=4)
KEY = jax.random.key(0)


def population(
    J,
    picks,
    errors=0.0,
    means=None,
    mean_errors=0.0,
    raced=-np.inf,
    curious=False,
    lowest=-999.0,
    highest=999.0,
):
    """K paths of which only this is known; with these lowest and highest returns all are paid."""
    K, m = len(J), RULE.looks_back
    spread = lambda value, kind=np.float32: jnp.asarray(np.broadcast_to(value, K).astype(kind))
    record = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (K, *leaf.shape)), fresh_record(0))
    record = record._replace(picks=spread(picks, np.int32), standard_error=spread(errors))
    means = np.full((K, m), np.nan) if means is None else np.asarray(means)
    progress = Progress(
        jnp.asarray(means, jnp.float32),
        jnp.asarray(np.where(np.isnan(means), np.nan, mean_errors), jnp.float32),
        spread(lowest),
        spread(highest),
        spread(curious, bool),
        spread(raced),
    )
    return Member((), (), spread(J), spread(0.0), record, (), progress)


NOTHING = {"lowest": 0.0, "highest": 0.0}  # every episode of every path returned 0


@partial(jax.jit, static_argnums=0)
def looked(rule, paths, iteration):
    """All that the rule says of a population: pick, standing, who is shown, who is paid."""
    said = rule.pick(paths, iteration, KEY), rule.standing(paths), rule.report(paths, 0, KEY)
    return *said, is_paid(paths)


def standing(*arguments, rule=RULE, **options):
    """Lead, whether it has stalled, who may overtake."""
    lead, stalled, open_, _ = looked(rule, population(*arguments, **options), 0)[1]
    return int(lead), bool(stalled), np.asarray(open_).tolist()


def may_overtake(*arguments, **options):
    return standing(*arguments, **options)[2]


def pick(paths, iteration, rule=RULE):
    return int(looked(rule, paths, iteration)[0])


def picked(paths, iterations, rule=RULE):
    """Who would be picked of the same paths at iterations 0, 1, 2, ..."""
    return [pick(paths, n, rule) for n in range(iterations)]


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
    # soon: 5 + 10 * 1 = 15; 10; 2, and the lead is path 1 with 10 and too few picks to have stalled
    paths, means = ([5, 10, 2], [4, 3, 4]), [RISING, [10.0] * 4, FALLING]
    assert standing(*paths, means=means) == (1, False, [True, True, False])
    # its growth less its error: 1 - sqrt(5) * 0.5 / 5 = 0.776, and 5 + 7.76 is still above 10
    assert may_overtake(*paths, means=means, mean_errors=0.5) == [True, True, False]
    # with errors of 1.2 nothing is left but 5 + 10 * 0.463 < 10
    assert may_overtake(*paths, means=means, mean_errors=1.2) == [False, True, False]
    # the standard error of J itself counts once: 9.5 + 0.5 reaches 10, and 9.4 + 0.5 does not
    assert may_overtake([9.5, 10, 9.4], [4, 6, 4], errors=0.5) == [True, True, False]


def test_the_lead_s_own_growth_must_be_overtaken():
    means = [FLAT, RISING, FLAT]
    # the lead is at 5 and rising: 15 soon; the others stay at 5
    assert standing([4, 5, 4], [4, 6, 4], means=means) == (1, False, [False, True, False])


def test_a_lead_has_stalled_that_is_to_gain_less_than_a_tenth_of_the_spread():
    # the spread of J is 10 - 2 = 8, a tenth of it 0.8; the lead gains 10 times its slope
    slow, fast = ([10 + slope * n for n in range(4)] for slope in (0.07, 0.09))
    stalls = lambda lead, picks: standing([2, 10], [4, picks], means=[FLAT, lead])[1]
    assert stalls(slow, 4)
    assert not stalls(slow, 3)  # fewer picks than the rule looks back on
    assert not stalls(fast, 4)
    # a path never tried is no part of the spread
    unknown = standing([2, 10, -99], [4, 6, 0], means=[FLAT, fast, [np.nan] * 4])
    assert unknown == (1, False, [False, True, False])


def test_a_stalled_lead_takes_turns_with_whoever_grows_however_far_behind():
    # 10 ahead of them: -50 + 10 * 1 reaches nothing, but it grows by 10 > 0.1 * 60
    paths, flat = [-50, 10, -50], [10.0] * 4
    means = [RISING, flat, FALLING]
    assert standing(paths, [4, 6, 4], means=means) == (1, True, [True, True, False])
    assert standing(paths, [4, 3, 4], means=means) == (1, False, [False, True, False])
    # at -100 it grows by less than a tenth of the spread of 110
    assert may_overtake([-100, 10, -50], [4, 6, 4], means=means) == [False, True, False]
    # also when it had more picks than the lead
    assert picked(population(paths, [4, 6, 4], means=means), 4) == [1, 0, 1, 0]
    assert picked(population(paths, [9, 6, 4], means=means), 4) == [1, 0, 1, 0]
    # one that reaches the lead by then goes first, and the lead waits: 1 + 10 * 1 > 10
    near = [RISING, flat, RISING]
    assert picked(population([-50, 10, 1], [4, 6, 9], means=near), 4) == [2] * 4


def test_two_of_three_picks_go_to_the_first_path_until_its_patience():
    for picks in (0, 1):  # the lead is path 1, and nobody may overtake it
        paths = population([-50, 10], [picks, 9], means=[FLAT, RISING])
        assert picked(paths, 6) == [0, 0, 1, 0, 0, 1]
    had = population([-50, 10], [2, 9], means=[FLAT, RISING])
    assert picked(had, 6) == [1] * 6
    unpaid = population([0] * 3, [1, 0, 5], **NOTHING)  # whether anybody is paid or not
    assert picked(unpaid, 6) == [0, 0, 1, 0, 0, 1]
    at_once = Contest(caution=1.0, ahead=10.0, patience=0, share=3, looks_back=4)
    new = population([-50, 10], [0, 9], means=[FLAT, RISING])
    assert picked(new, 6, at_once) == [1] * 6


def test_a_path_never_tried_needs_a_claim():
    rising, flat = [RISING, [np.nan] * 4], [FLAT, [np.nan] * 4]
    opened = lambda picks, means, raced: may_overtake(
        [5, 0], [picks, 0], means=means, raced=[-np.inf, raced]
    )[1]
    # the lead has 5, and soon 15
    assert not opened(4, rising, -np.inf)
    assert not opened(4, rising, 14.9)
    assert opened(4, rising, 15.1)
    # a lead that no longer grows, after as many picks as the rule looks back on
    assert opened(4, flat, -np.inf)
    assert not opened(3, flat, -np.inf)
    # who was in a race has what it won there and no more
    assert not opened(4, flat, 4.9)
    assert opened(4, flat, 5.1)


def test_lead_and_challengers_take_turns_while_the_lead_grows():
    means = [RISING] * 4 + [FLAT]  # soon: 19, 20, 19, 19, 0, and errors of 1.5
    given = {"errors": [1.5] * 4 + [0], "means": means}
    J, picks = [9, 10, 9, 9, 0], [3, 6, 5, 3, 1]
    assert standing(J, picks, **given) == (1, False, [True, True, True, True, False])
    assert picked(population(J, picks, **given), 4) == [1, 0, 1, 0]  # path 3 has 3 picks as well
    assert picked(population(J, [5, 6, 5, 3, 1], **given), 4) == [1, 3, 1, 3]
    # winners of a race come first among those picked as often
    assert picked(population(J, picks, raced=range(5), **given), 4) == [1, 3, 1, 3]
    # nobody gets ahead of it in picks
    assert picked(population(J, [6, 6, 6, 6, 1], **given), 4) == [1] * 4


def test_a_stalled_lead_gives_every_pick_to_those_that_may_overtake():
    given = {"errors": [1.5] * 4 + [0]}  # nobody grows, and 9 + 1.5 reaches 10
    J = [9, 10, 9, 9, 0]
    assert picked(population(J, [3, 6, 5, 3, 1], **given), 4) == [0] * 4
    assert picked(population(J, [6, 6, 5, 4, 1], **given), 4) == [3] * 4
    assert picked(population(J, [6] * 5, **given), 4) == [0] * 4  # with as many picks as the lead


def test_where_the_lead_has_stalled_and_none_comes_one_pick_in_four_is_the_first_path_s():
    assert picked(population([0, 10, 0], [5, 6, 5]), 8) == [1, 1, 1, 0, 1, 1, 1, 0]
    grows = population([0, 10, 0], [5, 6, 5], means=[FLAT, RISING, FLAT])
    assert picked(grows, 8) == [1] * 8
    young = population([0, 10, 0], [5, 3, 5])
    assert picked(young, 8) == [1] * 8


def test_in_a_lull_whoever_had_few_picks_gets_one_in_three_in_the_order_of_the_paths():
    rule = replace(RULE, trial=3)
    J = [0, 10, 0, 0, 0]
    assert picked(population(J, [5, 6, 5, 2, 1]), 8, rule) == [1, 3, 1, 0, 3, 1, 1, 3]
    assert picked(population(J, [5, 6, 5, 3, 1]), 8, rule) == [1, 4, 1, 0, 4, 1, 1, 4]
    assert picked(population(J, [5, 6, 5, 3, 3]), 8, rule) == [1, 1, 1, 0, 1, 1, 1, 0]
    # not while the lead grows, and not the lead itself, however few picks it had
    grows = population(J, [5, 6, 5, 2, 1], means=[FLAT, RISING, FLAT, FLAT, FLAT])
    assert picked(grows, 8, rule) == [1] * 8
    alone = population([0, 10], [5, 4])
    assert picked(alone, 4, replace(rule, trial=9)) == [1, 0, 1, 0]


def test_with_further_races_a_path_that_was_never_paid_has_a_short_trial():
    rule, given = replace(RULE, trial=9, races_again=True), {"lowest": 0.0}
    J, highest = [0, 10, 0, 0], [10, 20, 0, 5]  # path 2 never saw two different returns
    waits = lambda picks: picked(population(J, picks, highest=highest, **given), 3, rule)[1]
    assert waits([9, 20, 2, 1]) == 2
    assert waits([9, 20, 3, 1]) == 3
    assert waits([9, 20, 3, 8]) == 3
    assert waits([9, 20, 3, 9]) == 1
    assert picked(population(J, [9, 20, 3, 9], highest=highest, **given), 2, RULE) == [1, 1]
    longer = replace(rule, races_again=False)
    assert picked(population(J, [9, 20, 3, 1], highest=highest, **given), 2, longer) == [1, 2]


def test_with_further_races_those_who_race_are_not_tried_one_by_one_while_nothing_is_paid():
    rule, given = replace(RULE, races_again=True), {"curious": [1, 0, 0, 0], **NOTHING}
    raced = population([0] * 4, [3, 0, 1, 0], raced=[-np.inf, 0, -np.inf, 0], **given)
    assert picked(raced, 6) == [0, 0, 1, 0, 0, 1]
    assert picked(raced, 6, rule) == [0, 0, 2, 0, 0, 2]
    all_raced = population([0] * 4, [3, 1, 1, 0], raced=[-np.inf, 0, 0, 0], **given)
    assert picked(all_raced, 3, rule) == [0, 0, 3]


def test_the_race_goes_on_while_nothing_is_paid_or_the_lead_has_stalled():
    rule = replace(RULE, races_again=True, promising=0.5)

    def rounds(*arguments, rule=rule, **options):
        paths = population(*arguments, **options)
        return [n for n in range(30) if rule.races(paths, jnp.asarray(n))]

    triangular = [0, 1, 3, 6, 10, 15, 21, 28]
    nothing = {"curious": [1, 0, 0], **NOTHING}
    assert rounds([0] * 3, [9, 0, 1], **nothing) == triangular
    assert rounds([0] * 3, [9, 0, 1], rule=RULE, **nothing) == []
    # who won and was paid is tried first
    won = {"curious": [1, 0, 0], "raced": [-np.inf, 3, 0], "lowest": 0.0, "highest": [0, 3, 0]}
    assert rounds([0] * 3, [9, 0, 1], **won) == []
    assert rounds([0] * 3, [9, 1, 1], **won) == triangular
    # someone is paid: a lull, a lead that grows, a lead with a challenger
    assert rounds([0, 10, 0], [5, 6, 5]) == triangular
    assert rounds([0, 10, 0], [5, 6, 5], means=[FLAT, RISING, FLAT]) == []
    assert rounds([9, 10, 0], [5, 6, 5], errors=1.0) == []
    # where a random policy had half of the lead's pay, every third iteration of a lull
    often, known = sorted({*triangular, *range(2, 30, 3)}), {"lowest": 2.0, "highest": 20.0}
    assert rounds([2, 10, 2], [5, 6, 5], raced=[-np.inf, -np.inf, 6.1], **known) == often
    assert rounds([2, 10, 2], [5, 6, 5], raced=[-np.inf, -np.inf, 5.9], **known) == triangular
    never = replace(rule, promising=0.0)
    assert rounds([2, 10, 2], [5, 6, 5], rule=never, raced=9.0, **known) == triangular
    hardly = {"raced": [-np.inf, 3, 0], "lowest": 0.0, "highest": 100.0, "curious": [1, 0, 0]}
    assert rounds([5, 5, 5], [9, 1, 1], **hardly) == triangular  # nobody is paid


def test_a_later_round_is_for_what_beats_the_lead_and_never_for_its_place():
    rule = replace(RULE, races_again=True)
    stake = lambda *arguments, **options: rule.at_stake(population(*arguments, **options)).tolist()
    raced = [-np.inf, 3, 12, 0]
    # nobody is paid: J where it is known, else what was won
    hardly = {"raced": raced, "lowest": 0.0, "highest": 100.0}
    assert stake([2, 1, 0, 5], [4, 0, 0, 2], **hardly) == [2, 3, 12, 5]
    # path 0 leads with 20
    assert stake([20, 1, 0, 5], [4, 0, 0, 2], **hardly) == [np.inf, 20, 20, 20]
    assert stake([20, 1, 0, 5], [4, 0, 0, 2], **hardly | {"raced": 25}) == [np.inf, 25, 25, 20]


def test_a_lead_that_grew_a_while_ago_has_not_stalled_yet():
    """It is looked at for longer than its growth: noise over a few batches is no lull."""
    rule = replace(RULE, recent=3, looks_back=6)
    risen = [[np.nan] * 6, [2.0, 4.0, 6.0, 8.0, 8.0, 8.0]]
    stalls = lambda rule, means: standing([0, 8], [6, 6], means=means, rule=rule)[1]
    assert not stalls(rule, risen)
    assert stalls(rule, [[np.nan] * 6, [8.0] * 6])
    newest = [row[-3:] for row in risen]
    assert stalls(replace(rule, looks_back=3), newest)


def test_a_first_path_too_far_behind_is_not_tried_again():
    stalled = population([4, 10, 0], [5, 6, 5], lowest=0.0, highest=10.0)
    rules = (replace(RULE, comeback=share) for share in (0.0, 0.4, 0.5))
    tried = [[int(rule.pick(stalled, jnp.asarray(n), KEY)) for n in (3, 4)] for rule in rules]
    assert tried == [[0, 1], [0, 1], [1, 1]]


def test_paid_is_who_lies_above_the_lowest_of_all_by_two_errors_and_a_tenth_of_the_range():
    paid = lambda *arguments, **options: looked(RULE, population(*arguments, **options), 0)[
        3
    ].tolist()
    # 2 - 2 * 0.9 = 0.2 is above the lowest of 0, and 2 - 2 * 1.1 is not
    assert paid([2, 2], [1, 1], errors=[0.9, 1.1], lowest=0, highest=10) == [True, False]
    # a tenth of the way from -10 to 30 is -6
    assert paid([-5.9, -6.1], [1, 1], lowest=[-10, -8], highest=[30, 5]) == [True, False]
    # the lowest and the highest of all paths count, not a path's own
    assert paid([5, 5], [1, 1], lowest=[0, 5], highest=[10, 5]) == [True, True]
    assert paid([5, 5], [1, 1], lowest=[0, 5], highest=[10, 51]) == [False, False]
    assert paid([5, 5], [1, 0], lowest=0, highest=10) == [True, False]  # never tried
    assert paid([0, 0], [1, 1], **NOTHING) == [False, False]


def test_the_gain_of_an_update_is_no_pay_where_all_returns_are_equal():
    # J is the mean return plus the gain of line 10, and the range of the returns is empty
    paths = population([0.01, -0.01], [3, 3], **NOTHING)
    assert looked(RULE, paths, 0)[3].tolist() == [False, False]


def test_while_nothing_is_paid_the_curious_learn_and_every_so_many_others_are_tried():
    paths = population([0] * 4, [3, 1, 1, 0], curious=[1, 0, 1, 0], **NOTHING)
    # share 3: iterations 2, 5, 8, ... try the least picked of 1 and 3
    assert picked(paths, 6) == [2, 2, 3, 2, 2, 3]
    every = Contest(caution=1.0, ahead=10.0, patience=2, share=1, looks_back=4)
    assert picked(paths, 2, every) == [3, 3]
    plain = population([0] * 4, [3, 1, 1, 2], **NOTHING)
    assert picked(plain, 6) == [1] * 6  # nobody is curious: all in turn
    curious = population([0] * 4, [3, 1, 1, 2], curious=True, **NOTHING)
    assert picked(curious, 6) == [1] * 6


def test_levels_of_j_count_only_when_someone_is_paid_beyond_chance():
    given = {"curious": [1, 0, 1, 0], "lowest": 0, "highest": 100}
    hardly = population([0, 9, 2, 0], [3, 1, 1, 2], **given)  # below a tenth of 100
    assert picked(hardly, 6) == [2, 2, 1, 2, 2, 1]
    lucky = population([0, 50, 2, 0], [3, 1, 1, 2], errors=26, **given)  # 50 - 2 * 26 < 0
    assert picked(lucky, 6) == [2, 2, 1, 2, 2, 1]
    # the lead is path 1, too young to have stalled, and clearly better than the others
    paid = population([0, 50, 2, 0], [3, 1, 1, 2], errors=10, **given)
    assert picked(paid, 6) == [1] * 6


def test_winners_of_the_race_who_were_paid_in_it_are_tried_before_the_curious():
    given = {"curious": [1, 0, 0, 0], "raced": [-np.inf, 3, 7, 0], "lowest": 0}
    won = population([0] * 4, [3, 0, 0, 0], highest=[0, 3, 7, 0], **given)
    assert picked(won, 3) == [2] * 3  # the best of them
    tried = population([0] * 4, [3, 0, 1, 0], highest=[0, 3, 7, 0], **given)
    assert picked(tried, 3) == [1] * 3
    both = population([0] * 4, [3, 1, 1, 0], highest=[0, 3, 7, 0], **given)
    assert picked(both, 3) == [0, 0, 3]  # path 3 was not paid: one of the others in its turn
    # once somebody is paid, who was never tried needs more than the lead
    later = population([5, 0, 0, 0], [3, 0, 0, 0], highest=[5, 3, 7, 0], **given)
    assert picked(later, 3) == [0, 2, 0]


def test_only_a_plain_path_that_was_never_paid_is_drawn_anew_among_curious_ones():
    def renews(*arguments, **options):
        paths = population(*arguments, **options)
        return [bool(RULE.renews(paths, jnp.asarray(i))) for i in range(2)]

    unpaid, one = ([0, 0], [1, 1]), {"curious": [1, 0]}
    assert renews(*unpaid, **one, **NOTHING) == [False, True]
    assert renews(*unpaid, curious=[0, 0], **NOTHING) == [False, False]
    assert renews(*unpaid, curious=[1, 1], **NOTHING) == [False, False]
    # nobody is paid beyond chance, but path 1 was paid once
    assert renews([0, 0.5], [1, 1], **one, lowest=0, highest=[0, 10]) == [False, False]
    assert renews([0.5, 0], [1, 1], **one, lowest=0, highest=[10, 0]) == [False, True]
    # path 0 is paid
    assert renews([5, 0], [1, 1], **one, lowest=0, highest=[10, 0]) == [False, False]


def test_the_best_known_path_is_reported():
    shown = lambda *given: int(looked(RULE, population(*given), 0)[2])
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
of_each = lambda values: st.lists(values, min_size=K, max_size=K)


@settings(max_examples=200)
@given(
    J=of_each(numbers),
    picks=of_each(st.integers(0, 5)),
    errors=of_each(st.sampled_from([0.0, 0.3, 2.0])),
    means=of_each(st.lists(numbers, min_size=4, max_size=4)),
    raced=of_each(st.sampled_from([-np.inf, 0.0, 2.0])),
    curious=of_each(st.booleans()),
    lowest=of_each(st.sampled_from([-3.0, 0.0])),
    widths=of_each(st.sampled_from([0.0, 0.0, 2.2, 33.0])),
    iteration=st.integers(0, 59),
)
def test_what_holds_for_every_population(
    J, picks, errors, means, raced, curious, lowest, widths, iteration
):
    highest = np.add(lowest, widths)
    paths = population(J, picks, errors, means, 0.1, raced, curious, lowest, highest)
    i, (lead, stalled, open_, soon), _, paid = looked(RULE, paths, iteration)
    i, lead, stalled = int(i), int(lead), bool(stalled)
    open_, soon = np.asarray(open_).tolist(), np.asarray(soon).tolist()
    assert all(is_open for is_open, now in zip(open_, soon, strict=True) if now)
    low, tenth = min(lowest), (max(highest) - min(lowest)) / 10
    sure = [picks[k] > 0 and J[k] - 2 * errors[k] > low and J[k] - low >= tenth for k in range(K)]
    sure = [one and tenth > 0 for one in sure]
    assert np.asarray(paid).tolist() == sure
    if any(picks):
        assert picks[lead] > 0  # who was never tried does not lead
        best = max((k for k in range(K) if picks[k]), key=lambda k: J[k])
        assert J[lead] + errors[lead] >= J[best] - errors[best] - 1e-6
        assert open_[lead]  # and the lead may overtake itself
    if picks[0] < RULE.patience and iteration % 3 != 2:
        assert i == 0
    elif any(sure):
        among_the_paid(i, lead, stalled, open_, soon, picks, iteration)
    else:
        claims = [k for k in range(K) if picks[k] == 0 and widths[k] > 0]
        others = not all(curious) and any(curious) and iteration % RULE.share == RULE.share - 1
        group = claims or [k for k in range(K) if curious[k] != others or not any(curious)]
        assert i in group
        assert picks[i] == min(picks[k] for k in group)
        assert raced[i] == max(raced[k] for k in group if picks[k] == picks[i])


def among_the_paid(i, lead, stalled, open_, soon, picks, iteration):
    """Lead and challengers in turn; a lead that has stalled waits, or lets the first path try."""
    others = [k for k in range(K) if open_[k] and k != lead]
    first = [k for k in others if soon[k]]
    if stalled and first:
        assert i in first
        assert picks[i] == min(picks[k] for k in first)
    elif stalled and others:
        assert i in (others if iteration % 2 else [lead])
    elif stalled:
        assert i == (0 if iteration % 4 == 3 else lead)
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
