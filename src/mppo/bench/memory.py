"""The two memory tables of the paper's appendix: resident memory against K."""

from __future__ import annotations

from mppo.bench.parts import Part, Table
from mppo.bench.ratios import Ratio, quotients, spread
from mppo.bench.sitting import Sitting

ENV = "mppo/SparseDoublePendulum-v0"
PRINTED_MEMORY = {
    "trpo": {1: (404, 359), 2: (410, 365), 4: (410, 365), 8: (410, 365), 16: (411, 365)},
    "ppo": {1: (388, 335), 2: (407, 351), 4: (409, 351), 8: (409, 351), 16: (411, 335)},
}
"""Memory and GPU memory in M for each K, as printed in Appendix C of the paper."""


def memory(sitting: Sitting) -> Part:
    """Resident memory of single-path and multi-path runs beside the paper's."""
    cases = [(base, k) for base, printed in PRINTED_MEMORY.items() for k in printed]
    if sitting.quick:
        cases = cases[:2]
    now: dict[tuple[str, int], list[float]] = {case: [] for case in cases}
    peak: dict[tuple[str, int], list[float]] = {case: [] for case in cases}
    for r in range(-1, sitting.size(min(sitting.repetitions, 3), 1)):
        for base, k in cases:  # round -1 fills the compilation cache: compiling takes memory
            method = base if k == 1 else f"mp-{base}"
            sitting.say(f"memory {r + 1}: {method}, K = {k}")
            sample = sitting.train(
                method,
                ENV,
                repetition=r,
                iterations=1 if r < 0 else sitting.size(5, 1),
                overrides={"paths": k},
            )
            if r >= 0:
                now[base, k].append(sample["resident_mib"]["now"])
                peak[base, k].append(sample["resident_mib"]["peak"])
    ratios = [
        Ratio(
            f"memory-{base}-{k}",
            f"mp-{base}, K = {k} / {base}: resident memory",
            quotients(now[base, k], now[base, 1]),
        )
        for base, k in cases
        if k > 1
    ]
    bases = dict(cases)  # in order, each once
    return Part(ratios, [_table(base, cases, now, peak) for base in bases])


def _table(base: str, cases: list[tuple[str, int]], now: dict, peak: dict) -> Table:
    rows = []
    for name, k in cases:
        if name == base:
            label = base if k == 1 else f"mp-{base} (K = {k})"
            ours = [spread(now[base, k]), spread(peak[base, k])]
            rows.append([label, *ours, PRINTED_MEMORY[base][k][0]])
    title = f"Resident memory of {base} and mp-{base} on {ENV.removeprefix('mppo/')}"
    columns = ["method", "MiB at the end", "MiB at the peak", "paper: M"]
    return Table(f"table-memory-{base}", title, columns, rows)
