"""The command that runs a run again, from what run.json says."""

from __future__ import annotations

import shlex
from typing import Any

from mppo import config
from mppo.errors import BadRequest
from mppo.evaluation import Evaluation
from mppo.methods import METHODS
from mppo.report.compare import nearest
from mppo.report.read import RunRecord
from mppo.report.text import visible

_LONGEST = 4000


def command(run: RunRecord) -> str:
    """`mppo train ...` with every setting that is not the method's default."""
    described = run.described
    name = described.get("method_name")
    base = name if isinstance(name, str) and name in METHODS else nearest(run.method)
    words = ["mppo", "train", base, _word(described.get("env", "?"))]
    words += ["--steps", _word(described.get("steps", "?"))]
    words += ["--seed", _word(described.get("seed", "?"))]
    words += _flags(run.method, config.to_json(METHODS[base]))
    given = described.get("env_kwargs")
    for key, value in given.items() if isinstance(given, dict) else ():
        words += [f"--env.{key.replace('_', '-')}", _word(value)]
    words += _evaluation(described.get("evaluation"))
    return visible(" ".join(shlex.quote(visible(word)) for word in words), _LONGEST)


def _evaluation(given: Any) -> list[str]:
    usual, words = Evaluation(), []
    if not isinstance(given, dict):
        return words
    every, episodes = given.get("every"), given.get("episodes")
    if every != usual.every:
        words += ["--eval-every", _word(every)]
    if episodes != usual.episodes:
        words += ["--eval-episodes", _word(episodes)]
    if given.get("deterministic_episodes") != episodes:
        words += ["--eval-deterministic-episodes", _word(given.get("deterministic_episodes"))]
    return words


def _flags(value: dict[str, Any], usual: dict[str, Any], prefix: str = "") -> list[str]:
    words: list[str] = []
    for key, item in value.items():
        name = f"{prefix}{key.replace('_', '-')}"
        expected = usual.get(key)
        if key == "kind" or item == expected:
            continue
        if isinstance(item, dict):
            expected = expected if isinstance(expected, dict) else {}
            if item.get("kind") != expected.get("kind"):
                words += [f"--{name}", _word(item.get("kind", "?"))]
                expected = _defaults(item.get("kind"))
            words += _flags(item, expected, f"{name}.")
        elif isinstance(item, bool):
            words.append(f"--{prefix}{'' if item else 'no-'}{key.replace('_', '-')}")
        else:
            words += [f"--{name}", *map(_word, item if isinstance(item, list) else [item])]
    return words


def _defaults(kind: Any) -> dict[str, Any]:
    """The fields of a kind of ours; of others' nothing is known without running their code."""
    try:
        return config.to_json(config.component_class(str(kind))())
    except (BadRequest, TypeError):
        return {}


def _word(value: Any) -> str:
    return value if isinstance(value, str) else str(value)
