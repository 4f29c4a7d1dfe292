"""Run directories written by hand, with known numbers: what a report reads, without training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mppo.algorithm.methods import METHODS
from mppo.files import settings
from mppo.files.evaluation import Evaluation

ITERATIONS, BATCH = 20, 1000
WALLS = [[0, 0, 0], [0, 1, 0], [0, 0, 0]]


def described(name: str = "mp-trpo", seed: int = 0, **changes: Any) -> dict[str, Any]:
    """What run.json says of a method on the Maze."""
    return {
        "format": 1,
        "method_name": name,
        "method": settings.to_json(METHODS[name]),
        "env": "mppo/Maze-v0",
        "env_kwargs": {},
        "seed": seed,
        "steps": ITERATIONS * BATCH,
        "iterations": ITERATIONS,
        "envs": 5,
        "horizon": 1000,
        "clip_actions": False,
        "evaluation": settings.to_json(Evaluation()),
        "resume": "bitwise",
        "versions": {"mppo": "0.1.0", "numpy": "2.4.6"},
        **changes,
    }


def metrics(n: int, paths: int = 3, seed: int = 0) -> dict[str, Any]:
    """Row n: path n modulo K is picked, J of path k is k + n / 100."""
    return {
        "iteration": n,
        "steps": (n + 1) * BATCH,
        "picked": n % paths,
        "slot": n % paths,
        "episodes": 5,
        "return_mean": seed + n / 10,
        "length_mean": 200.0 - n,
        "performance": [k + n / 100 for k in range(paths)],
        "entropy": [1.0 + k - n / 50 for k in range(paths)],
        "picks": [n // paths] * paths,
        "gain": 0.01,
        "kl": 0.008,
        "value_loss": 10.0 ** -(n / 5),
        "explained_variance": 0.5,
        "line_search_success": True,
        "line_search_steps": 1 + n % 2,
    }


def write(
    where: Path,
    run: dict[str, Any] | None = None,
    *,
    paths: int = 3,
    iterations: int = ITERATIONS,
    final: bool = True,
    events: list[dict[str, Any]] | None = None,
    more: dict[str, Any] | None = None,
    visits: bool = False,
) -> Path:
    """A run directory; `more` goes into every row of the metrics."""
    run = run or described()
    seed = run["seed"] if isinstance(run["seed"], int) else 0
    where.mkdir(parents=True)
    (where / "run.json").write_text(json.dumps(run))
    lines(
        where / "metrics.jsonl",
        [{**metrics(n, paths, seed), **(more or {})} for n in range(iterations)],
    )
    lines(
        where / "timing.jsonl",
        [{"steps": n, "simulation": 1.0, "learning": 2.0, "evaluation": 1.0} for n in range(5)],
    )
    lines(
        where / "evaluations.jsonl",
        [
            {
                "steps": n * 2 * BATCH,
                "path": 1,
                "returns": [n + seed - 1.0, n + seed + 1.0],
                "mean_return": float(n + seed),
                "mean_return_deterministic": None,
            }
            for n in range(1, iterations // 2 + 1)
        ],
    )
    lines(where / "events.jsonl", [{"event": "start", "time": 1.0}, *(events or [])])
    if visits:
        counts = [[[k, 0, 0], [0, 0, 0], [0, 0, 10]] for k in range(1, paths + 1)]
        maze = {"walls": WALLS, "start": [0, 0], "goal": [2, 2], "counts": counts}
        (where / "visits.json").write_text(json.dumps(maze))
    if final:
        (where / "final.json").write_text(json.dumps({"iterations": iterations}))
    return where


def lines(file: Path, rows: list[dict[str, Any]]) -> None:
    """Rows as JSON lines."""
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
