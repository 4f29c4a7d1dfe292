"""A search for settings as a TOML file: which fields, between which bounds, with what effort."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple

from mppo.algorithm.methods import Method
from mppo.errors import BadRequest
from mppo.experiments.spec import frozen
from mppo.experiments.sweep import from_toml, only_known, whole
from mppo.files import settings
from mppo.files.config_file import Config, settings_of, written
from mppo.files.evaluation import Evaluation

SPACE = ("low", "high", "log", "step", "choices")
EVALUATIONS = 20
"""In each run, unless the file says otherwise: often enough to give up early."""
Sampler = Literal["tpe", "random"]
Canonical = Callable[[str, dict[str, Any], list[str]], str]
"""Checks an environment with its arguments and wrappers and gives its id in full."""


class Numbers(NamedTuple):
    """A field that may be any number between two."""

    low: float
    high: float
    log: bool = False
    step: float | None = None
    whole: bool = False


class Choices(NamedTuple):
    """A field that may be one of some values."""

    values: tuple[Any, ...]


class Search(NamedTuple):
    """What a file asks for."""

    method: str
    env: str
    env_kwargs: dict[str, Any]
    wrappers: tuple[str, ...]
    steps: int
    seeds: int
    trials: int
    sampler: Sampler
    sampler_seed: int
    pruning: bool
    evaluation: Evaluation
    fixed: dict[str, Any]
    space: dict[str, Numbers | Choices]

    def with_fields(self, values: dict[str, Any]) -> Method:
        """The method with these values of the fields that are searched."""
        given = frozen({**self.fixed, **values})
        return settings.overridden(settings.method_named(self.method), given)

    def config(self, values: dict[str, Any], seed: int = 0) -> str:
        """The TOML that `mppo train --config` takes, with these values."""
        run: dict[str, Any] = {"steps": self.steps, "seed": seed, **self.evaluation.options}
        if self.wrappers:
            run["wrappers"] = list(self.wrappers)
        method = self.with_fields(values)
        return written(Config(self.method, self.env, self.env_kwargs, run | settings_of(method)))

    def as_json(self) -> dict[str, Any]:
        """All that must stay the same when a search goes on; only the number of trials may grow."""
        told = self._asdict() | {"evaluation": self.evaluation.__dict__, "trials": None}
        told["space"] = {name: one._asdict() for name, one in self.space.items()}
        return json.loads(json.dumps(told))


KEYS: dict[str, tuple[str, ...]] = {
    "the file": tuple("set" if name == "fixed" else name for name in Search._fields),
    "evaluation": ("every", "episodes"),
}


def read(path: Path, canonical: Canonical) -> Search:
    """The search of a file; what is wrong with it is said in words."""
    return from_toml(path, lambda data: _search(data, canonical))


def _search(data: dict[str, Any], canonical: Canonical) -> Search:
    only_known(data, "the file", KEYS)
    for name in ("method", "env"):
        if not isinstance(data.get(name), str):
            raise BadRequest(f'"{name}" is {data.get(name)!r}; it must be a word')
    for name in ("env_kwargs", "set", "space", "evaluation"):
        if not isinstance(data.get(name, {}), dict):
            raise BadRequest(f'"{name}" is {data[name]!r}; it must be a table')
    wrappers = data.get("wrappers", [])
    if not isinstance(wrappers, list) or not all(isinstance(one, str) for one in wrappers):
        raise BadRequest(f'"wrappers" is {wrappers!r}; give a list of module:callable')
    fixed = settings.by_dotted_name(data.get("set", {}))
    base = settings.overridden(settings.method_named(data["method"]), frozen(fixed))
    steps = whole(data.get("steps"), "steps", 1)
    kwargs = data.get("env_kwargs", {})
    tables = _tables(data.get("space", {}))
    if not tables:
        raise BadRequest('"space" is empty; name at least one field with low and high, or choices')
    found = Search(
        method=data["method"],
        env=canonical(data["env"], kwargs, wrappers),
        env_kwargs=kwargs,
        wrappers=tuple(wrappers),
        steps=steps,
        seeds=whole(data.get("seeds", 1), "seeds", 1),
        trials=whole(data.get("trials", 30), "trials", 1),
        sampler=_one_of(data.get("sampler", "tpe"), "sampler", ("tpe", "random")),
        sampler_seed=whole(data.get("sampler_seed", 0), "sampler_seed", 0),
        pruning=_one_of(data.get("pruning", True), "pruning", (True, False)),
        evaluation=_evaluation(data.get("evaluation", {}), steps),
        fixed=fixed,
        space={name: _range(name, table, base) for name, table in tables.items()},
    )
    # a trial may not ask for batches that are larger than the budget
    said = found.space.get("batch_size", Choices((found.with_fields({}).batch_size,)))
    largest = said.high if isinstance(said, Numbers) else max(said.values)
    if found.steps < largest:
        raise BadRequest(f"steps is {found.steps}, which is below one batch of {largest:g}")
    return found


def _one_of(value: Any, name: str, allowed: tuple[Any, ...]) -> Any:
    if not any(type(value) is type(one) and value == one for one in allowed):
        listed = ", ".join(json.dumps(one) for one in allowed)
        raise BadRequest(f'"{name}" is {value!r}; it must be one of {listed}')
    return value


def _evaluation(given: dict[str, Any], steps: int) -> Evaluation:
    only_known(given, "evaluation", KEYS)
    every = whole(given.get("every", max(1, steps // EVALUATIONS)), "every", 1)
    return Evaluation(every, whole(given.get("episodes", 10), "episodes", 1), 0)


def _tables(given: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """What is said of each field: `optimiser.clip = {...}` is a table in a table to TOML."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        field = prefix + name.replace("-", "_")
        inner = isinstance(value, dict) and any(isinstance(one, dict) for one in value.values())
        found |= _tables(value, f"{field}.") if inner else {field: value}
    return found


def _range(name: str, table: Any, base: Method) -> Numbers | Choices:
    where = f"space.{name}"
    only_known(table, where, {where: SPACE})
    if "choices" in table:
        values = table["choices"]
        if set(table) != {"choices"} or not isinstance(values, list) or not values:
            raise BadRequest(f"{where} is {table!r}; choices are a list, and stand alone")
        for value in values:
            settings.overridden(base, {name: frozen(value)})
        return Choices(tuple(map(frozen, values)))
    ends = [table.get("low"), table.get("high")]
    if any(type(end) not in (int, float) or not math.isfinite(end) for end in ends):
        raise BadRequest(f"{where} is {table!r}; give low and high, two numbers, or choices")
    try:
        now = attrgetter(name)(base)
    except AttributeError:
        now = settings.overridden(base, {name: None})  # refuses the name, with a suggestion
    is_whole = type(now) is int
    read_end = (lambda end: whole(end, where, 0)) if is_whole else float
    low, high = map(read_end, ends)
    log, step = _one_of(table.get("log", False), f"{where}.log", (True, False)), table.get("step")
    if low >= high or (log and low <= 0) or (log and step is not None):
        raise BadRequest(
            f"{where} is {table!r}; low must be below high, and above 0 with log, which has no step"
        )
    if step is not None and (type(step) not in (int, float) or step <= 0):
        raise BadRequest(f"{where}.step is {step!r}; it must be a number above 0")
    for end in (low, high):
        settings.overridden(base, {name: end})
    return Numbers(low, high, log, read_end(step) if step is not None else None, is_whole)
