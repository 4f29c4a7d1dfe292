"""What `mppo paper` makes of finished runs: tables, figures, a compact copy."""

from __future__ import annotations

import sys
from pathlib import Path

from mppo.cli.parser import Parser, file_to_write
from mppo.errors import BadRequest

FORMATS = ("md", "csv", "html")
BY_HAND = "<!-- below this line the page is written by hand -->\n"
"""A page that is written anew keeps what follows this line."""


def table(parser: Parser, words: list[str]) -> int:
    """Print a table, or write it to a file."""
    about = (
        "such as table-1; of figures 2, 5 and 6 numbers and claims; claims: every claim in one "
        "table; sweep: all settings of any grid, each beside the plainest"
    )
    add = parser.add_argument
    add("id", metavar="ID", help=about)
    add("dir", metavar="DIR", help="directory of the grid")
    add("--format", choices=FORMATS, help="(by the name of --out; md)")
    about = "where to write it (standard output); a page keeps what was written below it by hand"
    add("--out", metavar="FILE", help=about)
    options = parser.parse_args(words)

    from mppo.files.atomic import write_atomically
    from mppo.paper import tables

    ending = Path(options.out).suffix.removeprefix(".") if options.out else ""
    form = options.format or (ending if ending in FORMATS else "md")
    text = tables.table(options.id, Path(options.dir), form)
    if options.out is None:
        sys.stdout.write(text)
    else:
        out = file_to_write(options.out)
        write_atomically(out, (text + _by_hand(out)).encode())
        print(options.out)
    return 0


def _by_hand(page: Path) -> str:
    """What people wrote below a table that a command made, if that is such a page."""
    before = page.read_text(encoding="utf-8") if page.is_file() and page.suffix == ".md" else ""
    _, line, below = before.partition(BY_HAND)
    return f"\n{line}{below}" if line else ""


def figure(parser: Parser, words: list[str]) -> int:
    """Draw a figure into a file."""
    parser.add_argument("id", metavar="ID", help="such as figure-2")
    parser.add_argument("dir", metavar="DIR", help="directory of the grid")
    parser.add_argument("--out", required=True, metavar="FILE", help="ends in .svg or .png")
    options = parser.parse_args(words)
    out = file_to_write(options.out, (".svg", ".png"))

    from mppo.paper.figures import make

    for path in make.figure(options.id, Path(options.dir), out):
        print(path)
    return 0


def compact(parser: Parser, words: list[str]) -> int:
    """Add what is finished to the small copy of a grid."""
    add = parser.add_argument
    add("dir", metavar="DIR", help="directory of the grid, or of runs")
    add("target", nargs="?", metavar="OUT", help="where the copy goes (or --out)")
    add("--out", metavar="DIR", help="folder of the copy; may hold one already")
    about = "no metrics: enough for tables and figures 5 to 8"
    add("--evaluations-only", action="store_true", help=about)
    options = parser.parse_args(words)

    from mppo.experiments import compact

    if (options.target is None) == (options.out is None):
        raise BadRequest("give the folder of the copy once: mppo paper compact DIR OUT")
    target = Path(options.target or options.out)
    copied = compact.compact(Path(options.dir), target, not options.evaluations_only)
    print(
        f"{copied.finished} finished runs copied; {copied.failed} failed, {copied.left_out} not "
        f"finished and left out. {target} holds {copied.held} runs in {copied.size / 1e6:.2f} MB"
    )
    return 0


def unpack(parser: Parser, words: list[str]) -> int:
    """Write the runs of a compact copy as directories."""
    parser.add_argument("dir", metavar="DIR", help="folder of a compact copy")
    parser.add_argument("--out", required=True, metavar="DIR", help="a new folder")
    options = parser.parse_args(words)

    from mppo.experiments import compact

    print(f"{compact.unpack(Path(options.dir), Path(options.out))} runs in {options.out}")
    return 0
