"""Time spans at the edges of their units."""

import math

import pytest

from mppo.machine.durations import duration


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0.0 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (89, "89 s"),
        (90, "2 min"),
        (5399, "90 min"),
        (5400, "1.5 h"),
        (129_599, "36.0 h"),
        (129_600, "1.5 days"),
        (math.inf, "-"),
        (math.nan, "-"),
    ],
)
def test_units_change_where_two_digits_suffice(seconds, words):
    assert duration(seconds) == words
    assert len(words) <= 8
