"""Which runs belong together, what to call them, and what tells them apart."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mppo.algorithm.methods import METHODS
from mppo.files import settings
from mppo.files.changes import differing, nearest
from mppo.report.read import RunRecord
from mppo.report.style import DISPLAY
from mppo.report.text import LONGEST_LABEL, visible

_MOST_DIFFERENCES = 3  # named in a label


@dataclass(frozen=True, eq=False)
class Group:
    """The seeds of one configuration on one task."""

    task: str
    label: str  # what a reader tells it by
    method_name: str
    runs: tuple[RunRecord, ...]
    configuration: str  # the label without the budget
    budget: int | None = None  # steps, where the task has runs of this configuration with others

    @property
    def place(self) -> str:
        """The task as it is shown."""
        return self.task.removeprefix("mppo/")


def flattened(value: Any, prefix: str = "") -> dict[str, str]:
    """A configuration as dotted names and texts; the kind of a component stands for the component.

    >>> flattened({"kind": "method", "paths": 4, "picking": {"kind": "best", "ties": "first"}})
    {'method': 'method', 'paths': '4', 'picking': 'best', 'picking.ties': 'first'}
    """
    found: dict[str, str] = {}
    if not isinstance(value, dict):
        return {prefix: as_text(value)} if prefix else found
    for key, item in value.items():
        if key == "kind":
            found[prefix or "method"] = as_text(item)
        else:
            found |= flattened(item, f"{prefix}.{key}" if prefix else visible(key, 80))
    return found


def as_text(value: Any) -> str:
    """A setting as a person would write it.

    >>> as_text([64, 64]), as_text(True), as_text(0.1)
    ('64 64', 'yes', '0.1')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and not any(isinstance(item, list | dict) for item in value):
        return " ".join(as_text(item) for item in value)
    return visible(value if isinstance(value, str) else json.dumps(value), 200)


def run_settings(run: RunRecord) -> dict[str, str]:
    """Everything that run.json says of how it was run, but for the seed and the versions."""
    flat = flattened(run.method)
    for key, prefix in (("env_kwargs", "env"), ("evaluation", "evaluation")):
        flat |= flattened(run.described.get(key), prefix)
    for kind in ("method", "evaluation"):  # which say nothing
        flat.pop(kind, None)
    for key in ("wrappers", "steps", "envs", "horizon", "unfinished", "clip_actions"):
        if key in run.described:
            flat["envs in use" if key == "envs" else key] = as_text(run.described[key])
    return flat


def task_of(run: RunRecord) -> str:
    """The environment with its arguments and its wrappers."""
    given = flattened(run.described.get("env_kwargs"))
    arguments = ", ".join(f"{key} {value}" for key, value in given.items())
    names = run.described.get("wrappers")
    inside = ", ".join(visible(name) for name in names) if isinstance(names, list) else ""
    found = run.word("env") + (f" ({arguments})" if arguments else "")
    return found + (f" in {inside}" if inside else "")


def repeated(found: Sequence[Group]) -> list[str]:
    """What to say of seeds that a configuration counts twice."""
    return [
        f"{group.label} on {group.task}: seed {seed} is there {count} times, and is counted as "
        "often; its runs are no independent samples"
        for group in found
        for seed, count in Counter(run.word("seed") for run in group.runs).items()
        if count > 1
    ]


def groups(runs: Sequence[RunRecord]) -> list[Group]:
    """The runs by task, configuration and budget, in the order of tasks and of named methods."""
    firsts: dict[str, RunRecord] = {}
    gathered: dict[tuple[str, str], dict[str, list[RunRecord]]] = {}
    for run in runs:
        identity = json.dumps([run.word("method_name"), run.method], sort_keys=True)
        firsts.setdefault(identity, run)
        budgets = gathered.setdefault((task_of(run), identity), {})
        iterations = run.described.get("iterations")  # since steps are made in whole batches
        length = iterations if type(iterations) is int else run.described.get("steps")
        budgets.setdefault(json.dumps(length), []).append(run)
    labels = dict(zip(firsts, _labels(list(firsts.values())), strict=True))
    order = {name: place for place, name in enumerate(METHODS)}
    found = [
        _group(task, labels[identity], members, several=len(budgets) > 1)
        for (task, identity), budgets in gathered.items()
        for members in budgets.values()
    ]
    place = lambda group: (group.task, order.get(group.method_name, 99), group.configuration)
    return sorted(found, key=lambda group: (*place(group), group.budget or 0, group.label))


def _group(task: str, label: str, members: list[RunRecord], several: bool) -> Group:
    """Runs of one budget, which the label names where there are several."""
    steps = members[0].described.get("steps")
    budget = steps if several and type(steps) is int else None
    words = "" if not several else f" · {as_text(steps) if budget is None else f'{budget:,}'} steps"
    seed = lambda run: run.described.get("seed")
    place = lambda run: (seed(run) if isinstance(seed(run), int) else math.inf, run.name)
    runs = tuple(sorted(members, key=place))
    return Group(task, label + words, _base(members[0]), runs, label, budget)


def _labels(runs: list[RunRecord]) -> list[str]:
    """Short names, no two alike: the method, and what sets it apart from its namesakes."""
    bases = [_base(run) for run in runs]
    flats = [flattened(run.method) for run in runs]
    labels = []
    for run, base, flat in zip(runs, bases, flats, strict=True):
        names = differing([other for other, name in zip(flats, bases, strict=True) if name == base])
        if base in METHODS:  # what a method says of itself needs no mention
            own = differing([flat, flattened(settings.to_json(METHODS[base]))])
            custom = run.word("method_name") not in METHODS
            names = own if custom else [name for name in names if name in own]
        names += [name for name, kind in flat.items() if "." not in name and ":" in kind]  # foreign
        words = [_difference(name, flat) for name in dict.fromkeys(names)]
        more = len(words) - _MOST_DIFFERENCES
        words = [*words[:_MOST_DIFFERENCES], *([f"+{more} more"] if more > 0 else [])]
        said = f" · {', '.join(words)}" if words else ""
        labels.append(visible(DISPLAY.get(base, base) + said, 90))
    number = lambda place: labels[: place + 1].count(labels[place])
    return [
        f"{label} #{number(place)}" if labels.count(label) > 1 else label
        for place, label in enumerate(labels)
    ]


def _difference(name: str, flat: dict[str, str]) -> str:
    """A setting in few words: the last part of its name, a class without its module.

    >>> _difference("picking.alpha", {"picking.alpha": "0.5"})
    'alpha 0.5'
    >>> _difference("picking", {"picking": "own_picking_rule:Thompson"})
    'picking Thompson'
    """
    last = name.rpartition(".")[2]
    alone = sum(key.rpartition(".")[2] == last for key in flat) == 1
    value = visible(flat.get(name, "–").rpartition(":")[2], LONGEST_LABEL)
    return f"{last if alone else name} {value}"


def _base(run: RunRecord) -> str:
    """The method's name, or that of the named method that is nearest to it."""
    name = run.word("method_name")
    return nearest(run.method) if name == "custom" and run.method else visible(name, LONGEST_LABEL)
