"""Compiled functions that are called at an address, and kept from one process to the next."""

import importlib.util
import sys

import pytest

from mppo.machine import compilers
from mppo.machine.compilers import address_of, caller, native, types

SIGNATURE = types.float64(types.float64, types.boolean)
_call = caller(SIGNATURE)


def half(x, negative):
    return -x / 2.0 if negative else x / 2.0


def double(x, negative):
    return -x * 2.0 if negative else x * 2.0


@native
def at(address, x, negative):
    return _call(address, (x, negative))


def test_what_is_at_an_address_is_called():
    """The caller is compiled once, whatever it calls."""
    assert at(address_of(half, SIGNATURE), 3.0, True) == -1.5
    assert at(address_of(double, SIGNATURE), 3.0, False) == 6.0
    assert len(at.signatures) == 1


def test_a_function_is_compiled_once():
    assert address_of(half, SIGNATURE) == address_of(half, SIGNATURE)


@pytest.mark.skipif(compilers._KEPT is None, reason="no cache: MPPO_COMPILATION_CACHE=off")
def test_both_are_kept_on_disk(tmp_path, monkeypatch):
    """The same file imported again stands for the next process: nothing is compiled anew."""
    code = tmp_path / "squares.py"
    code.write_text(
        "from mppo.machine.compilers import caller, native, types\n"
        "SIGNATURE = types.float64(types.float64)\n"
        "call = caller(SIGNATURE)\n"
        "def square(x):\n"
        "    return x * x\n"
        "@native\n"
        "def at(address, x):\n"
        "    return call(address, (x,))\n"
    )
    hits = []
    for _ in range(2):
        spec = importlib.util.spec_from_file_location("squares", code)
        squares = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "squares", squares)  # as any imported module is
        spec.loader.exec_module(squares)
        compiled = compilers._callable_by_address(squares.square, squares.SIGNATURE)
        assert squares.at(compiled.address, 3.0) == 9.0
        hits.append((compiled.cache_hits, sum(squares.at.stats.cache_hits.values())))
    assert hits == [(0, 0), (1, 1)]
