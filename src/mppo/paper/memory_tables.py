"""The memory tables of Appendix C from the JSON of `mppo bench --only memory --json FILE`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mppo.errors import CheckpointError
from mppo.files.checkpoints import read_json
from mppo.paper.printed import STATED_GROWTH, MemoryTable
from mppo.report.document import Document, Section
from mppo.report.style import DISPLAY

LARGEST = 1 << 25  # bytes of a measurement
Spread = dict[str, float]


def memory_document(printed: MemoryTable, root: Path) -> Document:
    """Resident memory against K: the growth is ours to compare, not the size."""
    found, table, notes = _measurement(printed, root)
    base = printed.rows[0]
    usual = table.get(1, {}).get("now")
    rows = []
    for line in printed.rows:
        name = printed.base if line.paths == 1 else f"mp-{printed.base}"
        label = DISPLAY[name] + ("" if line.paths == 1 else f" (K = {line.paths})")
        ours = table.get(line.paths)
        rows.append(
            [
                label,
                _spread(ours["now"]) if ours else "missing",
                _spread(ours["peak"]) if ours else "missing",
                _growth(ours["now"]["median"], usual["median"]) if ours and usual else "-",
                f"{line.resident}",
                _growth(line.resident, base.resident),
                f"{line.gpu}",
                _growth(line.gpu, base.gpu),
            ]
        )
    paths, percent = STATED_GROWTH[printed.base]
    text = [
        f"{printed.source}, on SparseDoublePendulum. Ours: resident memory of the whole process, "
        "median (least to most) of the repetitions, at the end and at its peak. The paper's "
        "numbers are of another implementation and machine: compare the growth with K.",
        f"Section 4.3 states {percent} % more memory for K = {paths}: the growth of the paper's "
        "GPU column. We use no GPU.",
    ]
    columns = [
        "method",
        "ours: MiB at the end",
        "ours: MiB at the peak",
        "growth",
        "paper: memory (M)",
        "growth",
        "paper: GPU memory (M)",
        "growth",
    ]
    sections = [Section("Resident memory", text, columns, rows)]
    if not table:
        command = f"mppo bench --only memory --json {root / 'memory.json'}"
        sections.append(Section("Missing", ["No measurement was found here."], commands=[command]))
    if found is not None:
        machine = found.get("machine", {})
        notes.insert(
            0,
            f"Measured by `{found.get('command', '?')}` on {machine.get('processor', '?')}, "
            f"{machine.get('cores', '?')} cores.",
        )
        if found.get("quick"):
            notes.append("This was a smoke test (--quick): its numbers mean nothing.")
    if notes:
        sections.append(Section("Measurement", notes))
    return Document(f"{printed.identifier}: ours beside the paper's", sections)


def _measurement(
    printed: MemoryTable, root: Path
) -> tuple[dict[str, Any] | None, dict[int, dict[str, Spread]], list[str]]:
    """The first file below the directory, by name, that holds this table; K to its spreads."""
    notes = []
    for file in sorted([*root.glob("*.json"), *root.glob("*/*.json")]):
        try:
            found = read_json(file, LARGEST)
        except CheckpointError as error:
            notes.append(str(error))
            continue
        part = found.get("parts", {}).get("memory") if isinstance(found.get("parts"), dict) else {}
        for table in (part or {}).get("tables", []):
            if table.get("name") == printed.identifier:
                return found, _by_paths(table), notes
    return None, {}, notes


def _by_paths(table: dict[str, Any]) -> dict[int, dict[str, Spread]]:
    found = {}
    for label, now, peak, *_ in table["rows"]:
        paths = int(label.partition("K = ")[2].rstrip(")")) if "K = " in label else 1
        found[paths] = {"now": now, "peak": peak}
    return found


def _spread(found: Spread) -> str:
    return f"{found['median']:.0f} ({found['least']:.0f} to {found['most']:.0f})"


def _growth(value: float, base: float) -> str:
    return f"{100 * (value / base - 1):+.2f} %"
