"""A page of sections with tables, as Markdown, CSV or self-contained HTML; the same bytes always.

Every table that this project writes as Markdown is written by `markdown_table`. Cells may hold
names and messages from run directories, so every format escapes them.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mppo.errors import BadRequest
from mppo.report.markup import asset, render
from mppo.report.text import visible_lines

FORMATS = ("md", "csv", "html")
FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Section:
    """A heading, paragraphs and at most one table; a cell may have several lines."""

    heading: str
    text: Sequence[str] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    commands: Sequence[str] = ()

    @classmethod
    def of_rows(cls, heading: str, text: Sequence[str], rows: Sequence[dict[str, str]]) -> Section:
        """A section whose rows name their columns; all have the same ones, in the same order."""
        columns = list(rows[0]) if rows else []
        return cls(heading, text, columns, [[row[name] for name in columns] for row in rows])


@dataclass(frozen=True)
class Document:
    """A title and sections."""

    title: str
    sections: Sequence[Section]

    def render(self, form: str = "md") -> str:
        """The page in one of the formats."""
        if form not in FORMATS:
            raise BadRequest(f'unknown format "{form}"; the formats are {", ".join(FORMATS)}')
        if form == "html":
            return render("document.html", style=asset("document.css"), page=self)
        return _markdown(self) if form == "md" else _csv(self)


def markdown_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    r"""The lines of a table in Markdown.

    >>> markdown_table(["method", "K"], [["a|b", "1\n2"]])
    ['| method | K |', '|---|---|', '| a\\|b | 1<br>2 |']
    """
    columns = list(columns)
    return [_piped(columns), "|" + "---|" * len(columns), *map(_piped, rows)]


def _piped(cells: Iterable[str]) -> str:
    return "| " + " | ".join("<br>".join(map(_inline, c.split("\n"))) for c in cells) + " |"


def _inline(words: str) -> str:
    """Text that Markdown shows as it is: no tags, tables or links come into being.

    >>> _inline("<b>|x| <= 1")
    '&lt;b>\\\\|x\\\\| <= 1'
    """
    words = visible_lines(words).replace("\n", " ").replace("&", "&amp;")
    words = re.sub(r"<(?=[a-zA-Z/!?])", "&lt;", words)  # only these can begin a tag
    return words.replace("|", "\\|").replace("](", "]\\(")


def _markdown(page: Document) -> str:
    lines = [f"# {_inline(page.title)}"]
    for section in page.sections:
        lines += ["", f"## {_inline(section.heading)}"]
        for paragraph in section.text:
            lines += ["", _inline(paragraph)]
        if section.rows:
            lines += ["", *markdown_table(section.columns, section.rows)]
        if section.commands:
            commands = (visible_lines(command).replace("\n", " ") for command in section.commands)
            lines += ["", "```", *(command.replace("```", "") for command in commands), "```"]
    return "\n".join(lines) + "\n"


def guard_formula(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula; numbers stay numbers.

    >>> guard_formula("=1+1"), guard_formula("-470.05"), guard_formula("-470.05 (57.65)")
    ("'=1+1", '-470.05', "'-470.05 (57.65)")
    """
    try:
        float(cell)
    except ValueError:
        return f"'{cell}" if cell.startswith(FORMULA) else cell
    return cell


def _csv(page: Document) -> str:
    """All tables one below the other, a blank line between; the first column names the table."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    one_line = lambda cell: visible_lines(cell).replace("\n", "; ")
    for place, section in enumerate(section for section in page.sections if section.rows):
        out.write("\n" * (place > 0))
        write(["panel", *section.columns])
        for row in section.rows:
            write(guard_formula(one_line(cell)) for cell in (section.heading, *row))
    return out.getvalue()
