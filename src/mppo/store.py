"""The run directory: what it holds and how it is written."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from mppo.errors import BadRequest

FORMAT = 1


def plain(value: Any) -> Any:
    """JSON data of arrays and numbers; what is not finite becomes null.

    >>> plain({"kl": np.float32(0.1), "J": np.array([1.0, np.nan])})
    {'kl': 0.1, 'J': [1.0, None]}
    """
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value] if value.ndim else plain(value[()])
    if isinstance(value, bool | np.bool):
        return bool(value)
    if isinstance(value, np.integer | int):
        return int(value)
    if isinstance(value, np.float32):  # type: ignore
        value = float(str(value))  # the shortest decimal that reads back to the same bits
    if isinstance(value, np.floating | float):
        return float(value) if math.isfinite(value) else None
    return value


class RunDirectory:
    """One run's files: `run.json` first, rows appended as they come, `final.json` last."""

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)

    def create(self, run: dict[str, Any]) -> None:
        """Start a new run here; never over another one."""
        described = self.path / "run.json"
        if described.exists():
            raise BadRequest(
                f'"{self.path}" holds another run ({_describe(described)}); '
                "choose another --out or remove it"
            )
        if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise BadRequest(f'"{self.path}" is not an empty directory; choose another --out')
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadRequest(f'cannot write to "{self.path}": {error.strerror}') from error
        self.write("run.json", run)

    def write(self, name: str, data: dict[str, Any], indent: int | None = 2) -> None:
        """Write a JSON file whole: readers see the old one or the new one."""
        target = self.path / name
        temporary = self.path / f".{name}.tmp"
        with temporary.open("w", encoding="utf-8") as file:
            json.dump(plain(data), file, indent=indent, allow_nan=False)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)

    def append(self, name: str, row: dict[str, Any]) -> None:
        """Add one row to a JSON-lines file."""
        line = json.dumps(plain(row), allow_nan=False, separators=(",", ":"))
        with (self.path / name).open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def rows(path: str | os.PathLike, name: str) -> list[dict[str, Any]]:
    """All complete rows of a JSON-lines file; a torn last line is left out."""
    file = Path(path) / name
    if not file.exists():
        return []
    text = file.read_text(encoding="utf-8")
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def _describe(file: Path) -> str:
    try:
        run = json.loads(file.read_text(encoding="utf-8"))
        return f"{run['method_name']} on {run['env']}, seed {run['seed']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "unreadable"
