"""Set the runs of a grid beside the peers' curves, task by task.

    python benchmarks/beside_peers.py --runs DIR --peers FILE... --title WORDS --out PAGE

DIR is the --out of a sweep or the compact copy of it, a FILE what `peer_returns.py` wrote. Of a
peer: the mean return of its last 100 training episodes. Of ours with `--score training` the same,
with `--score evaluations` the mean of the last tenth of the evaluations, which sample actions as
well. What was written by hand at the end of the page stays.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from mppo.cli.paper import BY_HAND
from mppo.experiments.collection import Record, collect
from mppo.files import reader
from mppo.files.checkpoints import read_json
from mppo.paper import words
from mppo.paper.cells import read_curve
from mppo.paper.sweeps import setting
from mppo.paper.verdicts import judge_order
from mppo.report.document import Document, Section
from mppo.statistics.scores import final_score

PEERS = {"trpo": "sb3-contrib TRPO", "ppo": "Stable-Baselines3 PPO"}
EPISODES = 100
Place = tuple[str, int]
"""A task and a number of steps."""
Scores = dict[Place, dict[str, list[float]]]
"""By place and row: of every seed."""


def last_episodes(metrics: list[dict], wanted: int = EPISODES) -> float:
    """Mean return of the last iterations in which at least so many episodes ended.

    >>> rows = [{"return_mean": 9.0, "episodes": 5}, {"return_mean": 1.0, "episodes": 3}]
    >>> rows += [{"return_mean": None, "episodes": 0}, {"return_mean": 4.0, "episodes": 1}]
    >>> last_episodes(rows, 4), last_episodes(rows, 5)
    (1.75, 5.777777777777778)
    """
    total, count = 0.0, 0
    for row in reversed(metrics):
        if row["return_mean"] is not None:
            total, count = total + row["return_mean"] * row["episodes"], count + row["episodes"]
        if count >= wanted:
            break
    return total / count


def task_of(env: str) -> str:
    """An environment's id without the module that registers it."""
    return env.rpartition(":")[2]


def versions(record: Record) -> str:
    """What a run was made with."""
    stored = reader.archived(record.directory).get("run")
    described = stored or read_json(record.directory / "run.json", reader.LARGEST_RUN)
    return ", ".join(f"{name} {version}" for name, version in described["versions"].items())


def score(record: Record, kind: str) -> float | None:
    """Of a run; None if it has not come to its end."""
    if kind == "training":
        metrics = record.metrics()
        done = metrics and metrics[-1]["steps"] >= record.steps
        return last_episodes(metrics) if done else None
    curve = read_curve(record, record.steps)
    return None if curve is None else float(final_score(curve.returns))


def ours(records: list[Record], kind: str) -> Scores:
    """The scores of these runs, the plainest setting first."""
    found: Scores = defaultdict(lambda: defaultdict(list))
    for record in sorted(records, key=lambda record: (setting(record), record.seed)):
        value = score(record, kind)
        if value is not None:
            place = task_of(record.env), record.steps
            found[place][setting(record).label].append(value)
    return found


def theirs(files: list[Path], place: Place) -> dict[str, list[float]]:
    """The peers' scores by algorithm, of all curves whose last point is at so many steps."""
    task, steps = place
    found: dict[str, list[float]] = defaultdict(list)
    for file in files:
        for row in map(json.loads, file.read_text().splitlines()):
            at, value = row["curve"][-1]
            if row["env"] == task and 0.99 * steps <= at <= 1.01 * steps:
                found[row["algorithm"]].append(value)
    return found


def section(place: Place, mine: dict[str, list[float]], peers: dict[str, list[float]]) -> Section:
    """One place: our rows, each beside the peer of its name, or else beside all of them."""
    rows = []
    for label, scores in mine.items():
        same = {label: peers[label]} if label in peers else peers
        chances = {name: judge_order([scores], [known])[0] for name, known in same.items()}
        said = [f"{PEERS[name]}: {words.interval(chance)}" for name, chance in chances.items()]
        rows.append(row(label, scores, "\n".join(said) or "-"))
    rows += [row(PEERS[name], known, "-") for name, known in sorted(peers.items())]
    return Section.of_rows(f"{place[0]}, {words.steps(place[1])} steps", [], rows)


def row(label: str, scores: list[float], against: str) -> dict[str, str]:
    """Mean, interval, every seed."""
    return {
        "method": label,
        "seeds": str(len(scores)),
        "return [95 %]": words.mean(np.array(scores)),
        "P against the peer [95 %]": against,
        "of each seed": " ".join(f"{score:.2f}" for score in scores) or "-",
    }


def notes(kind: str, own_versions: str, peer_versions: str) -> Section:
    """How to read it."""
    what = {
        "training": f"mean return of the last {EPISODES} training episodes, ours and the peers'",
        "evaluations": "ours: mean return of the last tenth of the evaluations, sampled actions; "
        f"the peers': of the last {EPISODES} training episodes",
    }
    lines = [
        f"Return: {what[kind]}; with the 95 % t interval over seeds. "
        "P: the probability that a run of ours beats one of the peer's, ties counted half, with "
        f"its 95 % bootstrap interval ({words.BOOTSTRAP}).",
        "Both with the paper's hyper-parameters: the same batch, discount, lambda, epochs, step "
        "sizes and networks; observations standardised (clip 5), rewards as they are.",
        f"Ours: {own_versions}. Peers: {peer_versions}.",
    ]
    return Section("How to read this", lines)


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--peers", type=Path, nargs="*", default=[])
    parser.add_argument("--peer-versions", default="Stable-Baselines3 and sb3-contrib")
    parser.add_argument("--score", choices=["training", "evaluations"], default="training")
    parser.add_argument("--title", required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    records = [record for record in collect(options.runs) if not record.damaged]
    mine = ours(records, options.score)
    sections = [section(p, mine[p], theirs(options.peers, p)) for p in sorted(mine)]
    sections.append(notes(options.score, versions(records[0]), options.peer_versions))
    old = options.out.read_text() if options.out.exists() else ""
    _, mark, hand = old.partition(BY_HAND)
    page = Document(options.title, sections).render()
    options.out.write_text(page + (f"\n{mark}{hand}" if mark else ""))


if __name__ == "__main__":
    main()
