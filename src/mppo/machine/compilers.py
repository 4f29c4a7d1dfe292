"""Numba's compiler with the settings that all compiled code here shares."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
import numba

from mppo.machine.caching import compiled

SOURCES = ("acting", "bench/replay.py", "envs", "machine")
"""Rooms and files with what compiled code is made of: functions, constants, argument types."""


def source_files(package: Path) -> list[Path]:
    """All files of these rooms, in the order of their names."""
    places = (package / name for name in SOURCES)
    return [
        file
        for place in places
        for file in (sorted(place.rglob("*.py")) if place.is_dir() else [place])
    ]


def digest(package: Path) -> str:
    """Tells apart compiled code of other sources or by another compiler.

    Numba itself compares a function's own file with what it has kept, not the files of the
    functions and constants that were compiled into it.
    """
    known = hashlib.sha256(f"numba {numba.__version__} llvmlite {llvmlite.__version__}".encode())
    for file in source_files(package):
        content = file.read_bytes()
        known.update(f"\n{file.relative_to(package)} {len(content)}\n".encode() + content)
    return known.hexdigest()[:16]


def _folder() -> Path | None:
    try:
        return compiled(f"numba/{digest(Path(__file__).parents[1])}")
    except OSError:
        return None  # a package without its sources, as in an archive


_KEPT = _folder()
_njit: Any = numba.njit  # to a type checker the function stays what it was
_config: Any = numba.config  # type: ignore  (its names are made when it is loaded)
F = TypeVar("F", bound=Callable[..., Any])


def native(function: F) -> F:
    """Compile at the first call; no fastmath, since bits matter, and no interpreter's lock."""
    before = _config.CACHE_DIR  # where the user keeps his own functions
    _config.CACHE_DIR = str(_KEPT or "")
    try:
        return _njit(nogil=True, error_model="numpy", cache=_KEPT is not None)(function)
    finally:
        _config.CACHE_DIR = before
