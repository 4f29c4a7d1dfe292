"""Resident memory: of this process, and the tables of the appendix."""

import subprocess
import sys

import pytest

from mppo.bench.memory import PRINTED_MEMORY, memory, resident_mib
from tests.bench.pretended import Pretended


def test_both_tables_and_their_ratios(tmp_path):
    session = Pretended(tmp_path)
    part = memory(session)
    assert [table.name for table in part.tables] == ["table-memory-trpo", "table-memory-ppo"]
    assert [row[0] for row in part.tables[1].rows][:2] == ["ppo", "mp-ppo (K = 2)"]
    assert [row[-1] for row in part.tables[0].rows] == [404, 410, 410, 410, 411]
    ratios = {ratio.name: ratio.values for ratio in part.ratios}
    assert ratios["memory-ppo-2"] == (417 / 416, 427 / 426, 437 / 436)  # after a round to compile
    assert len(ratios) == 8
    assert all(call[-1]["steady_memory"] for call in session.calls)
    assert len(memory(Pretended(tmp_path, quick=True)).tables[0].rows) == 2


def test_every_k_is_printed_for_both_bases():
    assert {tuple(rows) for rows in PRINTED_MEMORY.values()} == {(1, 2, 4, 8, 16)}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_memory_of_children_counts():
    alone = resident_mib()["now"]
    code = "import sys; x = bytearray(64 << 20); print(flush=True); sys.stdin.read()"
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        child.stdout.readline()
        both = resident_mib()  # two readings may differ: this process lives on between them
        assert both["now"] > alone + 60
        assert both["peak"] >= both["now"]
    finally:
        child.communicate()


@pytest.mark.skipif(sys.platform != "linux", reason="glibc alone can be asked")
def test_large_buffers_go_back_to_the_system():
    """In a process of its own: glibc keeps freed buffers of 20 MiB in its heap unless told."""
    code = (
        "import ctypes, sys\n"
        "from mppo.bench.memory import resident_mib, return_large_buffers\n"
        "libc = ctypes.CDLL(None)\n"
        "libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]\n"
        "size = 20 << 20\n"
        "if sys.argv[1] == 'told': return_large_buffers()\n"
        "libc.free(libc.malloc(size))\n"  # glibc now takes such sizes from the heap
        "block, top = libc.malloc(size), libc.malloc(1000)\n"
        "ctypes.memset(block, 1, size)\n"
        "before = resident_mib()['now']\n"
        "libc.free(block)\n"  # below `top`: the heap cannot shrink
        "print(before - resident_mib()['now'])"
    )
    freed = {
        told: float(subprocess.check_output([sys.executable, "-c", code, told]))
        for told in ("told", "untold")
    }
    assert freed["told"] > 19
    assert freed["untold"] < 1
