"""Figures as files: the same bytes twice, and what is refused. `drawing` is tested with them."""

import re

import pytest

pytest.importorskip("matplotlib")

from mppo.errors import BadRequest
from mppo.paper.make import figure


def test_the_same_bytes_twice_without_a_date(grid, tmp_path):
    first = figure("figure-6", grid, tmp_path / "a")
    second = figure("figure-6", grid, tmp_path / "b")
    assert [path.name for path in first] == ["figure-6.svg", "figure-6.png"]
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes()
    svg = first[0].read_text()
    assert not re.search(r"<dc:date>|20\d\d-\d\d-\d\d", svg)
    assert figure("figure-6", grid, tmp_path / "one.svg") == [tmp_path / "one.svg"]
    assert (tmp_path / "one.svg").read_text() == svg


def test_a_user_s_own_settings_change_nothing(grid, tmp_path):
    import matplotlib

    (plain,) = figure("figure-6", grid, tmp_path / "plain.svg")
    with matplotlib.rc_context({"font.size": 30, "svg.hashsalt": "other"}):
        (other,) = figure("figure-6", grid, tmp_path / "other.svg")
    assert plain.read_bytes() == other.read_bytes()


def test_what_cannot_be_drawn_says_how_to_get_there(grid, tmp_path):
    with pytest.raises(BadRequest, match="mppo paper run figure-2 --out"):
        figure("figure-2", tmp_path, tmp_path / "x.svg")
    with pytest.raises(BadRequest, match="mppo paper run figure-8 --out"):
        figure("figure-8", tmp_path, tmp_path / "x.svg")
    with pytest.raises(BadRequest, match=r'ends in "\.pdf"'):
        figure("figure-2", grid, tmp_path / "x.pdf")
    with pytest.raises(BadRequest, match='did you mean "figure-2"'):
        figure("figur-2", grid, tmp_path / "x.svg")
