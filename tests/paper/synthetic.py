"""Run directories without training: evaluations, metrics and visits with chosen numbers."""

import json

import numpy as np

from mppo.algorithm.methods import METHODS
from mppo.envs.tasks import TASKS
from mppo.files import settings

IDS = {task.name: task.id for task in TASKS}


def write_run(
    root,
    task,
    method,
    seed,
    level=1.0,
    steps=100_000,
    every=10_000,
    changes=None,
    env_kwargs=None,
    finished=True,
    done=1.0,
    noise=0.02,
    name=None,
):
    """One run whose return rises to `level`; `done` is the share of its steps it came to."""
    resolved = settings.overridden(METHODS[method], changes or {})
    directory = root / "runs" / (name or f"{task}-{method}-{len(list(root.glob('runs/*'))):04d}")
    directory.mkdir(parents=True)
    rng = np.random.default_rng([seed, sum(map(ord, method + task)), resolved.paths])
    run = {
        "format": 1,
        "method_name": method,
        "method": settings.to_json(resolved),
        "env": IDS[task],
        "env_kwargs": env_kwargs or {},
        "seed": seed,
        "steps": steps,
    }
    (directory / "run.json").write_text(json.dumps(run))
    batch, paths = resolved.batch_size, resolved.paths
    metrics, evaluations = [], []
    favourite, picks = int(rng.integers(paths)), np.zeros(paths, int)
    count = int(done * -(-steps // batch))
    performance, entropy = np.zeros(paths), np.full(paths, 1.386)
    for i in range(count):
        at = (i + 1) * batch
        share = at / steps
        picked = favourite if rng.random() < 3 * share else int(rng.integers(paths))
        picks[picked] += 1
        performance[picked] = level * share + noise * rng.standard_normal()
        entropy[picked] *= 0.985
        metrics.append(
            {
                "iteration": i,
                "steps": at,
                "picked": picked,
                "performance": performance.round(4).tolist(),
                "entropy": entropy.round(4).tolist(),
                "picks": picks.tolist(),
            }
        )
        if at // every > (at - batch) // every:
            height = level / (1 + np.exp(-12 * (share - 0.4)))
            value = float(height + noise * level * rng.standard_normal())
            evaluations.append({"steps": at, "path": favourite, "mean_return": value})
    _lines(directory / "metrics.jsonl", metrics)
    _lines(directory / "evaluations.jsonl", evaluations)
    if task == "Maze":
        walls = np.zeros((21, 21), int)
        walls[4:, 7] = walls[:17, 14] = 1
        counts = rng.integers(0, 50, (paths, 21, 21)) * (1 - walls)
        maze = {"walls": walls.tolist(), "start": [0, 0], "goal": [20, 0]}
        (directory / "visits.json").write_text(json.dumps({**maze, "counts": counts.tolist()}))
    if finished:
        (directory / "final.json").write_text("{}")
    return directory


def _lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def rows_of(page, heading):
    """The table below a heading, as dictionaries."""
    part = page.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    head, _, *body = [[cell.strip() for cell in line[1:-1].split(" | ")] for line in lines]
    return [dict(zip(head, row, strict=True)) for row in body]
