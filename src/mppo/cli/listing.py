"""`mppo methods` and `mppo envs`: what there is to choose from."""

from __future__ import annotations

import json
from typing import Any

from mppo.cli.parser import Parser

EXAMPLES = {
    "methods": "mppo methods --json | python -m json.tool",
    "envs": "mppo envs",
}


def main(command: str, words: list[str]) -> int:
    """Print one list."""
    about = {"methods": "List the methods.", "envs": "List the tasks of the paper."}[command]
    parser = Parser(command, about, [EXAMPLES[command]])
    parser.add_argument("--json", action="store_true", help="all details, for programs")
    options = parser.parse_args(words)
    rows = _methods() if command == "methods" else _envs()
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        _table(command, rows)
    return 0


def _methods() -> list[dict[str, Any]]:
    from mppo.algorithm.methods import METHODS
    from mppo.files.settings import to_json

    return [{"name": name, "method": to_json(method)} for name, method in METHODS.items()]


def _envs() -> list[dict[str, Any]]:
    from mppo.envs import TASKS

    shown = ("id", "name", "observation_size", "action", "horizon", "trpo_steps", "ppo_steps")
    return [
        {
            **{field: getattr(task, field) for field in (*shown, "description")},
            "native_vector": True,
        }
        for task in TASKS
    ]


def _table(command: str, rows: list[dict[str, Any]]) -> None:
    """Lines that fit into 80 columns, in a terminal or a pipe."""
    if command == "envs":
        for row in rows:
            print(f"{row['id']}  ({row['name']} in the paper)")
            print(f"    {row['description']}")
            print(
                f"    observation {row['observation_size']}, action: {row['action']}, horizon "
                f"{row['horizon']}, budget {row['trpo_steps']:,} (trpo), {row['ppo_steps']:,} (ppo)"
            )
        print("\nAny other registered Gymnasium environment can be trained on, too.")
        return
    print(f"{'method':<24}{'paths':>5}  {'picking':<12}{'value':<12}{'replaces':<9} bonus")
    for row in rows:
        m = row["method"]
        several = m["paths"] > 1
        cells = (m["picking"]["kind"], m["value"], m["replacement"]) if several else ("-",) * 3
        bonus = m["exploration"]["kind"]
        print(
            f"{row['name']:<24}{m['paths']:>5}  {cells[0]:<12}{cells[1]:<12}{cells[2]:<9} {bonus}"
        )
