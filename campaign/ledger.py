"""What the campaign has found so far: one JSON-lines file for each part, one row for each case."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import platform
import threading
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "reliability"
Row = dict[str, Any]


def about() -> Row:
    """On what the cases ran: bits are promised for one set of packages on one type of processor."""
    packages = ("jax", "jaxlib", "numba", "numpy", "gymnasium", "mujoco", "safetensors")
    return {
        "mppo": importlib.metadata.version("mppo"),
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in packages},
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        return platform.machine()


class Ledger:
    """The rows of one part; `add` writes each at once, so that a stop loses nothing."""

    def __init__(self, part: str, fresh: bool = False, folder: Path = RESULTS):
        self.path = folder / f"{part}.jsonl"
        self._mutex = threading.Lock()
        if fresh:
            self.path.unlink(missing_ok=True)
        self.rows: dict[str, Row] = {}
        self.about: Row | None = None
        for row in _whole_lines(self.path):
            if "about" in row:
                self.about = row["about"]
            else:
                self.rows[row["case"]] = row

    def add(self, case: str, row: Row) -> None:
        """Keep the outcome of a case."""
        with self._mutex:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if not self.path.exists():
                self.about = about()
                self._append({"about": self.about})
            row = {"case": case, **row, "date": datetime.date.today().isoformat()}
            self._append(row)
            self.rows[case] = row

    def _append(self, row: Row) -> None:
        content = self.path.read_bytes() if self.path.exists() else b""
        with self.path.open("r+b" if content else "wb") as file:
            file.truncate(content.rfind(b"\n") + 1)  # a torn line is written again
            file.seek(0, os.SEEK_END)
            file.write((json.dumps(row, separators=(",", ":")) + "\n").encode())


def _whole_lines(path: Path) -> list[Row]:
    content = path.read_bytes() if path.exists() else b""
    return [json.loads(line) for line in content[: content.rfind(b"\n") + 1].splitlines()]
