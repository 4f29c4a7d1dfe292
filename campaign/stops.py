"""Runs that are killed or asked to stop at random moments, and then go on."""

from __future__ import annotations

import operator
import random
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from campaign import refusals
from campaign.ledger import Row
from campaign.small import (
    METHODS,
    PLACES,
    Small,
    call,
    differences,
    mppo_command,
    outcome,
    state_of,
    surroundings,
    unreadable,
)
from mppo.files import checkpoints
from mppo.files.atomic import asides
from mppo.files.reader import rows

SEED = 20_261_116  # of the moments
LONGEST_STOP = 10.0  # seconds from a signal to the end of the process
DRAWS = 6  # moments tried until one lies within the run
Reference = tuple[tuple, float]  # outcome and seconds of a run that nobody stops


def kill_cases(count: int = 50) -> list[str]:
    """`kill -9` for every method, in turn on the environments: "trpo 7".

    For one in ten more, all checkpoints are damaged before it goes on: "trpo 7 damaged".
    """
    plain = [f"{method} {n}" for n in range(count) for method in METHODS]
    return plain + [f"{method} {n} damaged" for n in range(count // 10) for method in METHODS]


def signal_cases(count: int = 30) -> list[str]:
    """Each signal `count` times, in turn on methods and environments: "SIGTERM 7"."""
    return [f"{name} {n}" for n in range(count) for name in ("SIGTERM", "SIGINT")]


class References:
    """Runs that nobody stops, each made when first needed."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._found: dict[Small, Reference] = {}
        self._making: dict[Small, threading.Lock] = {}
        self._mutex = threading.Lock()

    def __getitem__(self, run: Small) -> Reference:
        with self._mutex:
            making = self._making.setdefault(run, threading.Lock())
        with making:
            if run not in self._found:
                self._found[run] = self._made(run)
        return self._found[run]

    def _made(self, run: Small) -> Reference:
        """Twice: the first run compiles, the second is timed and must equal the first."""
        seconds, found = 0.0, []
        for attempt in range(2):
            out = self.folder / f"reference-{'-'.join(map(str, run)).replace('/', '-')}-{attempt}"
            started = time.monotonic()
            answer = call(run.words(out), self.folder)
            seconds = time.monotonic() - started
            if answer.returncode:
                raise RuntimeError(f"the reference {run} failed: {answer.stderr}")
            found.append(outcome(out))
            shutil.rmtree(out)
        if found[0] != found[1]:
            raise RuntimeError(f"two runs of {run} that nobody stopped differ")
        return found[0], seconds


def place(method: str, n: int) -> Small:
    """The run of case n."""
    env, episodes = PLACES[n % len(PLACES)]
    return Small(method, env, episodes)


def moment(case: str, draw: int = 0) -> float:
    """When it is stopped, as a part of the duration: a function of the case alone."""
    return random.Random(f"{SEED} {case} {draw}").random()


def stopped_when(
    run: Small, out: Path, due: Callable[[float], bool], number: int
) -> tuple[int, float]:
    """Start a run, send it a signal when it is due, return its exit code and how long it took.

    `due` is asked again and again with the seconds since the start.
    """
    started = time.monotonic()
    process = subprocess.Popen(
        mppo_command(run.words(out)),
        cwd=out.parent,
        env=surroundings(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while process.poll() is None and not due(time.monotonic() - started):
            time.sleep(0.002)
        sent = time.monotonic()
        process.send_signal(number)
        return process.wait(120), time.monotonic() - sent
    finally:
        process.kill()


def taken_up(run: Small, out: Path, by_resume: bool, reference: tuple) -> list[str]:
    """Let the run go on to its end; what differs then from one that nobody stopped."""
    has_begun = (out / "run.json").exists()
    words = ["resume", str(out), "--quiet", "--workers", "2", "--checkpoint-every", "1"]
    answer = call(words if by_resume and has_begun else run.words(out), out.parent)
    if answer.returncode:
        return [f"resuming exits {answer.returncode}: {answer.stderr[-300:]}"]
    return differences(out, reference)


def kill(case: str, references: References) -> Row:
    """`kill -9` at a random moment, then on to the end."""
    method, n, *damage = case.split()
    run, out = place(method, int(n)), references.folder / f"kill-{case.replace(' ', '-')}"
    wanted, seconds = references[run]
    for draw in range(DRAWS):
        part, started = moment(case, draw), time.monotonic()
        due = partial(operator.le, part * seconds)
        code, _ = stopped_when(run, out, due, signal.SIGKILL)
        if code != 0 and (not damage or state_of(out) == "mid-run"):
            break
        if code == 0:
            seconds = min(seconds, time.monotonic() - started)  # sooner than the reference
        if draw < DRAWS - 1:
            shutil.rmtree(out, ignore_errors=True)
    row: dict[str, Any] = {
        "env": run.env,
        "episodes": run.episodes,
        "moment": round(part, 4),
        "state": state_of(out) if out.exists() else "before the run began",
        "iteration": len(rows(out, "metrics.jsonl")),
        "unreadable": unreadable(out),
    }
    if code != -signal.SIGKILL:  # a run that ended before it could be killed shows nothing
        row["code"] = code
    if damage and row["state"] == "mid-run":
        row["wrong"] = _without_checkpoints(case, out, wanted)
        row["different"] = differences(out, wanted)
    else:
        row["different"] = taken_up(run, out, int(n) % 2 == 1, wanted)
    well = not row["different"] and not row["unreadable"] and not row.get("wrong")
    row["ok"] = well and "code" not in row
    for made in (out, *asides(out)):
        shutil.rmtree(made, ignore_errors=True)
    return row


def _without_checkpoints(case: str, out: Path, wanted: tuple) -> list[str]:
    """What is wrong with how a killed run, all of its checkpoints damaged, is met."""

    def do(words: list[str]) -> tuple[int, str]:
        answer = call([*words, "--checkpoint-every", "1"], out.parent)
        return answer.returncode, answer.stderr

    refusals.damaged(out, random.Random(f"{SEED} {case} damage"))
    return refusals.refused(out, do) + refusals.started_anew(out, do, wanted)


def ask_to_stop(case: str, references: References) -> Row:
    """SIGTERM or SIGINT at a random moment within the run, then on to the end."""
    name, n = case.split()
    number = signal.Signals[name]
    run = place(METHODS[int(n) // len(PLACES) % len(METHODS)], int(n))
    out = references.folder / f"signal-{name}-{n}"
    wanted, seconds = references[run]
    for draw in range(DRAWS):  # a signal to a run that has ended already shows nothing
        part = moment(case, draw)
        due = partial(operator.le, part * seconds)
        code, took = stopped_when(run, out, due, number)
        if state_of(out) != "after the end":
            break
        shutil.rmtree(out)
    state = state_of(out)
    done = len(rows(out, "metrics.jsonl"))
    saved = checkpoints.numbers(out / "checkpoints")[:1] == [done]
    started = (out / "run.json").exists()
    row = {
        "method": run.method,
        "env": run.env,
        "moment": round(part, 4),
        "state": state if started else "while Python started",
        "code": 128 - code if code < 0 else code,  # as a shell shows it
        "saved": saved if started else "nothing yet",
        "soon": took <= LONGEST_STOP,
        "different": taken_up(run, out, int(n) % 2 == 1, wanted),
    }
    fits = row["code"] == 128 + number and row["soon"] and (saved or not started)
    row["ok"] = fits and not row["different"]
    shutil.rmtree(out, ignore_errors=True)
    return row
