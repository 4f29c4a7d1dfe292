"""A finished run per release, kept in the repository: `python -m campaign golden` makes the next.

What one release wrote, all later ones must read, or say in words that they do not.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from campaign.ledger import ROOT
from campaign.small import Small
from mppo import __version__
from mppo.acting.agent import Agent
from mppo.cli import main
from mppo.envs.source import env_source
from mppo.files import checkpoints, reader
from mppo.files.description import described
from mppo.files.run_directory import plain
from mppo.training.run import Run

RUNS = ROOT / "tests" / "golden" / "runs"
LEFT_OUT = ("events.jsonl", "lock")  # the time of day, and whose it was
OBSERVATIONS = 16


def processor() -> str:
    """What decides how NumPy rounds: only between equal ones must actions be equal bit for bit."""
    from numpy._core._multiarray_umath import __cpu_features__ as features  # type: ignore

    present = sorted(name for name, there in features.items() if there)
    return hashlib.sha256(" ".join([np.__version__, *present]).encode()).hexdigest()[:16]


def agent_of(path: Path) -> Agent:
    """The agent of the newest checkpoint."""
    old = described(reader.known_description(path))
    run = Run(
        old.method,
        env_source(old.env, **old.env_kwargs),
        old.steps,
        old.seed,
        old.evaluation,
        workers=1,
        unfinished=old.unfinished,
    )
    folder = path / "checkpoints"
    run.restore(checkpoints.load(folder, checkpoints.numbers(folder)[0]))
    try:
        return run.agent()
    finally:
        run.close()


def actions_of(agent: Agent, observations: np.ndarray) -> np.ndarray:
    """Its most likely actions."""
    return np.asarray(agent.predict(observations, deterministic=True)[0], np.float32)


def make(folder: Path | None = None) -> str:
    """Write the run of this version, unless it is there."""
    out = folder or RUNS / __version__
    if out.exists():
        return f"{out.name} is there already; a golden run is never made again"
    out.parent.mkdir(parents=True, exist_ok=True)
    words = Small("mp-trpo", "Hopper-v5", "continue", iterations=3).words(out)
    if main([*words, "--eval-every", "400"]):
        raise RuntimeError("the run failed")
    for name in LEFT_OUT:
        (out / name).unlink(missing_ok=True)
    agent, dice = agent_of(out), np.random.default_rng(0)
    size = agent.spaces.observation_size
    observations = dice.normal(size=(OBSERVATIONS, size)).astype(np.float32)
    recorded: dict[str, Any] = {
        "processor": processor(),
        "observations": observations,
        "actions": actions_of(agent, observations),
    }
    (out / "actions.json").write_text(json.dumps(plain(recorded)) + "\n")
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    return f"wrote {out.name}, {size / 1000:.0f} kB"
