"""What is asked of a run: what is refused, and what is said of settings that are a makeshift."""

import warnings

import pytest

from mppo.algorithm.methods import Method
from mppo.envs.source import EnvSource
from mppo.errors import BadRequest, SettingsWarning
from mppo.files.evaluation import Evaluation
from mppo.training.validation import check, refuse_sharing, say_cut, unfinished


def on(horizon, count=0, shared=False, native=False):
    return EnvSource("Here-v0", None, None, horizon, {}, native, False, count, shared)


@pytest.mark.parametrize(
    ("horizon", "batch", "envs", "episodes", "wanted"),
    [
        (1000, 5000, 5, "fresh", "drop"),  # the paper's TRPO
        (1000, 2048, 2, "fresh", "drop"),  # and PPO
        (500, 500, 1, "fresh", "drop"),
        (500, 500, 1, "continue", "drop"),  # an episode ends in every batch
        (None, 5000, 1, "fresh", "window"),
        (None, 5000, 10, "continue", "window"),
    ],
)
def test_what_j_makes_of_episodes_that_a_batch_cuts(horizon, batch, envs, episodes, wanted):
    method = Method(batch_size=batch, envs=envs, episodes=episodes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert unfinished(method, on(horizon), envs) == wanted


@pytest.mark.parametrize(
    ("horizon", "batch", "envs", "count", "episodes"),
    [
        (500, 499, 1, 0, "fresh"),
        (500, 256, 8, 0, "fresh"),  # no number of environments would help
        (500, 2000, 8, 8, "fresh"),  # theirs, and not ours to choose
        (500, 2000, 8, 0, "continue"),
    ],
)
def test_where_no_batch_holds_a_whole_episode_j_goes_on_with_v(
    horizon, batch, envs, count, episodes
):
    method = Method(batch_size=batch, envs=envs, episodes=episodes)
    with pytest.warns(SettingsWarning) as said:
        assert unfinished(method, on(horizon, count), envs) == "bootstrap"
    assert [str(one.message) for one in said] == [
        f'a batch gives each environment {batch // envs} steps, and an episode of "Here-v0" may '
        "take 500: J counts unfinished episodes by their return so far plus V; use --batch-size "
        f"{500 * envs} or more for whole episodes"
    ]


def test_too_many_environments_are_refused_with_the_ways_out():
    with pytest.raises(BadRequest) as caught:
        unfinished(Method(batch_size=2048, envs=64), on(1000), 64)
    assert str(caught.value) == (
        'environments share a batch of 2048 steps, 32 each, and an episode of "Here-v0" may take '
        "1000: no batch would hold a whole one. Use --envs 2, a --batch-size of 64000 or more, or "
        "--episodes continue"
    ).join(["64 ", ""])
    for way_out in (
        Method(batch_size=2048, envs=2),
        Method(batch_size=64_000, envs=64),
    ):
        assert unfinished(way_out, on(1000), way_out.envs) == "drop"


def test_cut_evaluations_are_said():
    with pytest.warns(SettingsWarning) as said:
        say_cut(3, 20, "Here-v0", 10_000)
    assert str(said[0].message).startswith(
        '3 of 20 evaluation episodes on "Here-v0" were stopped after 10,000 steps'
    )


def test_numbers_that_no_run_can_have():
    method, evaluation = Method(batch_size=100), Evaluation(0)
    check(method, 100, 0, evaluation, 0)
    for steps, seed, how, workers, says in (
        (99, 0, evaluation, 0, "below one batch of 100"),
        (100, -1, evaluation, 0, "seed is -1"),
        (100, 0, evaluation, -1, "workers is -1"),
        (100, 0, Evaluation(10, 0), 0, "at least one episode"),
    ):
        with pytest.raises(BadRequest, match=says):
            check(method, steps, seed, how, workers)


def test_an_instance_cannot_go_on_in_training_and_be_evaluated():
    method = Method(episodes="continue")
    refuse_sharing(on(10, 1, shared=True), method, Evaluation(0))
    with pytest.raises(BadRequest, match='"Here-v0" is a single instance'):
        refuse_sharing(on(10, 1, shared=True), method, Evaluation(10))


def test_a_state_for_each_path_needs_environments_that_can_tell_it():
    method = Method(episodes="continue-per-path")
    refuse_sharing(on(10, 1, native=True), method, Evaluation(10))
    with pytest.raises(BadRequest, match='"Here-v0" cannot tell its own; use "continue"'):
        refuse_sharing(on(10, 1), method, Evaluation(10))
