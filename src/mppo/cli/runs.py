"""What is made of runs: `mppo evaluate`, `video`, `export`, `report` and `logs`."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mppo.cli.parser import NotReadable, Parser, file_to_write, number, whole_number
from mppo.errors import BadRequest, StorageFault

if TYPE_CHECKING:
    from mppo.acting.agent import Agent
    from mppo.loggers import Logger
    from mppo.training.opening import Opened

CODES = "0 done; 2 bad request; 65 a fault of the environment; 74 no good checkpoint"
EVALUATE = """\
Play episodes of the policy in a run directory. The newest good checkpoint is
taken, so that a run can be looked at while it is trained. The same seed gives
the same numbers; without --seed they are those of the run's own evaluation at
that checkpoint."""
VIDEO = """\
Film episodes of the policy in a run directory: the same episodes that
`mppo evaluate` plays with the same seed, in real time. MuJoCo needs libOSMesa
or libEGL where there is no screen; a working one is chosen by itself. MP4 needs
mppo[video], GIF needs nothing more."""
EXPORT = """\
Write the policy in a run directory for use without mppo.

  policy.onnx         an ONNX graph: input `observation` [batch, numbers],
                      outputs `action` (the most likely one) and `mean`, `std`
                      or `logits`, `log_probabilities`; observation filter and
                      action bounds are inside
  policy.safetensors  plain arrays, with a description as JSON in the metadata
                      and in policy.json beside it; examples/numpy_policy.py
                      runs it with NumPy

Both say how an observation is flattened. Needs for ONNX: mppo[export]."""
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


def _parser(command: str, about: str, example: str) -> Parser:
    """With the directory, which of its policies, and whether its code may be imported."""
    parser = Parser(command, about, [example], CODES)
    add = parser.add_argument
    add("dir", metavar="DIR", help="the run directory, finished or not")
    about_path = "the policy of path K (default: the one that the picking rule reports)"
    add("--path", type=whole_number, metavar="K", help=about_path)
    about_imports = "import code of other packages that the run names"
    add("--allow-imports", action="store_true", help=about_imports)
    return parser


def _add_episodes(parser: Parser, usual: int, verb: str) -> None:
    add = parser.add_argument
    what = f"to {verb} (default {usual})"
    add("--episodes", type=whole_number, default=usual, metavar="N", help=what)
    add("--seed", type=whole_number, metavar="S", help="of episodes (default: the run's seed)")
    add("--deterministic", action="store_true", help="the most likely actions (default: sampled)")


def _check(options: Any, **least: int) -> None:
    for name, bound in least.items():
        value = getattr(options, name)
        if value is not None and value < bound:
            raise BadRequest(f"--{name} is {value}; give at least {bound}")


def _opened(options: Any) -> tuple[Opened, Agent]:
    """The run and the policy that these options name."""
    from mppo.training.opening import opened

    if options.allow_imports:
        sys.path.append(os.getcwd())  # as `mppo train` does
    run = opened(options.dir, allow_imports=options.allow_imports)
    return run, run.agent(options.path)


def evaluate(words: list[str]) -> int:
    """Print mean, spread and every episode."""
    parser = _parser("evaluate", EVALUATE, "mppo evaluate runs/maze --episodes 100 --deterministic")
    _add_episodes(parser, 10, "play")
    parser.add_argument("--json", action="store_true", help="all numbers, for programs")
    options = parser.parse_args(words)
    _check(options, episodes=1, seed=0)

    from mppo.files.run_directory import plain
    from mppo.training.opening import play

    run, agent = _opened(options)
    seed = run.described["seed"] if options.seed is None else options.seed
    played = play(run, agent, options.episodes, seed, options.deterministic)
    result = plain(
        {
            "dir": options.dir,
            "method": run.described.get("method_name", "custom"),
            "env": run.task.name,
            "steps": run.steps,
            "path": agent.path,
            "seed": seed,
            "deterministic": options.deterministic,
            "mean_return": played.returns.mean(),
            "std_return": played.returns.std(),
            "mean_length": played.lengths.mean(),
            "returns": played.returns,
            "lengths": played.lengths,
            "cut": played.cut.sum(),
        }
    )
    print(json.dumps(result, indent=2, allow_nan=False) if options.json else _text(result))
    return 0


def _text(result: dict[str, Any]) -> str:
    how = "most likely" if result["deterministic"] else "sampled"
    episodes = zip(result["returns"], result["lengths"], strict=True)
    lines = [
        f"{result['method']} on {result['env']} after {result['steps']:,} steps, path "
        f"{result['path']}, {how} actions, seed {result['seed']}",
        "",
        "episode       return    length",
        *(f"{n:>7} {total:>12.3f} {steps:>9}" for n, (total, steps) in enumerate(episodes)),
        f"{'mean':>7} {result['mean_return']:>12.3f} {result['mean_length']:>9.1f}",
        f"{'std':>7} {result['std_return']:>12.3f}",
    ]
    if result["cut"]:
        longest = max(result["lengths"])
        lines.append(f"{result['cut']} had no end after {longest:,} steps and were stopped there")
    return "\n".join(lines)


def video(words: list[str]) -> int:
    """Write one film."""
    parser = _parser("video", VIDEO, "mppo video runs/hopper --out clip.mp4 --deterministic")
    add = parser.add_argument
    add("--out", required=True, metavar="FILE", help="a .mp4 or .gif file")
    _add_episodes(parser, 1, "film")
    add("--fps", type=number, metavar="F", help="frames a second (default: the environment's)")
    add("--size", type=_size, metavar="WxH", help="pixels (default: the environment's)")
    options = parser.parse_args(words)
    out = file_to_write(options.out, (".mp4", ".gif"))
    _check(options, episodes=1, seed=0, fps=1)

    from mppo.export.film import film

    run, agent = _opened(options)
    seed = run.described["seed"] if options.seed is None else options.seed
    made = film(
        run, agent, out, options.episodes, seed, options.deterministic, options.fps, options.size
    )
    for n, (total, steps) in enumerate(zip(made.played.returns, made.played.lengths, strict=True)):
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
        raise NotReadable(
            f'"{text}" is not a size; write for example 640x480 (10 to 9999 pixels each)'
        )
    return int(found[1]), int(found[2])


def export(words: list[str]) -> int:
    """Write one file, and a description beside plain arrays."""
    parser = _parser("export", EXPORT, "mppo export runs/maze --out policy.onnx")
    parser.add_argument("--out", required=True, metavar="FILE", help="a .onnx or .safetensors file")
    options = parser.parse_args(words)
    out = file_to_write(options.out, (".onnx", ".safetensors"))
    graph = out.suffix.lower() == ".onnx"
    if graph and importlib.util.find_spec("onnx") is None:
        raise BadRequest('ONNX needs the package onnx; install it: pip install "mppo[export]"')

    from mppo.export import described
    from mppo.files.atomic import write_atomically

    run, agent = _opened(options)
    policy = described.described(agent)
    about = {  # where it comes from
        "method": run.described.get("method_name", "custom"),
        "env": run.task.name,
        "seed": run.described["seed"],
        "steps": run.steps,
        "path": agent.path,
        "clips_actions": agent.clip,
        "mppo": run.described.get("versions", {}).get("mppo"),
    }
    if graph:
        from mppo.export.graph import as_onnx

        write_atomically(out, as_onnx(policy, about))
    else:
        write_atomically(out, described.as_safetensors(policy, about))
        text = json.dumps(described.words(policy, about), indent=2, allow_nan=False) + "\n"
        write_atomically(out.with_suffix(".json"), text.encode())
    outputs = ", ".join(part.name or "action" for part in policy.parts)
    print(f"{out}: {len(policy.mean)} numbers in, {outputs} out (path {agent.path})")
    return 0


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
        say(f"{send(options.dir, loggers, options.follow):,} steps of {options.dir} sent")
    return 0


def loggers_of(options: Any, folder: str | None = None) -> list[Logger]:
    """Where else the numbers go; a missing extra is said before anything is begun."""
    from mppo.loggers import TensorBoard, Trackio, WandB

    loggers: list[Logger] = [TensorBoard(folder)] if options.tensorboard else []
    loggers += [WandB(options.wandb)] if options.wandb else []
    return loggers + ([Trackio(options.trackio)] if options.trackio else [])
