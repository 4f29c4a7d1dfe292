"""`mppo logs`: what a run wrote, in the form that another tool reads."""

from __future__ import annotations

from pathlib import Path

from mppo.cli.parser import Parser
from mppo.errors import BadRequest

ABOUT = """\
Convert the rows of a run: a table, or what TensorBoard, Weights & Biases or
Trackio show. The names are those of Stable-Baselines3 where it has one; the
x-axis is environment steps. Sending a run again sends only what is new."""


def main(command: str, words: list[str]) -> int:
    """Convert the rows of a run directory."""
    parser = Parser("logs", ABOUT, ["mppo logs runs/maze --csv maze.csv"])
    parser.add_argument("dir", metavar="DIR", help="the run directory")
    parser.add_argument("--csv", metavar="FILE", help="a table, one line for each iteration")
    parser.add_argument("--tensorboard", metavar="FOLDER", help="event files")
    parser.add_argument("--wandb", metavar="PROJECT", help="a run of Weights & Biases")
    parser.add_argument("--trackio", metavar="PROJECT", help="a run of Trackio")
    parser.add_argument(
        "--follow", action="store_true", help="go on until the run ends (not for --csv)"
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    options = parser.parse_args(words)
    if not (options.csv or options.tensorboard or options.wandb or options.trackio):
        raise BadRequest("where to? Give --csv FILE, --tensorboard FOLDER, --wandb or --trackio")
    if not Path(options.dir).is_dir():
        raise BadRequest(f'there is no directory "{options.dir}"')

    from mppo.loggers import Logger, TensorBoard, Trackio, WandB, send, write_csv

    loggers: list[Logger] = []
    loggers += [TensorBoard(options.tensorboard)] if options.tensorboard else []
    loggers += [WandB(options.wandb)] if options.wandb else []
    loggers += [Trackio(options.trackio)] if options.trackio else []
    say = (lambda text: None) if options.quiet else print
    if options.csv:
        say(f"{write_csv(options.dir, options.csv)} rows to {options.csv}")
    if loggers:
        steps = send(options.dir, loggers, options.follow)
        say(f"{steps:,} steps of {options.dir} sent")
    return 0
