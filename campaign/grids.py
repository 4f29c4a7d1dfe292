"""Grids whose driver and runs are killed at random moments and then go on: the same tables.

In some of them all checkpoints of a run are damaged: that run is refused by name and left as it
is, the others come to their end, and once it is started from scratch the tables are the same.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

from campaign import refusals
from campaign.ledger import Row
from campaign.small import call, contents, mppo_command, outcome, surroundings
from mppo.experiments.grid import opened
from mppo.files import checkpoints
from mppo.files.atomic import locked
from mppo.files.reader import rows
from mppo.paper.make import table

SEED = 20_261_117  # of the moments
KILLS = 4  # of each grid
LONGEST_WAIT = 6.0  # seconds before a kill; a run lasts about as long
SWEEP = """
steps = 16_000
seeds = 2
tasks = ["mppo/Maze-v0"]
methods = [{methods}]
evaluation = {{every = 2000, episodes = 2}}
"""
METHODS = ("trpo", "mp-trpo", "ppo")


def cases(count: int = 20) -> list[str]:
    """One grid each, "7"; for one in five, one more with a run without a good checkpoint."""
    return [*map(str, range(count)), *(f"damaged {n}" for n in range(count // 5))]


class Grids:
    """The sweep, and what it gives when nobody interrupts it."""

    def __init__(self, folder: Path, methods: tuple[str, ...] = METHODS):
        self.folder, self.file = folder, folder / "grid.toml"
        small = 'set = {batch_size = 400, "network.hidden" = [8], "critic.network.hidden" = [8]}'
        listed = ", ".join(f'{{name = "{name}", {small}}}' for name in methods)
        self.file.write_text(SWEEP.format(methods=listed))
        out = folder / "reference"
        answer = call(self._words(out), folder)
        if answer.returncode:
            raise RuntimeError(f"the reference failed: {answer.stderr}")
        self.reference = result(out)

    def _words(self, out: Path) -> list[str]:
        return ["sweep", str(self.file), "--jobs", "2", "--out", str(out)]

    def _start(self, out: Path) -> subprocess.Popen:
        return subprocess.Popen(
            mppo_command(self._words(out)),
            cwd=self.folder,
            env=surroundings(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def run(self, case: str) -> Row:
        """One case of either kind."""
        return self.damaged(case) if case.startswith("damaged") else self.interrupted(case)

    def interrupted(self, case: str) -> Row:
        """Kill the driver, a run, or all of them, several times; then on to the end."""
        draw, out = random.Random(f"{SEED} {case}"), self.folder / f"grid-{case}"
        hits: Counter[str] = Counter()
        driver = self._start(out)
        try:
            for _ in range(KILLS):
                time.sleep(draw.uniform(0.0, LONGEST_WAIT))
                if driver.poll() is not None:
                    driver = self._start(out)
                    time.sleep(draw.uniform(1.0, LONGEST_WAIT))
                hits[self._kill(driver, draw)] += 1
        finally:
            driver.kill()
            driver.wait()
        done = len(list(out.glob("runs/*/final.json")))
        answer = call(self._words(out), self.folder)
        row: Row = {"kills": dict(hits), "runs done by then": done, "code": answer.returncode}
        row["different"] = self.unlike(result(out) if answer.returncode == 0 else {})
        row["ok"] = answer.returncode == 0 and not row["different"]
        if not row["ok"]:
            row["said"] = answer.stderr[-400:]
        shutil.rmtree(out, ignore_errors=True)
        return row

    def damaged(self, case: str) -> Row:
        """Stop a grid, damage all checkpoints of a run, and go on: with it refused, then anew."""
        out = self.folder / f"grid-{case.replace(' ', '-')}"
        run = self._stopped(out)
        refusals.damaged(run, random.Random(f"{SEED} {case}"))
        before, answer = contents(run), call(self._words(out), self.folder)
        wrong = [] if answer.returncode == 1 else [f"the grid exits {answer.returncode}"]
        if f"mppo resume {run} --from-scratch" not in answer.stderr:
            wrong.append(f"no way out in: {answer.stderr[-400:]}")
        if contents(run) != before:
            wrong.append("the refused run was changed")
        done = len(list(out.glob("runs/*/final.json")))
        do = lambda words: (call(words, self.folder).returncode, "")
        fresh = self.reference[run.name]
        wrong += refusals.started_anew(run, do, fresh)  # type: ignore
        answer = call(self._words(out), self.folder)
        row: Row = {"runs done beside it": done, "wrong": wrong}
        row["different"] = self.unlike(result(out) if answer.returncode == 0 else {})
        row["ok"] = not wrong and not row["different"] and done == len(opened(out).entries()) - 1
        shutil.rmtree(out, ignore_errors=True)
        return row

    def unlike(self, found: dict[str, object]) -> list[str]:
        """The tables and runs of a result that are not as in the grid that nobody interrupted."""
        names = sorted(self.reference.keys() | found.keys())
        return [name for name in names if found.get(name) != self.reference.get(name)]

    def _stopped(self, out: Path) -> Path:
        """Stop a grid when a run of it is under way; returns that run, saved and left."""
        driver, found = self._start(out), None
        try:
            while found is None and driver.poll() is None:
                time.sleep(0.01)
                begun = [p.parent for p in out.glob("runs/*/metrics.jsonl") if p.stat().st_size]
                found = next((run for run in begun if len(rows(run, "metrics.jsonl")) > 2), None)
            driver.terminate()  # its runs are told so by the kernel
            driver.wait()
        finally:
            driver.kill()
        if found is None:
            raise RuntimeError("the grid came to its end before it could be stopped")
        while locked(found):
            time.sleep(0.01)
        if (found / "final.json").exists() or not checkpoints.numbers(found / "checkpoints"):
            raise RuntimeError(f"{found.name} was not stopped on its way")
        return found

    def _kill(self, driver: subprocess.Popen, draw: random.Random) -> str:
        """One of three ways; what was hit."""
        runs = children(driver.pid)
        what = draw.choice(("driver", "run", "all")) if runs else "driver"
        victims = {"driver": [], "run": [draw.choice(runs)] if runs else [], "all": runs}[what]
        if what != "run":
            driver.kill()
        for victim in victims:
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                what = f"{what}, a moment after its end"
        if "run" not in what:
            driver.wait()
        return what if runs else "driver, between runs"


def children(pid: int) -> list[int]:
    """Processes that a process has started."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def result(out: Path) -> dict[str, object]:
    """The bytes that must not depend on interruptions: the table in all formats, and every run."""
    tables: dict[str, object] = {
        f"table.{form}": table("sweep", out, form) for form in ("md", "csv", "html")
    }
    grid = opened(out)
    return tables | {run.run_id: outcome(grid.directory(run)) for run in grid.entries()}
