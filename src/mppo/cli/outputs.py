"""What `mppo paper` makes of finished runs: tables, figures, a compact copy."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mppo.errors import BadRequest

FORMATS = ("md", "csv", "html")
BY_HAND = "<!-- below this line the page is written by hand -->\n"
"""A page that is written anew keeps what follows this line."""


def table_options(parser: argparse.ArgumentParser) -> None:
    """Of `mppo paper table`."""
    add = parser.add_argument
    add(
        "id",
        metavar="ID",
        help="such as table-1; of figures 2, 5 and 6 numbers and claims; claims: every claim in "
        "one table; sweep: all settings of any grid, each beside the plainest",
    )
    add("dir", metavar="DIR", help="directory of the grid")
    add("--format", choices=FORMATS, help="(by the name of --out; md)")
    add(
        "--out",
        metavar="FILE",
        help="where to write it (standard output); a page keeps what was written below it by hand",
    )


def write_table(options: argparse.Namespace) -> int:
    """Print a table, or write it to a file."""
    from mppo.files.atomic import write_atomically
    from mppo.paper.tables import table

    ending = Path(options.out).suffix.removeprefix(".") if options.out else ""
    form = options.format or (ending if ending in FORMATS else "md")
    text = table(options.id, Path(options.dir), form)
    if options.out is None:
        sys.stdout.write(text)
    else:
        out = _writable(Path(options.out))
        write_atomically(out, (text + _by_hand(out)).encode())
        print(options.out)
    return 0


def figure_options(parser: argparse.ArgumentParser) -> None:
    """Of `mppo paper figure`."""
    add = parser.add_argument
    add("id", metavar="ID", help="such as figure-2")
    add("dir", metavar="DIR", help="directory of the grid")
    add("--out", required=True, metavar="FILE", help="ends in .svg or .png")


def draw_figure(options: argparse.Namespace) -> int:
    """Draw a figure into a file."""
    from mppo.paper.figures.make import figure

    out = _writable(Path(options.out))
    if out.suffix not in (".svg", ".png"):
        raise BadRequest(f'"{out}" must end in .svg or .png')
    for path in figure(options.id, Path(options.dir), out):
        print(path)
    return 0


def compact_options(parser: argparse.ArgumentParser) -> None:
    """Of `mppo paper compact`."""
    parser.add_argument("dir", metavar="DIR", help="directory of the grid, or of runs")
    parser.add_argument("target", nargs="?", metavar="OUT", help="where the copy goes (or --out)")
    parser.add_argument("--out", metavar="DIR", help="folder of the copy; may hold one already")
    parser.add_argument(
        "--evaluations-only",
        action="store_true",
        help="no metrics: enough for tables and figures 5 to 8",
    )


def copy_compact(options: argparse.Namespace) -> int:
    """Add what is finished to the small copy of a grid."""
    from mppo.experiments.compact import compact

    if (options.target is None) == (options.out is None):
        raise BadRequest("give the folder of the copy once: mppo paper compact DIR OUT")
    target = Path(options.target or options.out)
    copied = compact(Path(options.dir), target, not options.evaluations_only)
    print(
        f"{copied.finished} finished runs copied; {copied.failed} failed, {copied.left_out} not "
        f"finished and left out. {target} holds {copied.held} runs in {copied.size / 1e6:.2f} MB"
    )
    return 0


def unpack_options(parser: argparse.ArgumentParser) -> None:
    """Of `mppo paper unpack`."""
    parser.add_argument("dir", metavar="DIR", help="folder of a compact copy")
    parser.add_argument("--out", required=True, metavar="DIR", help="a new folder")


def unpack_copy(options: argparse.Namespace) -> int:
    """Write the runs of a compact copy as directories."""
    from mppo.experiments.compact import unpack

    print(f"{unpack(Path(options.dir), Path(options.out))} runs in {options.out}")
    return 0


def _by_hand(page: Path) -> str:
    """What people wrote below a table that a command made, if that is such a page."""
    before = page.read_text(encoding="utf-8") if page.is_file() and page.suffix == ".md" else ""
    _, line, below = before.partition(BY_HAND)
    return f"\n{line}{below}" if line else ""


def _writable(path: Path) -> Path:
    if not path.absolute().parent.is_dir():
        raise BadRequest(f'cannot write "{path}": its directory does not exist')
    return path
