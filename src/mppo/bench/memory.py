"""Resident memory: of this process, and the two tables of the paper's appendix against K."""

from __future__ import annotations

import ctypes
import re
import resource
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mppo.bench.ratios import Part, Ratio, Table, quotients, spread

if TYPE_CHECKING:
    from mppo.bench.session import Session

ENV = "mppo/SparseDoublePendulum-v0"
PRINTED_MEMORY = {
    "trpo": {1: (404, 359), 2: (410, 365), 4: (410, 365), 8: (410, 365), 16: (411, 365)},
    "ppo": {1: (388, 335), 2: (407, 351), 4: (409, 351), 8: (409, 351), 16: (411, 335)},
}
"""Memory and GPU memory in M for each K, as printed in Appendix C of the paper."""
_MIB = 2**20


def memory(session: Session) -> Part:
    """Resident memory of single-path and multi-path runs beside the paper's."""
    bases = list(PRINTED_MEMORY)[: session.size(2, 1)]
    counts = list(PRINTED_MEMORY["trpo"])[: session.size(5, 2)]
    method = lambda base, k: base if k == 1 else f"mp-{base}"
    cases = [(method(base, k), k) for base in bases for k in counts]
    rounds = session.size(min(session.repetitions, 3), 1)
    samples = session.train_paths("memory", ENV, cases, session.size(5, 1), rounds)
    sizes = lambda case, when: [sample["resident_mib"][when] for sample in samples[case]]
    ratios, tables = [], []
    for base in bases:
        rows = []
        for k in counts:
            case, label = (method(base, k), k), f"mp-{base} (K = {k})" if k > 1 else base
            end, peak = sizes(case, "now"), sizes(case, "peak")
            rows.append([label, spread(end), spread(peak), PRINTED_MEMORY[base][k][0]])
            if k > 1:
                what = f"mp-{base}, K = {k} / {base}: resident memory"
                grown = quotients(end, sizes((base, 1), "now"))
                ratios.append(Ratio(f"memory-{base}-{k}", what, grown))
        title = f"Resident memory of {base} and mp-{base} on {ENV.removeprefix('mppo/')}"
        columns = ["method", "MiB at the end", "MiB at the peak", "paper: M"]
        tables.append(Table(f"table-memory-{base}", title, columns, rows))
    return Part(ratios, tables)


def return_large_buffers() -> None:
    """Let the C library map what an update needs for a moment, and give it back after each.

    By itself glibc raises its limit for that after the first time; the heap then keeps some of
    these buffers and not others, and peak memory jumps by ten megabytes from run to run.
    """
    if sys.platform == "linux":
        m_mmap_threshold = -3
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # absent in other C libraries
        if mallopt is not None:
            mallopt(m_mmap_threshold, _MIB)


def resident_mib() -> dict[str, float]:
    """Now and at its peak, in MiB, with all descendants.

    The peak is VmHWM: `ru_maxrss` survives an exec, so a small child of a large process would
    show its parent's.
    """
    known = [sizes for pid in ["self", *_descendants("self")] if (sizes := _resident(pid))]
    if not known:
        unit = 1 if sys.platform == "darwin" else 1024
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / _MIB
        return {"now": peak, "peak": peak}
    kinds = {"now": "VmRSS", "peak": "VmHWM"}
    return {name: sum(int(sizes[kind]) / 1024 for sizes in known) for name, kind in kinds.items()}


def _resident(pid: str) -> dict[str, str]:
    """Its sizes in KiB by the system's names; none where they are not told."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return {}
    return dict(re.findall(r"^(VmRSS|VmHWM):\s*(\d+)", status, re.MULTILINE))


def _descendants(pid: str) -> list[str]:
    """Processes started by any thread of this one, and theirs."""
    pids: list[str] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # it has ended meanwhile
            for child in file.read_text().split():
                pids += [child, *_descendants(child)]
    return pids
