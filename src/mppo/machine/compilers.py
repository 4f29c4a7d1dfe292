"""Numba's compiler with the settings that all compiled code here shares."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
import numba

from mppo.machine.caching import compiled

SOURCES = (
    "native.py",
    "forward.py",
    "envs/cartpole_swingup.py",
    "envs/contract.py",
    "envs/lane.py",
    "envs/links.py",
    "envs/stretch.py",
    "bench/replay.py",
)
"""What compiled code is made of: functions, the constants frozen into them, and their arguments."""


def digest(package: Path) -> str:
    """Tells apart compiled code of other sources or by another compiler.

    Numba itself compares a function's own file with what it has kept, not the files of the
    functions and constants that were compiled into it.
    """
    known = hashlib.sha256(f"numba {numba.__version__} llvmlite {llvmlite.__version__}".encode())
    for name in SOURCES:
        content = (package / name).read_bytes()
        known.update(f"\n{name} {len(content)}\n".encode() + content)
    return known.hexdigest()[:16]


def _folder() -> Path | None:
    try:
        return compiled(f"numba/{digest(Path(__file__).parent)}")
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
