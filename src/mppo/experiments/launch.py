"""The first breath of a run's process: take a core, promise not to outlive its driver, train.

`python -m mppo.experiments.launch PARENT CORE NICE WORDS...` becomes `python WORDS...`. It is a
program of its own because what it does must happen in the new process, and a driver with threads
must not run Python between fork and exec.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

from mppo.machine.priority import be_nice_as_a_session

PR_SET_PDEATHSIG = 1
LOWEST_PRIORITY = 19
"""Niceness of a run that is to have what nobody else wants."""


def command(core: int | None, words: list[str], niceness: int = 0) -> list[str]:
    """The command line for `python WORDS` that the calling process starts."""
    place = "any" if core is None else str(core)
    start = [sys.executable, "-m", "mppo.experiments.launch", str(os.getpid()), place]
    return [*start, str(niceness), *words]


def main(words: list[str]) -> None:
    """Prepare this process and turn it into the run."""
    parent, core, niceness = words[:3]
    os.nice(int(niceness))
    be_nice_as_a_session()
    if core != "any" and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(core)})
    if sys.platform == "linux":
        # the driver's death asks the run to stop; it saves at the end of its iteration
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != int(parent):  # it died before we could ask
            os.kill(os.getpid(), signal.SIGTERM)
    os.execv(sys.executable, [sys.executable, *words[3:]])


if __name__ == "__main__":
    main(sys.argv[1:])
