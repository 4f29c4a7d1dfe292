"""Small runs that pass through all that a large one does, and what must be equal of two of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from campaign.ledger import ROOT
from mppo.files import checkpoints, reader
from mppo.files.reader import rows

METHODS = ("trpo", "ppo", "mp-trpo", "mp-ppo")
PLACES = (  # the environment, and whether episodes go on from one iteration to the next
    ("Hopper-v5", "continue"),
    ("mppo/Maze-v0", "fresh"),
    ("Hopper-v5", "fresh"),
    ("mppo/Maze-v0", "continue"),
)
COMPARED = ("metrics.jsonl", "evaluations.jsonl")
STEPS = {"Hopper-v5": 12_000, "mppo/Maze-v0": 24_000}


class Small(NamedTuple):
    """One run: 30 or 60 iterations of two environments, saved after every one."""

    method: str
    env: str
    episodes: str = "fresh"
    workers: int = 1
    iterations: int = 0  # 0: as many as last some seconds

    @property
    def steps(self) -> int:
        """The budget."""
        return 400 * self.iterations or STEPS[self.env]

    @property
    def overrides(self) -> dict[str, Any]:
        """What makes the method small."""
        network = {"network.hidden": (8,), "critic.network.hidden": (8,)}
        paths = {"paths": 3} if self.method.startswith("mp-") else {}
        return {"batch_size": 400, "envs": 2, "episodes": self.episodes} | network | paths

    def words(self, out: Path) -> list[str]:
        """Arguments of `mppo` that train it."""
        words = ["train", self.method, self.env, "--steps", str(self.steps), "--seed", "3"]
        for name, value in self.overrides.items():
            shown = [str(v) for v in value] if isinstance(value, tuple) else [str(value)]
            words += [f"--{name.replace('_', '-')}", *shown]
        words += ["--checkpoint-every", "1", "--eval-every", "2000", "--eval-episodes", "2"]
        words += ["--eval-deterministic-episodes", "1", "--workers", str(self.workers)]
        return [*words, "--out", str(out), "--quiet"]


def mppo_command(words: list[str]) -> list[str]:
    """The command line in a process of its own."""
    return [sys.executable, "-m", "mppo", *words]


def surroundings() -> dict[str, str]:
    """Environment variables of a child: this repository is found from anywhere."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path}


def call(words: list[str], folder: Path, limit: float = 300) -> subprocess.CompletedProcess:
    """Run `mppo` to its end."""
    return subprocess.run(
        mppo_command(words),
        cwd=folder,
        env=surroundings(),
        capture_output=True,
        text=True,
        timeout=limit,
        check=False,
    )


def outcome(path: Path) -> tuple:
    """What must not depend on interruptions, neighbours or threads."""
    final = json.loads((path / "final.json").read_text())
    return *((path / name).read_bytes() for name in COMPARED), final["state_sha256"]


def differences(path: Path, reference: tuple) -> list[str]:
    """Which of the compared things differ from the reference."""
    if not (path / "final.json").exists():
        return ["final.json is missing"]
    names = (*COMPARED, "state_sha256")
    pairs = zip(names, outcome(path), reference, strict=True)
    return [name for name, found, wanted in pairs if found != wanted]


def contents(path: Path) -> dict[str, bytes | None]:
    """Every file below a directory with its bytes, and every directory with None."""
    return {
        str(found.relative_to(path)): found.read_bytes() if found.is_file() else None
        for found in path.rglob("*")
    }


def state_of(path: Path) -> str:
    """How far a run had come when it was stopped, from its files alone."""
    if not (path / "run.json").exists():
        return "before the run began"
    if (path / "final.json").exists():
        return "after the end"
    if not checkpoints.numbers(path / "checkpoints"):
        return "before the first checkpoint"
    return "mid-run"


def unreadable(path: Path) -> list[str]:
    """What cannot be read of a run directory; every file there must be whole."""
    found = []
    try:
        reader.description(path)
        for number in checkpoints.numbers(path / "checkpoints"):
            checkpoints.load(path / "checkpoints", number)
        for name in (*COMPARED, "timing.jsonl", "events.jsonl"):
            rows(path, name)
    except ValueError as error:  # a CheckpointError names the file
        found.append(str(error).replace(str(path), "DIR"))
    return found
