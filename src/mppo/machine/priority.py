"""Who gives way to whom: niceness, also where Linux shares cores out by session."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

SESSION = Path("/proc/self/autogroup")


def be_nice_as_a_session() -> None:
    """Let the session that this process leads give way as this process does.

    Niceness orders the processes of one session; it says nothing to those of others.
    """
    niceness = os.nice(0) if hasattr(os, "nice") else 0
    if niceness > 0 and os.getsid(0) == os.getpid():
        with contextlib.suppress(OSError):  # a kernel without such groups has no such file
            SESSION.write_text(str(niceness))
