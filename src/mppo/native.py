"""Numba's compiler with the settings that all compiled code here shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

_SETTINGS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}  # no fastmath: bits matter
_njit: Any = njit  # to a type checker the function stays what it was
F = TypeVar("F", bound=Callable[..., Any])


def native(function: F) -> F:
    """Compile at the first call, and keep the result for later processes where that is possible."""
    try:
        return _njit(cache=True, **_SETTINGS)(function)
    except RuntimeError:  # neither the package nor the user's cache directory can be written
        return _njit(**_SETTINGS)(function)
