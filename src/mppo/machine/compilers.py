"""Numba's compiler with the settings that all compiled code here shares."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
import numba
from llvmlite import ir
from numba import cfunc, types
from numba.core.cgutils import unpack_tuple
from numba.extending import intrinsic

from mppo.machine.caching import compiled

SOURCES = ("acting", "bench/replay.py", "envs", "machine")
"""Rooms and files with what compiled code is made of: functions, constants, argument types."""


def source_files(package: Path) -> list[Path]:
    """All files of these rooms, in the order of their names."""
    places = (package / name for name in SOURCES)
    return [file for place in places for file in sorted(place.rglob("*.py")) or [place]]


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
__all__ = ["address_of", "as_pointer", "caller", "fused", "native", "types"]
_njit: Any = numba.njit  # to a type checker the function stays what it was
_config: Any = numba.config  # type: ignore  (its names are made when it is loaded)
F = TypeVar("F", bound=Callable[..., Any])


def native(function: F) -> F:
    """Compile at the first call; no fastmath, since bits matter, and no interpreter's lock."""
    with _kept_here():
        return _njit(nogil=True, error_model="numpy", cache=_KEPT is not None)(function)


@contextmanager
def _kept_here() -> Iterator[None]:
    """Compiled code goes to our cache; a user's own functions stay where the user keeps them."""
    before = _config.CACHE_DIR
    _config.CACHE_DIR = str(_KEPT or "")
    try:
        yield
    finally:
        _config.CACHE_DIR = before


@lru_cache
def _callable_by_address(function: Callable[..., Any], signature: Any, kept: bool = True) -> Any:
    with _kept_here():
        return cfunc(signature, error_model="numpy", cache=kept and _KEPT is not None)(function)


def address_of(function: Callable[..., Any], signature: Any, kept: bool = True) -> int:
    """Compile a function now, for other compiled code that calls it at this address.

    What is not ours is not to be kept on disk: the files that it depends on are not known.
    """
    return _callable_by_address(function, signature, kept).address


def caller(signature: Any) -> Any:
    """A function for compiled code that calls what is at an address with a tuple of arguments.

    Code that is given an address can be kept on disk, code that is given a function cannot.
    """

    @intrinsic
    def call(context, address, arguments):
        def generate(target, builder, own_signature, values):
            kinds = [target.get_value_type(kind) for kind in signature.args]
            function = ir.FunctionType(target.get_value_type(signature.return_type), kinds)
            pointer = builder.inttoptr(values[0], function.as_pointer())
            return builder.call(pointer, unpack_tuple(builder, values[1]))

        return signature.return_type(types.int64, types.Tuple(signature.args)), generate

    return call


def _as_pointer(context, address):
    """For compiled code: an address as a pointer, of which `numba.carray` makes an array."""

    def generate(target, builder, signature, values):
        return builder.inttoptr(values[0], target.get_value_type(types.voidptr))

    return types.voidptr(types.int64), generate


as_pointer: Any = intrinsic(_as_pointer)


def _fused(context, a, b, c):
    """For compiled code: a * b + c, rounded once."""

    def generate(target, builder, signature, values):
        return builder.fma(*values)

    double = types.float64
    return double(double, double, double), generate


fused: Any = intrinsic(_fused)
