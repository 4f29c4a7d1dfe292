"""Results of several sessions in one: what was measured last stands for itself."""

from __future__ import annotations

from mppo.bench.session import PARTS, SCHEMA, Options, Result
from mppo.errors import BadRequest


def join(before: Result, now: Result, case: str = "") -> Result:
    """An earlier result with what was measured now in place of its own.

    Every ratio is still of one session: a part is measured as a whole, or one `case` of it. A ratio
    or table that has a newer value in another part is not kept.
    """
    if before.get("schema") != SCHEMA or before.get("quick") != now["quick"]:
        raise BadRequest("it was written by another version of mppo, or one of the two is --quick")
    if before["machine"]["processor"] != now["machine"]["processor"]:
        raise BadRequest(f"it was measured on another machine: {before['machine']['processor']}")
    every = {name: _not_again(name, part, now["parts"]) for name, part in before["parts"].items()}
    for name, part in now["parts"].items():
        every[name] = _with_case(every[name], part) if case and name in every else part
    parts = {name: every[name] for name in PARTS if name in every}
    peers = "--peers" in before["command"] + now["command"]
    options = Options(now["quick"], tuple(parts), now["repetitions"], with_peers=peers)
    return {**now, "command": options.command, "parts": parts}


def _not_again(name: str, part: Result, now: dict[str, Result]) -> Result:
    """An earlier part without ratios that were measured now, and tables that moved elsewhere."""
    again = {ratio["name"] for new in now.values() for ratio in new["ratios"]}
    others = [new for other, new in now.items() if other != name]
    moved = {table["name"] for new in others for table in new["tables"]}
    ratios = [ratio for ratio in part["ratios"] if ratio["name"] not in again]
    tables = [table for table in part["tables"] if table["name"] not in moved]
    return {**part, "ratios": ratios, "tables": tables}


def _with_case(part: Result, new: Result) -> Result:
    """A part with the rows of one case put in, in place of what they or a failure said before."""
    rows = {table["name"]: {row[0]: row for row in table["rows"]} for table in new["tables"]}
    tables = []
    for table in part["tables"]:
        merged = {row[0]: row for row in table["rows"]} | rows.get(table["name"], {})
        tables.append({**table, "rows": list(merged.values())})
    named = tuple(name for table in rows.values() for name in table)
    notes = [note for note in part.get("notes", ()) if not note.startswith(named)]
    notes += [note for note in new["notes"] if note not in notes]
    ratios, samples = part["ratios"] + new["ratios"], part["samples"] + new["samples"]
    return {**part, "ratios": ratios, "tables": tables, "notes": notes, "samples": samples}
