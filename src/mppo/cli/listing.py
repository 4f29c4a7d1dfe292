"""`mppo methods` and `mppo envs`: what there is to choose from."""

from __future__ import annotations

import json

from mppo.cli.parser import Parser

SHOWN = (  # of a task, to programs
    *("id", "name", "observation_size", "action", "horizon", "trpo_steps", "ppo_steps"),
    "description",
)


def methods(words: list[str]) -> int:
    """Print what the methods differ in, in lines that fit into 80 columns."""
    example = "mppo methods --json | python -m json.tool"
    as_json = _wants_json("methods", "List the methods.", example, words)

    from mppo.algorithm.methods import METHODS
    from mppo.files.settings import to_json

    rows = [{"name": name, "method": to_json(method)} for name, method in METHODS.items()]
    if as_json:
        print(json.dumps(rows, indent=2))
        return 0
    print(f"{'method':<24}{'paths':>5}  {'picking':<12}{'value':<12}{'replaces':<9} bonus")
    for row in rows:
        m, name = row["method"], row["name"]
        several = m["paths"] > 1
        cells = (m["picking"]["kind"], m["value"], m["replacement"]) if several else ("-",) * 3
        bonus = m["exploration"]["kind"]
        print(f"{name:<24}{m['paths']:>5}  {cells[0]:<12}{cells[1]:<12}{cells[2]:<9} {bonus}")
    return 0


def envs(words: list[str]) -> int:
    """Print the tasks of the paper, in lines that fit into 80 columns."""
    as_json = _wants_json("envs", "List the tasks of the paper.", "mppo envs", words)

    from mppo.envs import TASKS

    if as_json:
        details = lambda task: {field: getattr(task, field) for field in SHOWN}
        rows = [{**details(task), "native_vector": True} for task in TASKS]
        print(json.dumps(rows, indent=2))
        return 0
    for task in TASKS:
        print(f"{task.id}  ({task.name} in the paper)")
        print(f"    {task.description}")
        print(
            f"    observation {task.observation_size}, action: {task.action}, horizon "
            f"{task.horizon}, budget {task.trpo_steps:,} (trpo), {task.ppo_steps:,} (ppo)"
        )
    print("\nAny other registered Gymnasium environment can be trained on, too.")
    return 0


def _wants_json(command: str, about: str, example: str, words: list[str]) -> bool:
    parser = Parser(command, about, [example])
    parser.add_argument("--json", action="store_true", help="all details, for programs")
    return parser.parse_args(words).json
