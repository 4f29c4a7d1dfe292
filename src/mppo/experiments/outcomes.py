"""What the end of a run's process means: an exit code in, a decision out."""

from __future__ import annotations

import signal
from enum import Enum

MOST_RETRIES = 3
LOST = -1000
"""Stands for an exit code where there is none: the worker or its machine went away."""


class Decision(Enum):
    """What a driver does next with a run."""

    DONE = "done"
    AGAIN = "try again"
    ELSEWHERE = "another driver has it"
    FAILED = "failed"


_FATAL = {
    2: "the request cannot be met",
    65: "the environment broke its contract",
    70: "an internal error, or an update that was not finite",
    74: "a file could not be written or read",
}
_STOPPED = {75: "it asked to be tried later", 130: "it was interrupted", 143: "it was terminated"}


def decide(code: int, finished: bool, retries: int) -> Decision:
    """The decision after an exit code; `retries` is how often this run was tried again already.

    Signals, lost machines and "try later" are nobody's fault: such a run goes on from its last
    checkpoint, at most three times. Everything else would only happen again.

    >>> decide(-9, False, 0), decide(-9, False, 3), decide(65, False, 0)
    (<Decision.AGAIN: 'try again'>, <Decision.FAILED: 'failed'>, <Decision.FAILED: 'failed'>)
    """
    if finished:
        return Decision.DONE
    if code == 73:
        return Decision.ELSEWHERE
    if _came_from_outside(code) and retries < MOST_RETRIES:
        return Decision.AGAIN
    return Decision.FAILED


def _came_from_outside(code: int) -> bool:
    return code < 0 or code in _STOPPED or code in (137, 139)  # 128 + SIGKILL, SIGSEGV: by a shell


def explained(code: int, output: str) -> str:
    r"""Why a run ended, in one line: its own last words, or what its exit code means.

    >>> explained(-9, "")
    'killed by SIGKILL'
    >>> explained(2, "a warning\nmppo: unknown environment")
    'unknown environment'
    """
    if code == LOST:
        return output or "its worker or machine was lost"
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    said = output.splitlines()
    ours = [line for line in said if line.startswith("mppo: ")]
    if code == 70 and len(said) > 1:  # the last line of a traceback says more than our own
        ours = [line for line in said if line not in ours]
    if ours:
        return ours[-1].removeprefix("mppo: ")
    if code == 0:
        return output or "ended without a result"
    return _FATAL.get(code) or _STOPPED.get(code) or f"exit code {code}"
