"""The page about reliability, made from the recorded cases alone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

from campaign.ledger import RESULTS, ROOT, Ledger, Row
from mppo.report.document import markdown_table

PAGE = ROOT / "docs" / "results" / "reliability.md"
ASKED = {  # what is tried, and what must come of it
    "kills": (
        "`kill -9` at 50 random moments of each of trpo, ppo, mp-trpo, mp-ppo, on Hopper-v5 "
        "and the Maze, then on to the end; 20 more with all checkpoints damaged: refused, then "
        "from scratch",
        "220 of 220 bit-identical; 0 unreadable run directories; 0 bytes of a refused run changed "
        "or lost",
    ),
    "grids": (
        "`kill -9` of the driver of a grid, of one of its runs or of all at once, 4 times at "
        "random moments of each of 20 grids of 6 runs, then on to the end; 4 more with all "
        "checkpoints of a run damaged",
        "24 of 24 with byte-identical tables and runs",
    ),
    "failpoints": (
        "crash at every call that writes (open, write, fsync, close, rename, unlink), and "
        "ENOSPC, EDQUOT, EIO, EACCES, EROFS at each, also of a start from scratch and of a resume "
        "from an older checkpoint",
        "every state loads; 0 silent successes; 0 bytes lost",
    ),
    "signals": (
        "SIGTERM and SIGINT at 30 random moments each",
        "60 of 60 save, exit 143 or 130, end bit-exact",
    ),
    "fuzz": (
        "10,000 damaged or hostile files, opened under limits of memory and time and an audit "
        "hook; runs with no good checkpoint in 6 ways",
        "10,000 clean errors; 0 crashes; 0 code executed; every such run refused with no byte "
        "changed, then started anew with none lost",
    ),
    "faults": (
        "12 kinds of environment fault, at the first step and at step 1,000, K = 1 and 5",
        "all stop in that step, all fields named",
    ),
    "races": (
        "8 processes race for one run directory, 100 rounds",
        "exactly 1 winner each",
    ),
    "same-seed": (
        "the same seed 10 times beside 2 busy neighbours, from the command line and Python, "
        "with 1 and 2 threads",
        "1 distinct hash for each method",
    ),
    "soak": (
        "30 minutes of small iterations",
        "no compilation after iteration 2; memory grows by at most 2 %; open files constant",
    ),
    "overhead": (
        "cost of checks and checkpoints on Hopper-v5",
        "at most 3 % of throughput",
    ),
}
ENOUGH = {"kills": 220, "grids": 24, "failpoints": 1000, "signals": 60, "faults": 48, "races": 100}
Found = tuple[str, bool, bool]  # in words; whether it is enough; whether it is as promised


def _ok(rows: list[Row]) -> int:
    return sum(row["ok"] for row in rows)


def _same(rows: list[Row]) -> int:
    return sum(row.get("different") == [] for row in rows)


def kills(rows: list[Row]) -> Found:
    """How many runs that were killed ended with the same bits, and where they were hit."""
    states = Counter(row.get("state", "unknown") for row in rows)
    where = ", ".join(f"{count} {state}" for state, count in states.most_common())
    unreadable = sum(bool(row.get("unreadable")) for row in rows)
    same = _same(rows)
    words = f"{same} of {len(rows)} bit-identical; {unreadable} unreadable. Hit: {where}"
    refused = [row for row in rows if "wrong" in row]
    if refused:
        well = sum(not row["wrong"] for row in refused)
        words += f". All checkpoints damaged: {well} of {len(refused)} refused unchanged, then anew"
    return words, len(rows) >= ENOUGH["kills"], _ok(rows) == len(rows)


def grids(rows: list[Row]) -> Found:
    """How many grids ended with the same tables, and what was killed."""
    hits: Counter[str] = Counter()
    for row in rows:
        hits.update(row.get("kills", {}))
    what = ", ".join(f"{count} {name}" for name, count in hits.most_common())
    words = f"{_same(rows)} of {len(rows)} identical. Killed: {what}"
    refused = [row for row in rows if "wrong" in row]
    if refused:
        words += f". A run damaged: {_ok(refused)} of {len(refused)} as promised"
    return words, len(rows) >= ENOUGH["grids"], _ok(rows) == len(rows)


def failpoints(rows: list[Row]) -> Found:
    """How many states after a failed call load, and whether any failure was silent."""
    silent = sum("silent" in row for row in rows)
    loads = sum("way" in row and "different" not in row for row in rows)
    deaths = sum(row.get("way") in ("crash", "exit") for row in rows)
    real = sum(row.get("way") == "exit" for row in rows)
    words = (
        f"{loads} of {len(rows)} load and end bit-identical; {silent} silent. {deaths} deaths "
        f"({real} of real processes), {len(rows) - deaths} failed calls"
    )
    others = [row for row in rows if "beginning" in row]
    if others:
        lost = sum(row.get("lost", 0) for row in others)
        words += f"; {len(others)} of them in other beginnings, with {lost} files lost"
    return words, len(rows) >= ENOUGH["failpoints"], _ok(rows) == len(rows)


def signals(rows: list[Row]) -> Found:
    """How many runs that were asked to stop did, saved, and ended with the same bits."""
    early = sum(row.get("state") == "while Python started" for row in rows)
    same = _same(rows)
    words = f"{_ok(rows)} of {len(rows)} as asked; {same} end bit-identical"
    if early:
        words += f". {early} came while Python started, with nothing to save yet"
    return words, len(rows) >= ENOUGH["signals"], _ok(rows) == len(rows)


def fuzz(rows: list[Row]) -> Found:
    """How many damaged files were refused."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update(row.get("counts", {}))
    bad = counts["crashed"] + counts["ended"]
    words = (
        f"{counts['refused']:,} clean errors; {bad} crashes; {counts['forbidden']} forbidden "
        f"events. {counts['loaded']:,} more were valid files of other content, and load"
    )
    if counts["runs"]:
        wrong = sum(len(row["wrong"]) for row in rows if "runs" in row.get("counts", {}))
        words += f". {counts['runs']} runs without a good checkpoint: {wrong} not as promised"
    enough = counts["refused"] >= 10_000 and counts["runs"] >= 120
    return words, enough, _ok(rows) == len(rows)


def faults(rows: list[Row]) -> Found:
    """How many faults stopped the run as they should."""
    words = f"{_ok(rows)} of {len(rows)} (13 kinds: MuJoCo's in Gymnasium's Hopper and in ours)"
    return words, len(rows) >= ENOUGH["faults"], _ok(rows) == len(rows)


def races(rows: list[Row]) -> Found:
    """How many races had one winner, with its name told to all others."""
    words = f"{_ok(rows)} of {len(rows)} rounds: 1 winner, 7 exit 73 with the winner named"
    return words, len(rows) >= ENOUGH["races"], _ok(rows) == len(rows)


def same_seed(rows: list[Row]) -> Found:
    """How many different results one seed had."""
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row["case"].split()[0], []).append(row.get("hash", "failed"))
    each = ", ".join(f"{name} {len(set(h))} of {len(h)} runs" for name, h in found.items())
    enough = len(found) == 4 and all(len(h) >= 10 for h in found.values())
    one = all(len(set(h)) == 1 and "failed" not in h for h in found.values())
    return f"distinct hashes: {each}", enough, one


def soak(rows: list[Row]) -> Found:
    """What half an hour did to a process."""
    row = max(rows, key=lambda row: row.get("minutes", 0))
    if "minutes" not in row:
        return "it failed", True, False
    words = (
        f"{row['iterations']:,} iterations in {row['minutes']:g} minutes: "
        f"{row['compilations after iteration 2']} compilations after iteration 2, memory "
        f"{row['MiB'][0]:.0f} to {row['MiB'][1]:.0f} MiB ({100 * row['growth']:+.2f} %), "
        f"{row['files'][0]} to {row['files'][1]} open files"
    )
    return words, row["minutes"] >= 30, row["ok"]


def overhead(rows: list[Row]) -> Found:
    """What the checks cost: the median over rounds."""
    cost = {
        name: median(row["cost"][name] for row in rows if "cost" in row)
        for name in ("default", "every iteration")
    }
    words = (
        f"{100 * cost['default']:+.1f} % as it is by default (a checkpoint a minute), "
        f"{100 * cost['every iteration']:+.1f} % with a checkpoint after every iteration "
        f"(medians of {len(rows)} rounds)"
    )
    return words, len(rows) >= 5, cost["default"] <= 0.03


PARTS: dict[str, Any] = {
    "kills": kills,
    "grids": grids,
    "failpoints": failpoints,
    "signals": signals,
    "fuzz": fuzz,
    "faults": faults,
    "races": races,
    "same-seed": same_seed,
    "soak": soak,
    "overhead": overhead,
}


def write(page: Path = PAGE, folder: Path = RESULTS) -> str:
    """Write the page; returns one line about it."""
    ledgers = {part: Ledger(part, folder=folder) for part in PARTS}
    lines = [
        "# Reliability",
        "",
        "What the library promises is in [guarantees](../guarantees.md). This page says how often "
        "each promise was tried and how often it held. `make campaign` made it, from the cases "
        "recorded in `results/reliability`; `python -m campaign report` makes it again.",
        "",
    ]
    table, held = [], 0
    for part, ledger in ledgers.items():
        rows = list(ledger.rows.values())
        if not rows:
            table.append([*ASKED[part], "not run yet", "–"])
            continue
        words, enough, well = PARTS[part](rows)
        verdict = "held" if well and enough else "holds so far" if well else "**broken**"
        held += verdict == "held"
        table.append([*ASKED[part], words, verdict])
    lines += markdown_table(["tried", "asked for", "found", "verdict"], table)
    lines += ["", *_details(ledgers)]
    page.write_text("\n".join(lines).rstrip() + "\n")
    return f"{page.name}: {held} of {len(PARTS)} held"


def _details(ledgers: dict[str, Ledger]) -> list[str]:
    lines = []
    for title, part, make in (
        ("Where the kills hit", "kills", _kill_table),
        ("Calls that went wrong", "failpoints", _call_table),
        ("Damaged files", "fuzz", _kind_table),
    ):
        if ledgers[part].rows:
            lines += [f"## {title}", "", *make(list(ledgers[part].rows.values())), ""]
    wrong = [
        f"- {part}, {row['case']}: `{ {k: v for k, v in row.items() if k not in ('case', 'ok')} }`"
        for part, ledger in ledgers.items()
        for row in ledger.rows.values()
        if not row["ok"]
    ]
    if wrong:
        lines += ["## What did not hold", "", *wrong, ""]
    dates = sorted({row["date"] for ledger in ledgers.values() for row in ledger.rows.values()})
    about = next((ledger.about for ledger in ledgers.values() if ledger.about), None)
    if about and dates:
        versions = ", ".join(f"{name} {value}" for name, value in about.items())
        span = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
        lines += [f"Run {span} with {versions}."]
    return lines


def _kill_table(rows: list[Row]) -> list[str]:
    rows = [row for row in rows if "state" in row]
    states = sorted({row["state"] for row in rows})
    groups: dict[tuple[str, str], Counter[str]] = {}
    for row in rows:
        key = row["case"].split()[0], row["env"]
        groups.setdefault(key, Counter())[row["state"]] += 1
    lines = [[*key, *(str(counts[s]) for s in states)] for key, counts in sorted(groups.items())]
    return markdown_table(["method", "environment", *states], lines)


def _call_table(rows: list[Row]) -> list[str]:
    rows = [row for row in rows if "way" in row]
    ways = list(dict.fromkeys(row["way"] for row in rows))
    lines = []
    for call in dict.fromkeys(row["call"] for row in rows):
        cells = []
        for way in ways:
            some = [row for row in rows if (row["call"], row["way"]) == (call, way)]
            cells.append(f"{_ok(some)} of {len(some)}" if some else "")
        lines.append([call, *cells])
    return markdown_table(["call", *ways], lines)


def _kind_table(rows: list[Row]) -> list[str]:
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update(row.get("counts", {}))
    kinds = sorted({name.partition(": ")[2] for name in counts if ": " in name})
    columns = ["refused", "loaded"]
    lines = [[kind, *(str(counts[f"{how}: {kind}"]) for how in columns)] for kind in kinds]
    return [
        *markdown_table(["kind", *columns], lines),
        "",
        "*Rehashed*: all SHA-256 were made anew, so that the parsers behind the hash were "
        "reached. A rehashed file whose values are of the right kind is a valid file of "
        "other content: nothing can tell it from a good one, and it loads without harm.",
    ]
