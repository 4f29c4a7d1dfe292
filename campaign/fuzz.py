"""Ten thousand damaged files, opened in batches by guarded processes; and runs with none good."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from campaign import refusals
from campaign.ledger import Row
from campaign.opening import FOUND_OUT
from campaign.small import surroundings

BATCH = 500
COUNT = 12_000  # of which more than 10,000 are refused; the rest are valid and load


def cases(count: int = COUNT) -> list[str]:
    """Batches of numbers, "0-499", and the ways in which no checkpoint of a run is good."""
    starts = range(0, count, BATCH)
    whole = [f"{start}-{start + BATCH - 1}" for start in starts]  # none counts twice
    return [*whole, *refusals.KINDS]


def no_good(kind: str, count: int = refusals.COUNT) -> Row:
    """Runs with every checkpoint refused, in a process of its own."""
    answer = subprocess.run(
        [sys.executable, "-m", "campaign.refusals", kind, str(count)],
        env=surroundings(),
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode:
        return {"ok": False, "wrong": [f"ended ({answer.returncode}): {answer.stderr[-300:]}"]}
    found = json.loads(answer.stdout.splitlines()[-1])
    return {**found, "ok": not found["wrong"]}


def batch(case: str, folder: Path) -> Row:
    """Open all files of a batch; a process that ends over one of them is followed by another."""
    if case in refusals.KINDS:
        return no_good(case)
    first, last = map(int, case.split("-"))
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    while first <= last:
        progress = folder / f"progress-{first}"
        answer = subprocess.run(
            [sys.executable, "-m", "campaign.opening", str(first), str(last), str(progress)],
            env=surroundings(),
            capture_output=True,
            text=True,
            check=False,
        )
        if answer.returncode == 0:
            found = json.loads(answer.stdout.splitlines()[-1])
            counts.update(found["counts"])
            wrong += found["wrong"]
            break
        if not progress.exists():
            return {"ok": False, "wrong": [f"could not start: {answer.stderr[-300:]}"]}
        at = int(progress.read_text().split()[-1])
        reason = "forbidden" if answer.returncode == FOUND_OUT else "ended"
        counts[reason] += 1
        wrong.append(f"{at}: {reason} ({answer.returncode}): {answer.stderr[-300:]}")
        if at > first:  # what went well before is done again, to be counted
            before = batch(f"{first}-{at - 1}", folder)
            counts.update(before.get("counts", {}))
            wrong += before["wrong"]
        first = at + 1
    return {"counts": dict(sorted(counts.items())), "wrong": wrong, "ok": not wrong}
