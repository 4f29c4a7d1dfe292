"""`mppo report`: one HTML file of one run or many."""

from __future__ import annotations

from pathlib import Path

from mppo.cli.parser import Parser
from mppo.errors import BadRequest, StorageFault

ABOUT = """\
Write one self-contained HTML page about the runs in and below the given
directories: learning curves with every seed, the course of picking, J and H of
each path, updates, time, configuration, and the command to repeat each run. It
opens from the disk, loads nothing from a network, and is readable without
scripts."""


def main(command: str, words: list[str]) -> int:
    """Read the runs and write the page."""
    parser = Parser("report", ABOUT, ["mppo report runs/maze --out report.html"])
    add = parser.add_argument
    add("dirs", nargs="+", metavar="DIR", help="a run, or a directory with runs in or below it")
    add("--out", default="report.html", metavar="FILE", help="the page to write (report.html)")
    add("--title", help="its heading; by default methods and tasks")
    options = parser.parse_args(words)
    out = Path(options.out)
    if out.is_dir() or not out.absolute().parent.is_dir():
        raise BadRequest(f'cannot write "{out}": give a file name in a directory that exists')

    from mppo.files.atomic import write_atomically
    from mppo.report import html

    page = html(options.dirs, options.title).encode()
    try:
        write_atomically(out, page)
    except StorageFault as error:
        raise BadRequest(f'cannot write "{out}": {error.__cause__}') from error
    print(f"{out}: {len(page) / 1e6:.1f} MB")
    return 0
