"""What is asked of a run: what is refused, and what is said of settings that are a makeshift."""

import pytest

from mppo.checks import check, refuse_sharing, say_cut
from mppo.errors import BadRequest, SettingsWarning
from mppo.evaluation import Evaluation
from mppo.methods import Method
from mppo.tasks import Task


def on(horizon, count=0, shared=False):
    return Task("Here-v0", None, None, horizon, {}, False, False, count, shared)


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
