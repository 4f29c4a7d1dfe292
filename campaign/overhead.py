"""What checks and checkpoints cost on Hopper-v5: the same run with and without, in turn.

All runs are of one process and one seed, so that they do the same work; each round takes every
variant once, and the quotient is taken within a round.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from unittest import mock

from campaign.ledger import Row
from campaign.small import surroundings

METHOD, ENV, ITERATIONS, WARM_UP = "trpo", "Hopper-v5", 6, 2
VARIANTS = ("bare", "default", "every iteration")


def cases(count: int = 7) -> list[str]:
    """The rounds."""
    return [str(n) for n in range(count)]


def measure(folder: Path) -> dict[str, float]:
    """Steps a second of each variant, in one round and in a process of its own."""
    answer = subprocess.run(
        [sys.executable, "-m", "campaign.overhead", str(folder)],
        env=surroundings(),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(answer.stdout.splitlines()[-1])


def run(case: str, folder: Path) -> Row:
    """One round."""
    rates = measure(folder)
    costs = {name: round(rates["bare"] / rates[name] - 1, 5) for name in VARIANTS[1:]}
    return {"steps a second": {k: round(v) for k, v in rates.items()}, "cost": costs, "ok": True}


def rate(
    variant: str, folder: str, iterations: int = ITERATIONS, overrides: Row | None = None
) -> float:
    """Train once; steps a second after the first iterations."""
    from mppo.envs.robots import lane
    from mppo.rollouts import checks
    from mppo.training.start import train

    seen: list[float] = []
    settings = {"batch_size": 5000} | (overrides or {})
    batch = settings["batch_size"]
    with ExitStack() as stack:
        out = stack.enter_context(tempfile.TemporaryDirectory(dir=folder))
        if variant == "bare":  # no check of the batch, none of MuJoCo's counters, no files
            stack.enter_context(mock.patch.object(checks, "check"))
            stack.enter_context(mock.patch.object(lane, "BAD_NUMBERS", {}))
        train(
            METHOD,
            ENV,
            steps=batch * (WARM_UP + iterations),
            seed=0,
            out=None if variant == "bare" else Path(out) / "run",
            eval_every=0,
            workers=1,
            overrides=settings,
            checkpoint_every=1 if variant == "every iteration" else 0,
            callback=lambda event, row: seen.append(time.perf_counter()),  # type: ignore
        )
        seen.append(time.perf_counter())  # the last save belongs to it
    return batch * iterations / (seen[-1] - seen[WARM_UP - 1])


def main(folder: str) -> None:
    """Each variant three times in turn; the medians."""
    rate("default", folder)  # compiles
    rates: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
    for n in range(3):
        for variant in VARIANTS if n % 2 == 0 else reversed(VARIANTS):
            rates[variant].append(rate(variant, folder))
    print(json.dumps({variant: median(values) for variant, values in rates.items()}))


if __name__ == "__main__":
    main(sys.argv[1])
