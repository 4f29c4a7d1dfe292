"""`mppo report` and `mppo logs`: what runs wrote, as a page or as another tool reads it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mppo.cli.parser import Parser, file_to_write
from mppo.errors import BadRequest, StorageFault

if TYPE_CHECKING:
    from mppo.loggers import Logger

REPORT = """\
Write one self-contained HTML page about the runs in and below the given
directories: learning curves with every seed, the course of picking, J and H of
each path, updates, time, configuration, and the command to repeat each run. It
opens from the disk, loads nothing from a network, and is readable without
scripts."""
LOGS = """\
Convert the rows of a run: a table, or what TensorBoard, Weights & Biases or
Trackio show. The names are those of Stable-Baselines3 where it has one; the
x-axis is environment steps. Sending a run again sends only what is new."""


def report(words: list[str]) -> int:
    """Read the runs and write the page."""
    parser = Parser("report", REPORT, ["mppo report runs/maze --out report.html"])
    add = parser.add_argument
    add("dirs", nargs="+", metavar="DIR", help="a run, or a directory with runs in or below it")
    add("--out", default="report.html", metavar="FILE", help="the page to write (report.html)")
    add("--title", help="its heading; by default methods and tasks")
    options = parser.parse_args(words)
    out = file_to_write(options.out)

    from mppo.files.atomic import write_atomically
    from mppo.report import html

    page = html(options.dirs, options.title).encode()
    try:
        write_atomically(out, page)
    except StorageFault as error:
        raise BadRequest(f'cannot write "{out}": {error.__cause__}') from error
    print(f"{out}: {len(page) / 1e6:.1f} MB")
    return 0


def logs(words: list[str]) -> int:
    """Convert the rows of a run directory."""
    parser = Parser("logs", LOGS, ["mppo logs runs/maze --csv maze.csv"])
    add = parser.add_argument
    add("dir", metavar="DIR", help="the run directory")
    add("--csv", metavar="FILE", help="a table, one line for each iteration")
    add("--tensorboard", metavar="FOLDER", help="event files")
    add("--wandb", metavar="PROJECT", help="a run of Weights & Biases")
    add("--trackio", metavar="PROJECT", help="a run of Trackio")
    add("--follow", action="store_true", help="go on until the run ends (not for --csv)")
    add("--quiet", action="store_true", help="print nothing but errors")
    options = parser.parse_args(words)
    if not (options.csv or options.tensorboard or options.wandb or options.trackio):
        raise BadRequest("where to? Give --csv FILE, --tensorboard FOLDER, --wandb or --trackio")
    if not Path(options.dir).is_dir():
        raise BadRequest(f'there is no directory "{options.dir}"')

    from mppo.loggers import send, write_csv

    loggers = loggers_of(options, options.tensorboard)
    say = (lambda text: None) if options.quiet else print
    if options.csv:
        say(f"{write_csv(options.dir, options.csv)} rows to {options.csv}")
    if loggers:
        steps = send(options.dir, loggers, options.follow)
        say(f"{steps:,} steps of {options.dir} sent")
    return 0


def loggers_of(options: Any, folder: str | None = None) -> list[Logger]:
    """Where else the numbers go; a missing extra is said before anything is begun."""
    from mppo.loggers import TensorBoard, Trackio, WandB

    loggers: list[Logger] = [TensorBoard(folder)] if options.tensorboard else []
    loggers += [WandB(options.wandb)] if options.wandb else []
    return loggers + ([Trackio(options.trackio)] if options.trackio else [])
