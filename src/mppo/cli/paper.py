"""`mppo paper`: every table and figure of the paper, by command."""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mppo.cli import grids
from mppo.cli.grids import CODES, SOME_FAILED, add_engine_options, carry_out, usable, workers
from mppo.cli.parser import Parser, file_to_write, whole_number
from mppo.errors import BadRequest, did_you_mean

if TYPE_CHECKING:
    from mppo.experiments.grid import Grid
    from mppo.experiments.spec import RunSpec

ABOUT = """\
The paper's tables and figures: the runs they need, and ours beside theirs.

{jobs}

  mppo paper JOB --help   explains a job and shows an example"""
EXAMPLES = (
    "mppo paper list",
    "mppo paper run figure-2 --seeds 6 --out runs/paper",
    "mppo paper status runs/paper",
    "mppo paper figure figure-2 runs/paper --out figure-2.svg",
)
FORMATS = ("md", "csv", "html")
BY_HAND = "<!-- below this line the page is written by hand -->\n"
"""A page that is written anew keeps what follows this line."""


def paper(words: list[str]) -> int:
    """One of the sub-commands."""
    if not words:
        raise BadRequest(f"which job? Give one of {', '.join(JOBS)}; see mppo paper --help")
    abouts = {name: " ".join((job.__doc__ or "").split()) for name, (job, _) in JOBS.items()}
    name, *rest = words
    if name in ("-h", "--help"):
        lines = [f"  {job:<8} {text[:1].lower()}{text[1:-1]}" for job, text in abouts.items()]
        jobs = "\n".join(textwrap.fill(one, 80, subsequent_indent=" " * 11) for one in lines)
        parser = Parser("paper", ABOUT.format(jobs=jobs), EXAMPLES, CODES)
        parser.usage = "mppo paper JOB ..."
        parser.parse_args(["--help"])
    if name not in JOBS:
        hint = did_you_mean(name, JOBS)
        raise BadRequest(f'unknown job "{name}"{hint or "; see mppo paper --help"}')
    job, example = JOBS[name]
    text = textwrap.fill(abouts[name], 80)
    return job(Parser(f"paper {name}", text, [f"mppo paper {name} {example}"], CODES), rest)


def _list(parser: Parser, words: list[str]) -> int:
    """List all tables and figures: the runs they need and what they cost here."""
    add = parser.add_argument
    add("--json", action="store_true", help="all details, for programs")
    add("--no-calibrate", action="store_true", help="do not measure this machine (half a minute)")
    add("--jobs", type=whole_number, default=0, metavar="N", help="runs side by side (all cores)")
    options = parser.parse_args(words)

    from mppo.machine.threads import available_cores
    from mppo.paper.artefacts import ARTEFACTS, distinct_runs
    from mppo.paper.costs import calibration, cost

    cores = options.jobs or available_cores()
    measured = calibration(measure=not options.no_calibrate, say=_say)
    needed = {name: artefact.runs() for name, artefact in ARTEFACTS.items()}

    def row(name: str, title: str, runs: list[RunSpec]) -> dict[str, Any]:
        return {
            "id": name,
            "title": title,
            "runs": len(runs),
            "steps": sum(run.steps for run in runs),
            "seconds": measured and round(sum(cost(run, measured) for run in runs) / cores),
            "run_ids": sorted(run.run_id for run in runs),
        }

    rows = [row(name, artefact.title, needed[name]) for name, artefact in ARTEFACTS.items()]
    total = row("all", "all of them; shared runs once", distinct_runs(needed))
    if options.json:
        print(json.dumps({"jobs": cores, "artefacts": rows, "all": total}, indent=2))
        return 0
    _print_list([*rows, total])
    if measured is None:
        print("\nno time: this machine is not measured yet (leave out --no-calibrate)")
    else:
        print(f"\ntime: an upper estimate for {cores} runs side by side on this machine")
    print("memory tables: mppo bench --only memory, some minutes")
    return 0


def _print_list(rows: list[dict[str, Any]]) -> None:
    from mppo.machine.durations import duration

    print(f"{'id':<18}{'runs':>5}{'steps':>9}{'time':>9}  title")
    for line in rows:
        steps = f"{line['steps'] / 1e6:,.0f}M" if line["steps"] else "-"
        time = duration(line["seconds"]) if line["seconds"] else "-"
        print(f"{line['id']:<18}{line['runs'] or '-':>5}{steps:>9}{time:>9}  {line['title']}")


def _run(parser: Parser, words: list[str]) -> int:
    """Run what tables and figures need; a second call continues, more seeds or tasks add only
    what is missing.
    """
    add = parser.add_argument
    add("ids", nargs="+", metavar="ID", help="tables and figures (mppo paper list), or all")
    add("--tasks", nargs="+", metavar="TASK", help="only these, such as Maze or SparseHopper")
    add("--methods", nargs="+", metavar="METHOD", help="only these, such as mp-trpo")
    about = "one number N: seeds 0 to N-1; several, or a range such as 6-11: those (0-5)"
    add("--seeds", nargs="+", metavar="S", help=about)
    add("--steps", type=whole_number, metavar="N", help="of every run (by task, see mppo envs)")
    about = "how to read what the paper leaves open (mppo paper readings); a grid has one reading"
    add("--reading", nargs="+", default=[], metavar="NAME=CHOICE", help=about)
    add_engine_options(parser)
    options = parser.parse_args(words)

    from mppo.experiments.grid import Grid
    from mppo.paper.artefacts import ARTEFACTS, distinct_runs, known_name, runs_by_artefact
    from mppo.paper.readings import Readings

    names = list(ARTEFACTS) if "all" in options.ids else options.ids
    artefacts = [ARTEFACTS[known_name(name)] for name in dict.fromkeys(names)]
    trained = [artefact for artefact in artefacts if artefact.measured == "runs"]
    seeds, readings = grids.seeds_of(options.seeds), Readings.of(options.reading)
    asked = (options.tasks, options.methods, seeds, options.steps, readings)
    wanted = runs_by_artefact(trained, *asked)
    runs = distinct_runs(wanted)
    grid, on = Grid(usable(options.out)), workers(options)
    readings.keep(grid.root)
    for name, specs in wanted.items():
        if specs:
            grid.remember(name, specs)
    code = carry_out(grid, runs, on) if runs else 0
    memory = [artefact.id for artefact in artefacts if artefact.measured == "memory"]
    if memory:
        _measure_memory(grid, memory)
    return code


def _measure_memory(grid: Grid, names: list[str]) -> None:
    from mppo.paper.memory import measure

    for name in names:
        grid.remember(name, ())
    measure(grid.root, _say)
    print(f"memory is measured in {grid.root / 'memory.json'}")


def _readings(parser: Parser, words: list[str]) -> int:
    """List what the paper leaves open and how it can be read."""
    parser.add_argument("--json", action="store_true", help="for programs")
    options = parser.parse_args(words)

    from mppo.paper.readings import listed

    if options.json:
        print(json.dumps(listed(), indent=2))
        return 0
    for row in listed():
        print(f"{'*' if row['default'] else ' '} {row['reading']:<18} {row['about']}")
    print("\n*: the default (docs/decisions/0042); another: mppo paper run --reading NAME=CHOICE")
    return 0


def _status(parser: Parser, words: list[str]) -> int:
    """Say how every run of a grid stands."""
    parser.add_argument("dir", metavar="DIR", help="directory of the grid")
    parser.add_argument("--json", action="store_true", help="every run, for programs")
    options = parser.parse_args(words)

    from mppo.experiments.grid import opened, status

    grid = status(opened(options.dir))
    code = SOME_FAILED if grid["states"]["failed"] else 0
    if options.json:
        print(json.dumps(grid, indent=2))
        return code
    states = ", ".join(f"{count} {state}" for state, count in grid["states"].items() if count)
    print(f"{len(grid['runs'])} runs: {states or 'none'}")
    print(f"{grid['steps_done']:,} of {grid['steps']:,} steps")
    for request in grid["requests"]:
        how = f"{request['done']} of {request['runs']} runs done"
        if not request["runs"]:
            how = "measured" if grid["memory"] else "not measured"
        print(f"  {request['label']:<24} {how}")
    for run in grid["runs"]:
        if run["state"] == "running":
            print(f"running: {run['label']}, {run['steps_done']:,} of {run['steps']:,} steps")
        if run["state"] == "failed":
            reason = (run["failure"] or {}).get("message", "its record cannot be read")
            print(f"failed:  {run['label']}: {reason}")
    return code


def _table(parser: Parser, words: list[str]) -> int:
    """Print a table, ours beside the paper's."""
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
    from mppo.paper import make

    ending = Path(options.out).suffix.removeprefix(".") if options.out else ""
    form = options.format or (ending if ending in FORMATS else "md")
    text = make.table(options.id, Path(options.dir), form)
    if options.out is None:
        sys.stdout.write(text)
    else:
        out = file_to_write(options.out)
        before = out.read_text(encoding="utf-8") if out.is_file() and out.suffix == ".md" else ""
        _, line, below = before.partition(BY_HAND)
        write_atomically(out, (text + (f"\n{line}{below}" if line else "")).encode())
        print(options.out)
    return 0


def _figure(parser: Parser, words: list[str]) -> int:
    """Draw a figure."""
    parser.add_argument("id", metavar="ID", help="such as figure-2")
    parser.add_argument("dir", metavar="DIR", help="directory of the grid")
    parser.add_argument("--out", required=True, metavar="FILE", help="ends in .svg or .png")
    options = parser.parse_args(words)
    out = file_to_write(options.out, (".svg", ".png"))

    from mppo.paper import make

    for path in make.figure(options.id, Path(options.dir), out):
        print(path)
    return 0


def _compact(parser: Parser, words: list[str]) -> int:
    """Add what tables and figures need of finished runs to one compressed file."""
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


def _unpack(parser: Parser, words: list[str]) -> int:
    """Write the runs of such a file as directories again, for mppo report and others."""
    parser.add_argument("dir", metavar="DIR", help="folder of a compact copy")
    parser.add_argument("--out", required=True, metavar="DIR", help="a new folder")
    options = parser.parse_args(words)

    from mppo.experiments import compact

    print(f"{compact.unpack(Path(options.dir), Path(options.out))} runs in {options.out}")
    return 0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


JOBS = {
    "list": (_list, "--json"),
    "run": (_run, "figure-2 table-1 --tasks Maze --seeds 6 --out runs/paper"),
    "readings": (_readings, "--json"),
    "status": (_status, "runs/paper"),
    "table": (_table, "table-1 runs/paper --format md"),
    "figure": (_figure, "figure-2 runs/paper --out figure-2.svg"),
    "compact": (_compact, "runs/paper results/paper"),
    "unpack": (_unpack, "results/paper --out runs/unpacked"),
}
"""Of each job what does it, whose docstring is what the help says of it, and an example."""
