"""Niceness of whole sessions."""

import os
import subprocess
import sys

import pytest

from mppo.machine.priority import SESSION

SCRIPT = """
import os, sys
from mppo.machine.priority import SESSION, be_nice_as_a_session
os.nice(int(sys.argv[1]))
os.setsid() if sys.argv[2] == "leads" else None
be_nice_as_a_session()
print(SESSION.read_text().split()[-1])
"""


def shared_by_session() -> bool:
    """Where sharing by session is off, the file may be missing or empty (of the first session)."""
    return SESSION.exists() and bool(SESSION.read_text().split())


@pytest.mark.skipif(not shared_by_session(), reason="this system does not share cores by session")
@pytest.mark.parametrize(("more", "leads"), [("5", True), ("0", True), ("5", False)])
def test_a_session_gives_way_as_the_process_that_leads_it(more, leads):
    before = SESSION.read_text().split()[-1]  # of the session that it stays in
    call = [sys.executable, "-c", SCRIPT, more, "leads" if leads else "stays"]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    nice = str(min(19, os.nice(0) + int(more)))
    assert done.stdout.strip() == (nice if leads else before)
