"""Write docs/results/base-algorithms.md from our run directories and the peers' curves.

    python benchmarks/base_algorithms.py --runs DIR --peers FILE... --out PAGE

DIR holds one run directory for each METHOD-SEED: mppo train METHOD Hopper-v5 --out DIR/METHOD-SEED;
or the compact copy of them: mppo paper compact DIR OUT.
"""

import argparse
import json
import re
from collections import defaultdict
from pathlib import Path
from statistics import mean, stdev

from beside_peers import last_episodes

from mppo.files import archive
from mppo.files.reader import rows
from mppo.report.document import markdown_table

PAGE = """\
# TRPO and PPO on Hopper-v5, ours and the peers'

Mean return of the last 100 training episodes (sampled actions, no extra evaluation), the paper's
hyper-parameters, running observation normalisation (clip 5), no reward normalisation. Ours:
{versions}. Peers: {peers}.

{table}

`trpo-continue` is `--episodes continue`: episodes go on in the next iteration (decision 0013).
Each number after the mean is one seed; +- is the standard deviation over seeds. With three seeds
these intervals are wide: "level" is all that can be said of differences within them.
{reference}

## Commands

Ours, for METHOD in trpo, ppo and S in 0, 1, 2 (`--steps 2e6` for trpo):

```
mppo train METHOD Hopper-v5 --seed S --steps 1e6 --eval-every 0 --out runs/base/METHOD-S
```

The peers, in an environment of their own (`pip install stable-baselines3 sb3-contrib
"gymnasium[mujoco]"`), with the same batch, discount, lambda, epochs, step sizes and networks:

```
python benchmarks/peer_returns.py trpo --out peer-trpo.jsonl
python benchmarks/peer_returns.py ppo --out peer-ppo.jsonl
```

What these left is in `results/base` (of our runs the rows' steps, episodes and returns). This page:
`python benchmarks/base_algorithms.py --runs results/base --peers results/base/peer-*.jsonl --out
docs/results/base-algorithms.md`
"""


def read(folder: Path) -> dict[str, tuple[dict, list[dict]]]:
    """What run.json says and the rows of metrics of every run, by name, in order."""
    stored = archive.read(folder).runs.items()
    runs = {name: (line["run"], line["metrics"]) for name, line in stored}
    for file in folder.glob("*/run.json"):
        metrics = rows(file.parent, "metrics.jsonl")
        runs[file.parent.name] = json.loads(file.read_text()), metrics
    return dict(sorted(runs.items()))


def ours(folder: Path, steps: int) -> dict[str, list[float]]:
    """Results by method of all finished runs that went so far."""
    found = defaultdict(list)
    for name, (_, metrics) in read(folder).items():
        match = re.fullmatch(r"(.+)-(\d+)", name)
        if match and metrics and metrics[-1]["steps"] >= steps:
            found[match[1]].append(last_episodes([row for row in metrics if row["steps"] <= steps]))
    return found


def peers(files: list[str], steps: int) -> dict[str, list[float]]:
    """Results by algorithm of the peers' curves, at the point nearest to a step."""
    found = defaultdict(list)
    for file in files:
        for line in Path(file).read_text().splitlines():
            row = json.loads(line)
            reached = [point for point in row["curve"] if point[0] <= steps * 1.01]
            if reached and reached[-1][0] >= steps * 0.99:
                found[row["algorithm"]].append(reached[-1][1])
    return found


def cell(values: list[float]) -> str:
    """Mean, deviation and every seed."""
    if not values:
        return "-"
    spread = f" +- {stdev(values):,.0f}" if len(values) > 1 else ""
    return f"**{mean(values):,.0f}**{spread} ({', '.join(f'{v:,.0f}' for v in values)})"


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--peers", nargs="*", default=[])
    parser.add_argument("--peer-versions", default="Stable-Baselines3 and sb3-contrib")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    names = {"trpo": "sb3-contrib TRPO", "ppo": "Stable-Baselines3 PPO"}
    table = []
    for steps in (1_000_000, 2_000_000):
        mine, theirs = ours(options.runs, steps), peers(options.peers, steps)
        for method in sorted(mine):
            peer = f"{names.get(method, '')}: {cell(theirs[method])}" if theirs[method] else "-"
            table.append([f"`{method}`", f"{steps:,}", cell(mine[method]), peer])
    described = next(iter(read(options.runs).values()))[0]["versions"]
    versions = ", ".join(f"{name} {version}" for name, version in described.items())
    reference = (
        "Henderson et al. (2018) report 2,965 [2,854, 3,076] for TRPO on Hopper-v1 at 2M steps "
        "with these hyper-parameters; Hopper-v5 on today's MuJoCo is not the same environment."
    )
    options.out.write_text(
        PAGE.format(
            versions=versions,
            peers=options.peer_versions,
            table="\n".join(markdown_table(["method", "steps", "ours", "peer"], table)),
            reference=reference,
        )
    )


if __name__ == "__main__":
    main()
