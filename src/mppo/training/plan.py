"""What is to be done where there may be a run already: one verdict."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Verdict(Enum):
    """What a training in a directory does."""

    BEGIN = "begin"
    RESUME = "resume"
    EXTEND = "extend"
    NOTHING = "nothing"


class Plan(NamedTuple):
    """The verdict, and the steps after which the run in the directory is finished."""

    verdict: Verdict
    steps: int


def plan(
    there: int | None, wanted: int, done: int = 0, finished: bool = False, again: bool = False
) -> Plan:
    """The plan where `there` is a run of so many steps, `done` of them so far, or None.

    A run that is `finished` before its steps were done was stopped by a callback; it is left as it
    is, unless the same object is to learn `again`.

    >>> plan(None, 100), plan(100, 100, done=40), plan(100, 100, done=100, finished=True)
    (Plan(verdict=<Verdict.BEGIN: 'begin'>, steps=100),
     Plan(verdict=<Verdict.RESUME: 'resume'>, steps=100),
     Plan(verdict=<Verdict.NOTHING: 'nothing'>, steps=100))
    >>> plan(100, 150, done=100, finished=True)
    Plan(verdict=<Verdict.EXTEND: 'extend'>, steps=150)
    """
    if there is None:
        return Plan(Verdict.BEGIN, wanted)
    if done < wanted and (wanted > there or (again and finished)):
        return Plan(Verdict.EXTEND, wanted)
    return Plan(Verdict.NOTHING if finished else Verdict.RESUME, max(there, wanted))
