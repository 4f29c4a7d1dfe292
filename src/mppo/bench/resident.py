"""Resident memory of this process and of those it started."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

_MIB = 2**20


def resident_mib() -> dict[str, float]:
    """Now and at its peak, in MiB, with all descendants.

    The peak is VmHWM: `ru_maxrss` survives an exec, so a small child of a large process would
    show its parent's.
    """
    found = [_of(pid) for pid in ["self", *_descendants("self")]]
    known = [pair for pair in found if pair is not None]
    if not known:
        unit = 1 if sys.platform == "darwin" else 1024
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / _MIB
        return {"now": peak, "peak": peak}
    return {"now": sum(now for now, _ in known), "peak": sum(peak for _, peak in known)}


def _of(pid: str) -> tuple[float, float] | None:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    if "VmRSS" not in fields:
        return None
    return tuple(int(fields[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))  # type: ignore


def _descendants(pid: str) -> list[str]:
    """Processes started by any thread of this one, and theirs."""
    found: list[str] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = file.read_text().split()
        except OSError:
            continue
        for child in children:
            found += [child, *_descendants(child)]
    return found
