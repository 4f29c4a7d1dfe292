"""A sweep of one's own as a TOML file: tasks x methods x seeds, any field of a method changed."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from mppo.errors import BadRequest, did_you_mean
from mppo.experiments.grid import distinct
from mppo.experiments.spec import GRID_EVALUATION, RunSpec, spec
from mppo.files.evaluation import Evaluation
from mppo.files.settings import by_dotted_name, method_named

KEYS = {
    "the file": ("name", "steps", "seeds", "tasks", "methods", "evaluation"),
    "a task": ("env", "steps", "arguments", "evaluation"),
    "a method": ("name", "set", "vary"),
    "evaluation": ("every", "episodes", "deterministic_episodes"),
}
T = TypeVar("T")
Canonical = Callable[[str, dict[str, Any]], str]
"""Checks an environment and gives its id in full."""


class Sweep(NamedTuple):
    """What a file asks for."""

    name: str
    runs: list[RunSpec]


def read(path: Path, canonical: Canonical) -> Sweep:
    """The sweep of a file; what is wrong with it is said in words."""
    return from_toml(path, lambda data: _sweep(data, path.stem, canonical))


def from_toml(path: Path, make: Callable[[dict[str, Any]], T]) -> T:
    """What is made of a file's tables; a refusal names the file."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadRequest(f'cannot read "{path}": {error.strerror}') from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadRequest(f'"{path}" is not valid TOML: {error}') from error
    try:
        return make(data)
    except BadRequest as error:
        raise BadRequest(f'"{path}": {error}') from error


def _sweep(data: dict[str, Any], name: str, canonical: Canonical) -> Sweep:
    only_known(data, "the file")
    evaluation = _evaluation(data.get("evaluation", {}), GRID_EVALUATION)
    given = data.get("seeds", 1)  # how many, counted from 0, or a list of them
    several = isinstance(given, list) and given
    seeds = [whole(n, "seeds", 0) for n in given] if several else range(whole(given, "seeds", 1))
    usual = data.get("steps"), evaluation, canonical
    tasks = [_task(task, *usual) for task in _list(data, "tasks")]
    methods = [variant for method in _list(data, "methods") for variant in _method(method)]
    runs = [
        spec(method, env, seed, steps, overrides, arguments, evaluation)
        for seed in seeds
        for env, arguments, steps, evaluation in tasks
        for method, overrides in methods
    ]
    return Sweep(str(data.get("name", name)), distinct(runs))


def only_known(table: Any, where: str, keys: dict[str, tuple[str, ...]] = KEYS) -> None:
    """Raise unless this is a table that has none but the keys that are known there."""
    if not isinstance(table, dict):
        raise BadRequest(f"{where} is {table!r}; it must be a table")
    for key in table:
        if key not in keys[where]:
            hint = did_you_mean(key, keys[where]) or f"; known are {', '.join(keys[where])}"
            raise BadRequest(f'unknown key "{key}" in {where}{hint}')


def _list(data: dict[str, Any], key: str) -> list[Any]:
    found = data.get(key)
    if not isinstance(found, list) or not found:
        raise BadRequest(f'"{key}" is {found!r}; give a list with at least one entry')
    return found


def whole(value: Any, name: str, least: int) -> int:
    """A whole number as TOML may write it."""
    if isinstance(value, float) and value.is_integer():
        if abs(value) >= 2**53:
            raise BadRequest(
                f'"{name}" is {value!r}; write a number from 2^53 on in digits alone: with a point '
                "or an exponent it is rounded"
            )
        value = int(value)  # 1e6 is a float in TOML
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise BadRequest(f'"{name}" is {value!r}; it must be a whole number of at least {least}')
    return value


def _evaluation(given: Any, usual: Evaluation) -> Evaluation:
    only_known(given, "evaluation")
    every = whole(given.get("every", usual.every), "every", 0)
    episodes = whole(given.get("episodes", usual.episodes), "episodes", 1)
    beside = given.get("deterministic_episodes", usual.deterministic_episodes)
    return Evaluation(every, episodes, whole(beside, "deterministic_episodes", 0))


def _task(
    given: Any, steps: Any, evaluation: Evaluation, canonical: Canonical
) -> tuple[str, dict[str, Any], int, Evaluation]:
    """Environment, arguments, steps, evaluation; what a task does not say is as for all of them."""
    table = {"env": given} if isinstance(given, str) else given
    only_known(table, "a task")
    env, arguments = table.get("env"), table.get("arguments", {})
    if not isinstance(env, str) or not isinstance(arguments, dict):
        raise BadRequest(f"a task is {given!r}; it needs env, a word, and arguments is a table")
    steps = table.get("steps", steps)
    if steps is None:
        raise BadRequest(f'"steps" is missing: for all tasks, or for {env}')
    evaluation = _evaluation(table.get("evaluation", {}), evaluation)
    return canonical(env, arguments), arguments, whole(steps, "steps", 1), evaluation


def _method(given: Any) -> list[tuple[str, dict[str, Any]]]:
    """A method as it is, or with fields set, or one method for each combination of values."""
    table = {"name": given} if isinstance(given, str) else given
    only_known(table, "a method")
    name = table.get("name")
    if not isinstance(name, str):
        raise BadRequest(f"a method is {given!r}; it needs a name, and may have set and vary")
    method_named(name)
    tables: dict[str, Any] = {key: table.get(key, {}) for key in ("set", "vary")}
    for key, fields in tables.items():
        if not isinstance(fields, dict):
            raise BadRequest(f'"{key}" is {fields!r}; it must be a table of fields')
    # `picking.alpha = 0.5` is a table in a table to TOML; here it is one name
    changes, vary = map(by_dotted_name, tables.values())
    for field, values in vary.items():
        if not isinstance(values, list) or not values:
            raise BadRequest(f'"vary" of {name}: {field} is {values!r}; give a list of values')
    combinations = itertools.product(*vary.values())
    return [(name, changes | dict(zip(vary, values, strict=True))) for values in combinations]
