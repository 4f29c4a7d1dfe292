"""The memory tables of Appendix C: measured by a part of `mppo bench`, kept with the grid."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mppo.bench.memory import PRINTED_MEMORY
from mppo.errors import BadRequest, CheckpointError
from mppo.files.atomic import write_atomically
from mppo.files.checkpoints import read_json
from mppo.paper.printed import MEMORY, MEMORY_SOURCES, STATED_GROWTH
from mppo.report.document import Document, Section
from mppo.report.style import DISPLAY

FILE = "memory.json"
LARGEST = 1 << 25  # bytes of a measurement
Measurement = dict[str, Any]
"""The JSON of `mppo bench`, read back."""
Spread = dict[str, float]


def measure(root: Path, say: Callable[[str], None]) -> Measurement:
    """Measure both tables unless that was done here before."""
    file = root / FILE
    if file.exists():
        return read_json(file, LARGEST)
    from mppo.bench.session import Options, empty_result, measure_parts
    from mppo.files.run_directory import plain

    options = Options(parts=("memory",), say=say)
    result = empty_result(options)
    for _ in measure_parts(options, result):
        pass
    part = result["parts"]["memory"]
    if part["status"] != "measured":
        raise BadRequest(f"memory could not be measured: {part['reason']}")
    root.mkdir(parents=True, exist_ok=True)
    write_atomically(file, (json.dumps(plain(result), indent=1, allow_nan=False) + "\n").encode())
    return result


def document(identifier: str, root: Path) -> Document:
    """Resident memory against K: the growth is ours to compare, not the size."""
    base = MEMORY[identifier]
    measured, notes = _measured(identifier, root)
    ours: dict[int, tuple[Spread, Spread]] = {
        int(label.partition("K = ")[2].rstrip(")") or 1): (end, peak)
        for label, end, peak, *_ in measured
    }
    paths, percent = STATED_GROWTH[base]
    text = [
        f"{MEMORY_SOURCES[base]}, on SparseDoublePendulum. Ours: resident memory of the whole "
        "process, median (least to most) of the repetitions, at the end and at its peak. The "
        "paper's numbers are of another implementation and machine: compare the growth with K.",
        f"Section 4.3 states {percent} % more memory for K = {paths}: the growth of the paper's "
        "GPU column. We use no GPU.",
    ]
    columns = ["method", "ours: MiB at the end", "ours: MiB at the peak", "growth"]
    columns += ["paper: memory (M)", "growth", "paper: GPU memory (M)", "growth"]
    rows = [_row(base, k, ours) for k in PRINTED_MEMORY[base]]
    sections = [Section("Resident memory", text, columns, rows)]
    if not ours:
        command = f"mppo bench --only memory --json {root / FILE}"
        sections.append(Section("Missing", ["No measurement was found here."], commands=[command]))
    if notes:
        sections.append(Section("Measurement", notes))
    return Document(f"{identifier}: ours beside the paper's", sections)


def _row(base: str, k: int, ours: dict[int, tuple[Spread, Spread]]) -> list[str]:
    label = DISPLAY[base] if k == 1 else f"{DISPLAY[f'mp-{base}']} (K = {k})"
    cells = ["missing", "missing", "-"]
    if k in ours:
        end, peak = ours[k]
        growth = _growth(end["median"], ours[1][0]["median"]) if 1 in ours else "-"
        cells = [_spread(end), _spread(peak), growth]
    (resident, gpu), (usual, usual_gpu) = (PRINTED_MEMORY[base][n] for n in (k, 1))
    paper = [str(resident), _growth(resident, usual), str(gpu), _growth(gpu, usual_gpu)]
    return [label, *cells, *paper]


def _measured(identifier: str, root: Path) -> tuple[list[Any], list[str]]:
    """Rows of this table in the first file below the directory, by name, that has it; notes."""
    notes = []
    for file in sorted([*root.glob("*.json"), *root.glob("*/*.json")]):
        try:
            content = read_json(file, LARGEST)
        except CheckpointError as error:
            notes.append(str(error))
            continue
        parts = content.get("parts")
        part = parts.get("memory") if isinstance(parts, dict) else None
        for table in (part or {}).get("tables", []):
            if table.get("name") == identifier:
                command, machine = content.get("command", "?"), content.get("machine", {})
                processor, cores = machine.get("processor", "?"), machine.get("cores", "?")
                where = [f"Measured by `{command}` on {processor}, {cores} cores."]
                if content.get("quick"):
                    where.append("This was a smoke test (--quick): its numbers mean nothing.")
                return table["rows"], [*where, *notes]
    return [], notes


def _spread(spread: Spread) -> str:
    return f"{spread['median']:.0f} ({spread['least']:.0f} to {spread['most']:.0f})"


def _growth(value: float, base: float) -> str:
    return f"{100 * (value / base - 1):+.2f} %"
