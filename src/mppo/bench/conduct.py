"""Part after part: what fails is reported, and the rest goes on."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mppo.bench import machine, speed
from mppo.bench.memory import memory
from mppo.bench.parts import Part
from mppo.bench.peers import peers
from mppo.bench.sitting import Sitting, Skipped
from mppo.bench.startup import startup
from mppo.errors import BadRequest

SCHEMA = 1
REPETITIONS, QUICK_REPETITIONS = 5, 2
PARTS: dict[str, Callable[[Sitting], Part]] = {
    "limit": speed.limit,
    "rates": speed.rates,
    "cores": speed.cores,
    "peers": peers,
    "paths": speed.paths,
    "startup": startup,
    "two-runs": speed.two_runs,
    "memory": memory,
}


@dataclass(frozen=True)
class Options:
    """What the command line asked for."""

    quick: bool = False
    parts: tuple[str, ...] = tuple(name for name in PARTS if name != "peers")
    repetitions: int | None = None
    peers_python: str | None = None
    say: Callable[[str], None] = field(default=lambda text: None, compare=False)

    @property
    def rounds(self) -> int:
        """Repetitions of every comparison."""
        return self.repetitions or (QUICK_REPETITIONS if self.quick else REPETITIONS)

    @property
    def command(self) -> str:
        """The command that measures the same again, without paths."""
        words = ["mppo bench", *(["--quick"] if self.quick else [])]
        if self.rounds != (QUICK_REPETITIONS if self.quick else REPETITIONS):
            words.append(f"--repetitions {self.rounds}")
        usual = set(PARTS) - {"peers"}
        if set(self.parts) - {"peers"} == usual:
            words += ["--peers"] if "peers" in self.parts else []
        else:
            words.append(f"--only {' '.join(self.parts)}")
        return " ".join(words)


def begun(options: Options) -> dict[str, Any]:
    """The result before anything is measured."""
    return {
        "schema": SCHEMA,
        "command": options.command,
        "date": time.strftime("%Y-%m-%d"),
        "quick": options.quick,
        "repetitions": options.rounds,
        "machine": machine.description(),
        "source_sha256": machine.source(),
        "source_changed": False,
        "parts": {},
    }


def joined(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """An earlier result with the parts measured now in place of its own.

    Every ratio is still of one sitting: a part is measured as a whole.
    """
    if before.get("schema") != SCHEMA or before.get("quick") != now["quick"]:
        raise BadRequest("it was written by another version of mppo, or one of the two is --quick")
    if before["machine"]["processor"] != now["machine"]["processor"]:
        raise BadRequest(f"it was measured on another machine: {before['machine']['processor']}")
    again = {ratio["name"] for part in now["parts"].values() for ratio in part["ratios"]}
    kept = {name: _without(part, again) for name, part in before["parts"].items()}
    parts = {name: (kept | now["parts"]).get(name) for name in PARTS}
    found = {name: part for name, part in parts.items() if part is not None}
    names = Options(now["quick"], tuple(found), now["repetitions"])
    return {**now, "command": names.command, "parts": found}


def _without(part: dict[str, Any], measured_again: set[str]) -> dict[str, Any]:
    """A part of an earlier sitting without ratios that have newer values elsewhere."""
    return {**part, "ratios": [r for r in part["ratios"] if r["name"] not in measured_again]}


def conduct(options: Options, result: dict[str, Any]) -> Generator[str]:
    """Measure part after part into `result`; yields the name of each when it is done."""
    with tempfile.TemporaryDirectory() as folder:
        for name, measure in PARTS.items():
            if name in options.parts:
                sitting = Sitting(
                    options.rounds,
                    options.quick,
                    machine.cores(),
                    Path(folder),
                    options.peers_python,
                    options.say,
                )
                found = {"date": result["date"], **_measured(measure, sitting)}
                result["parts"][name] = found
                result["source_changed"] |= machine.source() != result["source_sha256"]
                yield name


def _measured(measure: Callable[[Sitting], Part], sitting: Sitting) -> dict[str, Any]:
    started = time.perf_counter()
    found: dict[str, Any] = {"status": "measured", "reason": None, "ratios": [], "tables": []}
    try:
        found |= measure(sitting).as_json()
    except Skipped as skipped:
        found |= {"status": "skipped", "reason": str(skipped)}
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        found |= {"status": "failed", "reason": reason}
    seconds = round(time.perf_counter() - started, 1)
    return {**found, "seconds": seconds, "samples": sitting.samples}
