"""Eight processes race for one run directory: one trains, the others are told who does.

The processes live through all rounds, so that they are at the line together. In each round all
of them call the command line with the same arguments; when the losers are back, the winner is
asked to stop.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from campaign.ledger import Row
from campaign.small import Small, surroundings, unreadable
from mppo.cli import main

RACERS = 8


class Racer:
    """One process of the race."""

    def __init__(self, folder: Path):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "campaign.races", str(folder)],
            env=surroundings(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def tell(self, line: str) -> None:
        """Send one line."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def hear(self) -> str:
        """The next line of its answer."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()


class Race:
    """All racers, ready."""

    def __init__(self, folder: Path, racers: int = RACERS):
        self.folder = folder
        self.racers = [Racer(folder) for _ in range(racers)]
        for racer in self.racers:
            if racer.hear() != "ready":
                raise RuntimeError("a racer could not start")

    def close(self) -> None:
        """Let them end."""
        for racer in self.racers:
            racer.process.communicate()

    def round(self, case: str) -> Row:
        """All start together; returns who won and what the others were told."""
        out = self.folder / f"race-{case}"
        at = time.time() + 0.05
        for racer in self.racers:
            racer.tell(f"{at} {out}")
        answers: dict[int, str] = {}
        winners = self._wait_for_losers(answers)
        for racer in winners:
            racer.process.send_signal(signal.SIGTERM)
        for racer in winners:
            answers[racer.process.pid] = racer.hear()
        codes = sorted(int(answer.split()[0]) for answer in answers.values())
        wanted = [73] * (len(self.racers) - 1) + [143]
        holder = winners[0].process.pid if len(winners) == 1 else -1
        named = [
            re.search(r"\(pid (\d+) on ", text) for text in answers.values() if text[:2] == "73"
        ]
        rightly = all(match and int(match[1]) == holder for match in named)
        row: Row = {"ok": codes == wanted and rightly and not unreadable(out)}
        if not row["ok"]:
            row |= {"codes": codes, "holder named": rightly, "unreadable": unreadable(out)}
        shutil.rmtree(out, ignore_errors=True)
        return row

    def _wait_for_losers(self, answers: dict[int, str]) -> list[Racer]:
        """Hear all that answer by themselves; those that do not are training."""
        waiting = {racer.process.stdout.fileno(): racer for racer in self.racers}  # type: ignore
        until = time.monotonic() + 60
        while len(waiting) > 1 and time.monotonic() < until:
            for ready in select.select(list(waiting), [], [], 1.0)[0]:
                racer = waiting.pop(ready)
                answers[racer.process.pid] = racer.hear()
        time.sleep(0.02)
        return list(waiting.values())


def cases(count: int = 100) -> list[str]:
    """The rounds."""
    return [str(n) for n in range(count)]


def run(folder: Path) -> None:
    """What a racer does: compile once, then race whenever told."""
    small = Small("mp-trpo", "mppo/Maze-v0", iterations=2)
    main(small.words(folder / f"warm-{os.getpid()}"))
    endless = small._replace(iterations=1_000_000)
    print("ready", flush=True)
    for line in sys.stdin:
        at, out = line.split(maxsplit=1)
        said = io.StringIO()
        time.sleep(max(0.0, float(at) - time.time()))
        with contextlib.redirect_stderr(said):
            code = main(endless.words(Path(out.strip())))
        print(code, said.getvalue().strip().replace("\n", " "), flush=True)


if __name__ == "__main__":
    run(Path(sys.argv[1]))
