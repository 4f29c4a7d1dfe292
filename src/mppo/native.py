"""Numba's compiler with the settings that all compiled code here shares."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

from mppo.caching import compiled

_KEPT = compiled("numba")
if _KEPT is not None:  # before Numba starts; by itself it would write beside the source
    os.environ.setdefault("NUMBA_CACHE_DIR", str(_KEPT))

from numba import njit  # noqa: E402

_njit: Any = njit  # to a type checker the function stays what it was
F = TypeVar("F", bound=Callable[..., Any])


def native(function: F) -> F:
    """Compile at the first call; no fastmath, since bits matter, and no interpreter's lock."""
    return _njit(nogil=True, error_model="numpy", cache=_KEPT is not None)(function)
