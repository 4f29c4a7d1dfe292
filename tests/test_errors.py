"""Exit codes and suggestions."""

from types import SimpleNamespace

import pytest

from mppo.errors import (
    BadRequest,
    EnvironmentFault,
    RunLocked,
    check_ranges,
    did_you_mean,
    in_words,
)


def test_exit_codes():
    assert (BadRequest.exit_code, EnvironmentFault.exit_code, RunLocked.exit_code) == (2, 65, 73)


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("mp-trp", '; did you mean "mp-trpo"?'),
        ("TRPO", '; did you mean "trpo"?'),
        ("Maze-v1", '; did you mean "Maze-v0"?'),
        ("zzzzzz", ""),
    ],
)
def test_did_you_mean(word, hint):
    assert did_you_mean(word, ["trpo", "mp-trpo", "Maze-v0"]) == hint


def test_a_sentence_after_a_suggestion_has_a_stop_before_it():
    assert did_you_mean("trp", ["trpo"], "Known: trpo") == '; did you mean "trpo"? Known: trpo'
    assert did_you_mean("zzz", ["trpo"], "Known: trpo") == ". Known: trpo"


def test_an_exception_without_a_message_says_where_it_was_raised():
    def fail():
        raise AssertionError

    with pytest.raises(AssertionError) as caught:
        fail()
    line = fail.__code__.co_firstlineno + 1
    where = f"{__file__}, line {line}"
    assert in_words(caught.value) == f"AssertionError in {where}: raise AssertionError"
    assert in_words(KeyError("width")) == "KeyError: 'width'"


@pytest.mark.parametrize("schedule", [lambda left: 1e-3 * left, "linear"])
def test_a_schedule_is_refused_in_words_where_there_is_none(schedule):
    with pytest.raises(ValueError, match="it must be a number, and schedules are not supported"):
        check_ranges(SimpleNamespace(learning_rate=schedule), learning_rate=(0, 1))
