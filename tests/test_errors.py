"""Exit codes and suggestions."""

import pytest

from mppo.errors import BadRequest, EnvironmentFault, RunLocked, did_you_mean


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
