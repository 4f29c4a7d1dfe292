"""`python -m campaign PART`: do what is missing of a part, or of all; `report` writes the page."""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

from campaign import faults, fuzz, grids, overhead, races, same_seed, soak, stops
from campaign.ledger import Ledger, Row
from campaign.worker import Worker

Do = Callable[[str], Row]
PARTS = (
    "kills",
    "grids",
    "failpoints",
    "signals",
    "fuzz",
    "faults",
    "races",
    "same-seed",
    "soak",
    "overhead",
)
COUNTS = {  # what --count counts, and how many the issue asks for
    "kills": ("kills of each method", 50),
    "grids": ("grids", 20),
    "failpoints": ("every n-th case only", 1),
    "signals": ("of each signal", 30),
    "fuzz": ("damaged files", fuzz.COUNT),
    "faults": ("the late step", 1000),
    "races": ("rounds", 100),
    "same-seed": ("runs of each method", 10),
    "soak": ("runs", 1),
    "overhead": ("rounds", 7),
}


@contextmanager
def workers(part: str, folder: Path, jobs: int) -> Iterator[Do]:
    """Cases done by processes of their own, one for each thread that asks."""
    mine, made = threading.local(), []

    def do(case: str) -> Row:
        if not hasattr(mine, "worker"):
            mine.worker = Worker(part, folder / f"worker-{len(made)}")
            made.append(mine.worker)
        return mine.worker.ask(case)

    try:
        yield do
    finally:
        for worker in made:
            worker.close()


@contextmanager
def doing(part: str, folder: Path, options: argparse.Namespace) -> Iterator[Do]:
    """How the cases of a part are done."""
    if part in ("kills", "signals"):
        references = stops.References(folder)
        one = stops.kill if part == "kills" else stops.ask_to_stop
        print(f"  moments from seed {stops.SEED}")
        yield lambda case: one(case, references)
    elif part == "grids":
        yield grids.Grids(folder).run
    elif part in ("failpoints", "faults"):
        with workers(part, folder, options.jobs) as do:
            yield do
    elif part == "fuzz":
        yield lambda case: fuzz.batch(case, folder)
    elif part == "races":
        race = races.Race(folder)
        try:
            yield race.round
        finally:
            race.close()
    elif part == "same-seed":
        with same_seed.Neighbours():
            yield lambda case: same_seed.run(case, folder)
    elif part == "soak":
        yield lambda case: soak.soak(options.minutes, folder)
    else:
        yield lambda case: overhead.run(case, folder)


def cases(part: str, count: int, folder: Path, minutes: float) -> list[str]:
    """The cases of a part."""
    if part == "failpoints":
        from campaign.failpoints import Prepared

        return Prepared(folder).cases()[::count]
    simple: dict[str, Callable[[int], list[str]]] = {
        "kills": stops.kill_cases,
        "grids": grids.cases,
        "signals": stops.signal_cases,
        "fuzz": fuzz.cases,
        "faults": faults.cases,
        "races": races.cases,
        "same-seed": same_seed.cases,
        "soak": lambda n: [f"{i} for {minutes:g} minutes" for i in range(n)],
        "overhead": overhead.cases,
    }
    return simple[part](count)


def _row(done: Future[Row]) -> Row:
    """The outcome of a case; an error of the campaign itself is no success either."""
    try:
        return done.result()
    except Exception as error:
        return {"ok": False, "broken": f"{type(error).__name__}: {error}"[-400:]}


def carry_out(part: str, options: argparse.Namespace) -> bool:
    """Do the cases that are missing; whether all of the part are well."""
    count = options.count or COUNTS[part][1]
    alone = part in ("grids", "races", "same-seed", "soak", "overhead")
    jobs = 1 if alone else options.jobs
    ledger, started = Ledger(part, options.fresh), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="campaign-") as name:
        folder = Path(name)
        wanted = cases(part, count, folder, options.minutes)
        missing = [case for case in wanted if case not in ledger.rows]
        print(f"{part}: {len(wanted)} cases, {len(missing)} to do", flush=True)
        if missing:
            with doing(part, folder, options) as do, ThreadPoolExecutor(jobs) as pool:
                running = {pool.submit(do, case): case for case in missing}
                for n, done in enumerate(as_completed(running), 1):
                    case, row = running[done], _row(done)
                    ledger.add(case, row)
                    if not row["ok"]:
                        print(f"  {case}: {row}", flush=True)
                    if n % max(1, len(missing) // 10) == 0:
                        print(f"  {n} of {len(missing)}", flush=True)
    bad = [case for case in wanted if not ledger.rows[case]["ok"]]
    seconds = time.monotonic() - started
    print(f"{part}: {len(wanted) - len(bad)} of {len(wanted)} well, {seconds:.0f} s", flush=True)
    return not bad


def main() -> int:
    """Parse and do."""
    parser = argparse.ArgumentParser(
        "python -m campaign",
        description="Long tests of reliability. Each part does only what is missing in "
        "results/reliability. Runs of which no checkpoint is good (all damaged, unreadable or of a "
        "newer format; logs edited or cut) are tried in fuzz (every kind), kills and grids (all "
        "damaged after a stop); failpoints also tries every call of a start from scratch and of a "
        "resume from an older checkpoint.",
        epilog="counts: " + "; ".join(f"{p}: {what} ({n})" for p, (what, n) in COUNTS.items()),
    )
    known = [*PARTS, "all", "report", "golden"]
    parser.add_argument("part", choices=known, help="all: every part, then the report")
    parser.add_argument("--count", type=int, default=0, help="how many; see below")
    parser.add_argument("--jobs", type=int, default=2, help="cases side by side (2)")
    parser.add_argument("--minutes", type=float, default=30.0, help="of the soak (30)")
    parser.add_argument("--fresh", action="store_true", help="forget what was found before")
    options = parser.parse_args()
    if options.part == "golden":
        from campaign.golden import make

        print(make())
        return 0
    parts = PARTS if options.part == "all" else (options.part,)
    well = [carry_out(part, options) for part in parts if part != "report"]
    if options.part in ("all", "report"):
        from campaign.report import write

        print(write())
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main())
