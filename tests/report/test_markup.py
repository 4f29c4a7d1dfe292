"""Templates: nothing that is put into one can be anything but text."""

import re
from importlib import resources

import pytest

from mppo.report.markup import asset, join_lines, render
from mppo.report.text import Visible, visible

TEMPLATES = sorted(
    file.name for file in resources.files("mppo.report").joinpath("templates").iterdir()
)


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_leaves_nothing_unescaped(name):
    source = asset(name, "templates")
    raw = re.findall(r"\{\{ *(\w+) *\| *safe", source)
    assert raw == (["policy", "style", "script"] if name == "base.html" else [])
    assert not re.search(r"autoescape|{% *raw|Markup|\.format\(|forceescape", source)
    assert not re.search(r"=\s*{[{%]", re.sub(r"{%.*?%}", "", source, flags=re.S))  # all in quotes


@pytest.mark.parametrize("name", TEMPLATES)
def test_line_breaks_vanish_and_lines_keep_their_numbers(name):
    source = asset(name, "templates")
    joined = join_lines(source)
    assert joined.count("\n") == source.count("\n")
    assert "\n" not in re.sub(r"\{[%{#].*?[%}#]\}", "", joined, flags=re.S)


class Page:
    """A title, and no section."""

    sections = ()

    def __init__(self, title):
        self.title = title


def test_values_are_escaped_and_made_visible():
    page = render("document.html", style="b{}", page=Page("<b onload='x'>\u202e&\"</title>"))
    shown = "&lt;b onload=&#39;x&#39;&gt;\\u202e&amp;&#34;&lt;/title&gt;"
    assert f"<title>{shown}</title>" in page
    assert f"<h1>{shown}</h1>" in page
    assert "<style>b{}</style>" in page
    assert "script" not in page  # neither one nor leave for one


def test_a_value_is_cut_unless_somebody_chose_its_length():
    from mppo.report.markup import _environment

    template = _environment().from_string("{{ value }}")
    assert template.render(value="x" * 500) == "x" * 400 + "… (100 more characters)"
    assert template.render(value=Visible("x" * 500)) == "x" * 500
    assert template.render(value=visible("<" * 9, 3)) == "&lt;&lt;&lt;… (6 more characters)"
