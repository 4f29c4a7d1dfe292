"""A page of sections with tables, as Markdown, CSV or self-contained HTML; the same bytes always.

Cells may hold names and messages from run directories, so every format escapes them.
"""

from __future__ import annotations

import csv
import html
import io
import unicodedata
from dataclasses import dataclass, field

from mppo.errors import BadRequest

FORMATS = ("md", "csv", "html")
FORMULA = ("=", "+", "-", "@", "\t", "\r")
CSS = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem;
  color: #1a1a1a; background: #fff; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums;
  font-size: 13px; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid #ccc; padding: .3rem .6rem; text-align: left;
  vertical-align: top; }
th { border-bottom: 2px solid #666; }
code { background: #f2f2f2; padding: 0 .2em; overflow-wrap: anywhere; }
"""


@dataclass(frozen=True)
class Section:
    """A heading, paragraphs and at most one table; a cell may have several lines."""

    heading: str
    text: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Document:
    """A title and sections."""

    title: str
    sections: list[Section]

    def render(self, form: str = "md") -> str:
        """The page in one of the formats."""
        if form not in FORMATS:
            raise BadRequest(f'unknown format "{form}"; the formats are {", ".join(FORMATS)}')
        return {"md": _markdown, "csv": _csv, "html": _html}[form](self)


def visible(text: str) -> str:
    """Text without control characters and marks that turn its direction.

    >>> visible("a\\x1b[31mb\\u202ec")
    'a[31mbc'
    """
    kept = (c for c in text if c == "\n" or unicodedata.category(c) not in ("Cc", "Cf", "Cs"))
    return "".join(kept)


def _markdown(page: Document) -> str:
    lines = [f"# {_inline(page.title)}"]
    for section in page.sections:
        lines += ["", f"## {_inline(section.heading)}"]
        for paragraph in section.text:
            lines += ["", _inline(paragraph)]
        if section.rows:
            lines += ["", _piped(section.columns), "|" + "---|" * len(section.columns)]
            lines += map(_piped, section.rows)
        if section.commands:
            commands = (visible(c).replace("\n", " ") for c in section.commands)
            lines += ["", "```", *(c.replace("```", "") for c in commands), "```"]
    return "\n".join(lines) + "\n"


def _inline(text: str) -> str:
    """Text that Markdown shows as it is: no tags, tables or links come into being.

    >>> _inline("<b>|x|")
    '&lt;b>\\\\|x\\\\|'
    """
    text = visible(text).replace("&", "&amp;").replace("<", "&lt;")
    return text.replace("|", "\\|").replace("](", "]\\(").replace("\n", " ")


def _piped(cells: list[str]) -> str:
    return "| " + " | ".join("<br>".join(map(_inline, c.split("\n"))) for c in cells) + " |"


def guarded(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula; numbers stay numbers.

    >>> guarded("=1+1"), guarded("-470.05"), guarded("-470.05 (57.65)")
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
    write = csv.writer(out, lineterminator="\n")
    first = True
    for section in page.sections:
        if section.rows:
            if not first:
                write.writerow([])
            first = False
            write.writerow(["panel", *section.columns])
            for row in section.rows:
                flat = [visible(cell).replace("\n", "; ") for cell in row]
                write.writerow([guarded(section.heading), *map(guarded, flat)])
    return out.getvalue()


def _html(page: Document) -> str:
    body = [f"<h1>{_escaped(page.title)}</h1>"]
    for section in page.sections:
        body.append(f"<h2>{_escaped(section.heading)}</h2>")
        body += [f"<p>{_escaped(paragraph)}</p>" for paragraph in section.text]
        if section.rows:
            head = "".join(f"<th>{_escaped(name)}</th>" for name in section.columns)
            rows = (
                "<tr>" + "".join(f"<td>{_escaped(c)}</td>" for c in row) + "</tr>"
                for row in section.rows
            )
            body.append(
                f"<table><thead><tr>{head}</tr></thead>\n<tbody>" + "\n".join(rows)
                + "</tbody></table>"
            )  # fmt: skip
        body += [f"<p><code>{_escaped(command)}</code></p>" for command in section.commands]
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_escaped(page.title)}</title>\n<style>{CSS}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _escaped(text: str) -> str:
    return html.escape(visible(text), quote=True).replace("\n", "<br>")
