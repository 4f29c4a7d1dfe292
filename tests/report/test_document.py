"""A page in three formats: tables line by line, and names that stay text."""

import csv
import html.parser
import io

import pytest

from mppo.errors import BadRequest
from mppo.report.document import Document, Section, markdown_table

SECTION = Section.of_rows(
    "Panel", ["Words."], [{"method": "MP-TRPO", "p": "<= 1\n2"}, {"method": "=1+1", "p": "-2.5"}]
)
PAGE = Document("Title", [Section("Empty"), SECTION, Section("Missing", commands=["mppo x"])])


def test_markdown():
    assert (
        PAGE.render("md")
        == """\
# Title

## Empty

## Panel

Words.

| method | p |
|---|---|
| MP-TRPO | <= 1<br>2 |
| =1+1 | -2.5 |

## Missing

```
mppo x
```
"""
    )


def test_csv_without_formulas():
    assert list(csv.reader(io.StringIO(PAGE.render("csv")))) == [
        ["panel", "method", "p"],
        ["Panel", "MP-TRPO", "<= 1; 2"],
        ["Panel", "'=1+1", "-2.5"],
    ]
    twice = Document("Title", [SECTION, SECTION]).render("csv")
    assert twice == "\n".join([PAGE.render("csv")] * 2)


class Texts(html.parser.HTMLParser):
    """The tags of a page, and the text below each kind of tag."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text = [], {}
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        if self.tags:
            self.text.setdefault(self.tags[-1], []).append(data)


def test_html():
    page = Texts(PAGE.render("html"))
    assert page.tags.count("tr") == 3
    assert page.tags.count("table") == 1
    assert "<= 1\n2" in page.text["td"]
    assert page.text["h2"][0] == "Empty"
    assert PAGE.render("html") == PAGE.render("html")


PAYLOADS = ["</td><script>x</script>", '"><img onerror=x>', "a|b\x1b[31m", "[x](javascript:y)"]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_names_from_run_directories_stay_text(payload):
    page = Document(payload, [Section(payload, [payload], ["c"], [[payload]], [payload])])
    shown = Texts(page.render("html"))
    assert sorted(set(shown.tags)) == sorted(set(Texts(PAGE.render("html")).tags))
    assert payload.replace("\x1b", "\\u001b") in shown.text["td"]
    markdown = page.render("md").split("```")[0]  # a command stands in a block of code
    assert "<script" not in markdown
    assert "<img" not in markdown
    assert "](" not in markdown.replace("]\\(", "")
    assert "a|b" not in markdown
    assert "\x1b" not in page.render("md") + page.render("csv") + page.render("html")


def test_a_table_of_other_lengths():
    assert markdown_table(["a"], []) == ["| a |", "|---|"]


def test_unknown_formats_are_refused():
    with pytest.raises(BadRequest, match='unknown format "pdf"; the formats are md, csv, html'):
        PAGE.render("pdf")
