"""One run of a grid: what is trained, and the identity that names its directory."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from mppo.algorithm.methods import Method
from mppo.algorithm.schedules import Rate, is_part
from mppo.errors import BadRequest
from mppo.files import settings
from mppo.files.changes import differences, env_flags, flags
from mppo.files.evaluation import Evaluation
from mppo.machine.seeding import LARGEST

NUMBERS = 1
"""Part of every identity: raised when the same settings begin to give other numbers."""
GRID_EVALUATION = Evaluation(every=10_000, episodes=10, deterministic_episodes=0)
"""The paper's protocol. Episodes with the most likely actions would double the evaluation's cost
and appear in none of its tables or figures."""
NAME_LENGTH = 16  # hexadecimal digits of a run's name

Pairs = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class RunSpec:
    """All that decides what a run computes; `spec` makes one from what a user writes.

    Two specs of the same run are equal, however they were written down.
    """

    name: str
    """The named method it starts from."""
    method: Method
    """The method as it is run."""
    env: str
    env_kwargs: Pairs
    seed: int
    steps: int
    evaluation: Evaluation = GRID_EVALUATION
    wrappers: tuple[str, ...] = ()
    """Names of callables around each environment, module:callable."""

    @property
    def overrides(self) -> dict[str, Any]:
        """The fields in which the method differs from the one it is named after."""
        return differences(settings.method_named(self.name), self.method)

    @property
    def label(self) -> str:
        """For people; never part of a path."""
        changes = "".join(f" {name}={_word(value)}" for name, value in self.overrides.items())
        where = "".join(f" {name}={value}" for name, value in self.env_kwargs)
        return f"{self.name}{changes} on {self.env.removeprefix('mppo/')}{where}, seed {self.seed}"

    @property
    def batch_size(self) -> int:
        """Environment steps of one iteration."""
        return self.method.batch_size

    @cached_property
    def run_id(self) -> str:
        """The run's name: a hash of what it computes; no path, no host, no order.

        Fields at their defaults are left out, so that a new option does not rename old runs. That
        a finished run was made with the defaults of today is checked against its `run.json`.
        """
        data = {**self.as_json(), "method": _beyond_defaults(self.method)}
        text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:NAME_LENGTH]

    def as_json(self) -> dict[str, Any]:
        """The resolved spec as plain data."""
        return {
            "numbers": NUMBERS,
            "method_name": self.name,
            "method": settings.to_json(self.method),
            "env": self.env,
            "env_kwargs": dict(self.env_kwargs),
            "seed": self.seed,
            "steps": self.steps,
            "evaluation": settings.to_json(self.evaluation),
            **({"wrappers": list(self.wrappers)} if self.wrappers else {}),
        }

    def arguments(self) -> list[str]:
        """The words after `mppo` that train this run; only `--out` is missing."""
        words = ["train", self.name, self.env]
        words += flags({"seed": self.seed, "steps": self.steps, **self.evaluation.options})
        words += env_flags(dict(self.env_kwargs))
        words += ["--wrappers", *self.wrappers] if self.wrappers else []
        return words + flags(self.overrides)


def spec(
    name: str,
    env: str,
    seed: int,
    steps: int,
    overrides: dict[str, Any] | None = None,
    env_kwargs: dict[str, Any] | None = None,
    evaluation: Evaluation = GRID_EVALUATION,
    wrappers: tuple[str, ...] = (),
) -> RunSpec:
    """The run that these settings describe.

    >>> spec("mp-trpo", "mppo/Maze-v0", 0, 10_000, {"paths": 1}).name
    'trpo'
    >>> spec("mp-trpo", "mppo/Maze-v0", 0, 10_000, {"paths": 4, "picking.alpha": 0}).label
    'mp-trpo paths=4 picking.alpha=0.0 on Maze-v0, seed 0'
    """
    method = _settled(settings.overridden(settings.method_named(name), frozen(overrides or {})))
    where, batch = f"{name} on {env}", method.batch_size
    if steps < batch:
        raise BadRequest(f"{where}: steps is {steps}, which is below one batch of {batch}")
    if method.envs and batch % method.envs:
        raise BadRequest(
            f"{where}: a batch of {batch} steps cannot be shared by {method.envs} environments; "
            "choose envs so that it divides batch_size"
        )
    if not 0 <= seed <= LARGEST:
        raise BadRequest(f"{where}: seed is {seed}; it must be from 0 to {LARGEST} (2^63 - 1)")
    known = settings.name_of(method)
    name = name if known == "custom" else known
    pairs = tuple(sorted(frozen(env_kwargs or {}).items()))
    return RunSpec(name, method, env, pairs, seed, steps, evaluation, wrappers)


def _beyond_defaults(component: Any) -> dict[str, Any]:
    """The kind of a component and the fields that are not as they are by default."""
    found: dict[str, Any] = {"kind": settings.kind_of(component)}
    for field in dataclasses.fields(component):
        value = getattr(component, field.name)
        if value != field.default:
            found[field.name] = _short(value)
    return found


def _short(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_short(item) for item in cast(tuple[Any, ...], value)]
    return _beyond_defaults(value) if is_part(value) else settings.to_json(value)


def _settled(component: Any) -> Any:
    """Whole numbers in fields of real numbers become real: 0 and 0.0 are one setting."""
    kinds, changes = settings.hints(type(component)), {}
    for field in dataclasses.fields(component):
        value, kind = getattr(component, field.name), kinds.get(field.name)
        if is_part(value):
            changes[field.name] = _settled(value)
        elif kind is float or (kind == Rate and type(value) is int):
            changes[field.name] = float(value)
    return dataclasses.replace(component, **changes)


def frozen(value: Any) -> Any:
    """Lists as tuples: fields of frozen dataclasses are hashable."""
    if isinstance(value, dict):
        return {name: frozen(item) for name, item in value.items()}
    return tuple(map(frozen, value)) if isinstance(value, list | tuple) else value


def _word(value: Any) -> str:
    return "x".join(map(str, value)) if isinstance(value, tuple) else str(value)
