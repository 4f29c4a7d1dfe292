"""`mppo video`: film a trained policy."""

from __future__ import annotations

import argparse
import re

from mppo.cli.parser import RUN_CODES, Parser, file_to_write, number, whole_number
from mppo.cli.runs import add_run_options, open_run
from mppo.errors import BadRequest

ABOUT = """\
Film episodes of the policy in a run directory: the same episodes that
`mppo evaluate` plays with the same seed, in real time. MuJoCo needs libOSMesa
or libEGL where there is no screen; a working one is chosen by itself. MP4 needs
mppo[video], GIF needs nothing more."""


def main(command: str, words: list[str]) -> int:
    """Write one film."""
    examples = ["mppo video runs/hopper --out clip.mp4 --deterministic"]
    parser = Parser("video", ABOUT, examples, RUN_CODES)
    add_run_options(parser)
    add = parser.add_argument
    add("--out", required=True, metavar="FILE", help="a .mp4 or .gif file")
    add("--episodes", type=whole_number, default=1, metavar="N", help="to film (default 1)")
    add("--seed", type=whole_number, metavar="S", help="of episodes (default: the run's seed)")
    add("--deterministic", action="store_true", help="the most likely actions (default: sampled)")
    add("--fps", type=number, metavar="F", help="frames a second (default: the environment's)")
    add("--size", type=_size, metavar="WxH", help="pixels (default: the environment's)")
    options = parser.parse_args(words)
    out = file_to_write(options.out, (".mp4", ".gif"))
    for name, least in (("episodes", 1), ("seed", 0), ("fps", 1)):
        value = getattr(options, name)
        if value is not None and value < least:
            raise BadRequest(f"--{name} is {value}; give at least {least}")

    from mppo.export.film import film

    run = open_run(options)
    seed = run.described["seed"] if options.seed is None else options.seed
    agent = run.agent(options.path)
    made = film(
        run, agent, out, options.episodes, seed, options.deterministic, options.fps, options.size
    )
    played = zip(made.played.returns, made.played.lengths, strict=True)
    for n, (total, steps) in enumerate(played):
        print(f"episode {n}: return {total:.3f}, {steps} steps")
    seconds = made.frames / made.fps
    print(f"{out}: {made.frames} frames, {seconds:.1f} s, {made.size[0]}x{made.size[1]}")
    return 0


def _size(text: str) -> tuple[int, int]:
    """Width and height in pixels.

    >>> _size("640x480")
    (640, 480)
    """
    found = re.fullmatch(r"(\d{2,4})x(\d{2,4})", text)
    if found is None:
        raise argparse.ArgumentTypeError(
            f'"{text}" is not a size; write for example 640x480 (10 to 9999 pixels each)'
        )
    return int(found[1]), int(found[2])
