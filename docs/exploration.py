"""Draw docs/exploration.svg: which style of exploration gets the samples, on four tasks.

    python docs/exploration.py              # draws what docs/exploration.json holds
    python docs/exploration.py --from RUNS  # makes that file from finished runs first

Of each task, the run of `sp-trpo` with the smallest seed is shown, whatever came of it.
"""

import argparse
import json
from itertools import groupby
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mppo.algorithm.styles import Style
from mppo.paper.figures.drawing import STEPS_LABEL, save, settings

HERE = Path(__file__).parent
DATA, PICTURE = HERE / "exploration.json", HERE / "exploration.svg"
TASKS = (
    "mppo/Maze-v0",
    "mppo/SparseHalfCheetah-v0",
    "mppo/SparseHopper-v0",
    "mppo/SparseCartPoleSwingup-v0",
)
METHOD = "sp-trpo"
LABELS = {  # from the bottom of a panel to its top, each with its colour
    "curious": ("curious: also learns from surprises", "#0072b2"),
    "apart": ("apart: begins with a behaviour of its own", "#e69f00"),
    "persistent": ("persistent: noise that lasts", "#009e73"),
    "turning": ("turning: sees sines and cosines", "#999999"),
}
BIN = 10  # iterations to a bar


def styles_of(folder: Path) -> list[str]:
    """The name of the style that each iteration of a run rolled out.

    Iterations of the race count for the style of its winner's place: all that begin apart take part
    in it.
    """
    run = json.loads((folder / "run.json").read_text())
    styles = [{k: v for k, v in one.items() if k != "kind"} for one in run["method"]["styles"]]
    names = [_name(Style(**one)) for one in styles]
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    # a row says what is so after its iteration, and a path may have been drawn anew in it
    first = [k % len(names) for k in range(len(rows[0]["style"]))]
    held = [first, *(row["style"] for row in rows)]
    return [names[before[row["picked"]]] for before, row in zip(held, rows, strict=False)]


def _name(style: Style) -> str:
    return "turning" if style.filter == "turning" else str(style).partition(":")[0]


def finished(folder: Path, run: dict) -> bool:
    """Whether a run has all its iterations."""
    rows = folder / "metrics.jsonl"
    return rows.is_file() and len(rows.read_text().splitlines()) == run["iterations"]


def collected(root: Path) -> dict:
    """What the picture shows, from the run directories in a folder."""
    found = {}
    for file in sorted(root.glob("*/run.json")):
        run = json.loads(file.read_text())
        plain = run["method_name"] == METHOD and not run["changes"] and not run["env_kwargs"]
        if plain and run["env"] in TASKS and finished(file.parent, run):
            found[run["env"], run["seed"]] = file.parent, run["steps"]
    shown = {}
    for task in TASKS:
        seeds = [seed for env, seed in found if env == task]
        if seeds:
            folder, steps = found[task, min(seeds)]
            runs = [[name, len(list(same))] for name, same in groupby(styles_of(folder))]
            shown[task] = {"seed": min(seeds), "steps": steps, "picked": runs}
    return shown


def shares(picked: list) -> dict[str, list[float]]:
    """The share of each style in every stretch of iterations; `picked` are names and how often."""
    names = [name for name, times in picked for _ in range(times)]
    stretches = [names[start : start + BIN] for start in range(0, len(names), BIN)]
    return {label: [one.count(label) / len(one) for one in stretches] for label in LABELS}


def draw(data: dict, path: Path) -> Path:
    """Write the picture; the same data give the same bytes."""
    with settings():
        figure = Figure(figsize=(8, 5), layout="constrained")
        free = iter(figure.subplots(2, 2, sharey=True).flat)
        for (task, one), panel in zip(data.items(), free, strict=False):
            fill(panel, one)
            panel.set_title(f"{task}, seed {one['seed']}")
        for panel in free:
            panel.set_axis_off()
        known = figure.axes[0].get_legend_handles_labels()
        figure.legend(*known, loc="outside lower center", ncols=2)
        return save(figure, path)


def fill(panel: Axes, one: dict) -> None:
    """The bars of one run."""
    parts = shares(one["picked"])
    count = len(parts["curious"])
    width = one["steps"] / 1e6 / count
    below = np.zeros(count)
    for name, (label, colour) in LABELS.items():
        panel.bar(
            width * np.arange(count),
            parts[name],
            width,
            below,
            align="edge",
            color=colour,
            label=label,
            linewidth=0,
        )
        below += parts[name]
    panel.set(xlim=(0, width * count), ylim=(0, 1), xlabel=STEPS_LABEL, ylabel="share of samples")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="runs", type=Path, help="folder of run directories")
    runs = parser.parse_args().runs
    if runs:
        data = collected(runs)
        if not data:
            parser.error(f"{runs} has no finished run of {METHOD} on {', '.join(TASKS)}")
        DATA.write_text(json.dumps(data) + "\n")
    draw(json.loads(DATA.read_text()), PICTURE)


if __name__ == "__main__":
    main()
