"""The memory tables: one part of `mppo bench`, kept in the directory of the grid."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mppo.errors import BadRequest
from mppo.files.atomic import write_atomically
from mppo.files.checkpoints import read_json

FILE = "memory.json"
LARGEST = 1 << 24  # bytes


def measure(root: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """Measure both tables unless that was done here before."""
    file = root / FILE
    if file.exists():
        return read_json(file, LARGEST)
    from mppo.bench.conduct import Options, begun, conduct
    from mppo.files.run_directory import plain

    options = Options(parts=("memory",), say=say)
    result = begun(options)
    for _ in conduct(options, result):
        pass
    part = result["parts"]["memory"]
    if part["status"] != "measured":
        raise BadRequest(f"memory could not be measured: {part['reason']}")
    root.mkdir(parents=True, exist_ok=True)
    text = json.dumps(plain(result), indent=1, allow_nan=False) + "\n"
    write_atomically(file, text.encode())
    return result
