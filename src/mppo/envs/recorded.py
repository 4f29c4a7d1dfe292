"""The environment that a file names, and what may be imported because of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mppo.envs.source import AnyEnv, EnvSource, env_source
from mppo.envs.wrapping import Wrap, imported_wrapper
from mppo.errors import BadRequest

_IMPORTERS = ("GymV21Environment", "GymV26Environment")
"""Environments of Gymnasium that import whatever their arguments name."""


def recorded_source(
    described: dict[str, Any],
    env: AnyEnv | None = None,
    wrappers: Sequence[Wrap] | None = None,
    allow_imports: bool = False,
) -> EnvSource:
    """The task that `run.json` describes, or the environment given in its place.

    An id with a module and the names of wrappers mean code to be imported: that is done only
    where the caller allows it. What was given from Python must be given again, though an id may be
    registered that is called like it.
    """
    names = described.get("wrappers", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise BadRequest(f"run.json has the wrappers {names!r}; they must be names")
    chosen = tuple(wrappers) if wrappers is not None else ()
    if env is not None:
        return env_source(env, wrappers=chosen)
    if described.get("env_from_python"):
        raise BadRequest(
            f'the environment was given from Python; "{described["env"]}" is only its name, which '
            "may mean another: give it again, as env=... in Python"
        )
    code = [described["env"]] * imports_code(described["env"]) + names * (wrappers is None)
    if code and not allow_imports:
        raise BadRequest(
            f'"{code[0]}" is code of another package, which is not imported just because a file '
            "names it; pass --allow-imports (allow_imports=True) if you trust it"
        )
    if wrappers is None:
        chosen = tuple(imported_wrapper(name) for name in names)
    return env_source(described["env"], wrappers=chosen, **described["env_kwargs"])


def imports_code(env: str) -> bool:
    """Whether making this environment would import what the name or its arguments say.

    >>> imports_code("CartPole-v1"), imports_code("mine:Pole-v0")
    (False, True)
    """
    return ":" in env or env.startswith(_IMPORTERS)
