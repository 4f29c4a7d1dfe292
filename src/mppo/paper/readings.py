"""What the paper leaves open, read in one way or another: the flags of `mppo paper run`.

A grid holds the runs of one reading, so that no table mixes two. Which readings are the defaults,
and by which rule they were chosen: docs/decisions/0042.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mppo.algorithm.methods import METHODS
from mppo.errors import BadRequest, did_you_mean
from mppo.experiments.compact import READINGS as FILE
from mppo.experiments.grid import is_grid, write_json
from mppo.files.reader import json_object

LARGEST = 1 << 16  # bytes
Changes = dict[str, Any]


def _shared_batch(method: str) -> Changes:
    """N / K samples for each path in an iteration; its environment goes on where it was."""
    whole = METHODS[method]
    size = whole.batch_size // whole.paths
    return {"batch_size": size, "envs": 1, "episodes": "continue-per-path"}


@dataclass(frozen=True)
class Choice:
    """One way to read an open point."""

    about: str
    methods: str = ""
    """How the names of the methods begin that it changes."""
    changes: Changes | Callable[[str], Changes] = field(default_factory=dict)
    """Of these methods."""
    arguments: Mapping[str, Changes] = field(default_factory=dict)
    """Of environments, by their ids."""


def _distance(env: str, metres: float) -> Choice:
    arguments = {"threshold": metres, "terminate_when_unhealthy": False}
    return Choice(f"{metres:g} m ahead, a fall is no end", arguments={env: arguments})


def _either_way(metres: float) -> Choice:
    arguments = {"threshold": metres, "absolute": True}
    about = f"{metres:g} m from the start, either way"
    return Choice(about, arguments={"mppo/SparseHalfCheetah-v0": arguments})


GLOROT, APART = "apart:output_scale=1.35,sigma=0.61", "apart"
WRAPPED = {"mppo/SparseCartPoleSwingup-v0": {"angle": "wrapped"}}
HOPPER, WALKER = "mppo/SparseHopper-v0", "mppo/SparseWalker2d-v0"
READINGS: dict[str, dict[str, Choice]] = {
    "start": {
        "alike": Choice("all paths begin as one policy, with wide noise"),
        "glorot": Choice("Glorot's output layer, sigma 0.61, raw", changes={"styles": [GLOROT]}),
        "apart": Choice("output scale 1, sigma 0.3, raw", changes={"styles": [APART]}),
    },
    "multi": {
        "in-turn": Choice("Multi-*: a full batch for each path in turn"),
        "shared": Choice("Multi-*: N / K samples for each path", "multi-", _shared_batch),
    },
    "angle": {
        "raw": Choice("the swing-up shows its angle with all turns"),
        "wrapped": Choice("the swing-up shows its angle within a turn", arguments=WRAPPED),
    },
    "cheetah": {
        "5-ahead": Choice("SparseHalfCheetah pays 5 m ahead"),
        "5-either": _either_way(5.0),
        "10-either": _either_way(10.0),
    },
    "hopper": {
        "1": Choice("SparseHopper pays 1 m ahead, a fall is the end"),
        "3": _distance(HOPPER, 3.0),
        "5": _distance(HOPPER, 5.0),
    },
    "walker": {
        "1": Choice("SparseWalker2d pays 1 m ahead, a fall is the end"),
        "3": _distance(WALKER, 3.0),
        "5": _distance(WALKER, 5.0),
    },
    "j": {
        "batch": Choice("J over the episodes of the last batch"),
        "window": Choice("J over the last 40 episodes", "mp-", {"estimator": "window"}),
    },
    "gain": {
        "centred": Choice("the gain without the error of V"),
        "literal": Choice(
            "the gain as printed, the error of V included", "mp-", {"gain": "literal"}
        ),
    },
}
"""The first choice of each is how it was read before any was tried."""
FIRST = {name: next(iter(choices)) for name, choices in READINGS.items()}
DEFAULT = {**FIRST, "start": "apart", "walker": "3"}
"""What `mppo paper run` takes (decision 0042)."""


def listed() -> list[dict[str, Any]]:
    """Every choice of every reading, and whether it is the default."""
    return [
        {"reading": f"{name}={word}", "default": DEFAULT[name] == word, "about": choice.about}
        for name, choices in READINGS.items()
        for word, choice in choices.items()
    ]


@dataclass(frozen=True)
class Readings:
    """One choice for each open point."""

    chosen: tuple[tuple[str, str], ...] = tuple(DEFAULT.items())

    @classmethod
    def of(cls, words: Iterable[str]) -> Readings:
        """The defaults, but for what these words say, such as start=apart.

        >>> str(Readings.of(["angle=wrapped"]))
        'start=apart angle=wrapped walker=3'
        """
        found = dict(DEFAULT)
        for word in words:
            name, _, choice = word.partition("=")
            if name not in READINGS:
                hint = did_you_mean(name, READINGS, f"there are: {', '.join(READINGS)}")
                raise BadRequest(f'unknown reading "{name}"{hint}')
            if choice not in READINGS[name]:
                known = ", ".join(READINGS[name])
                raise BadRequest(f'the reading {name} is "{choice}"; the choices are {known}')
            found[name] = choice
        return cls(tuple(found.items()))

    @classmethod
    def of_grid(cls, root: Path) -> Readings:
        """Those of a grid; one from before there were several holds the first of each."""
        found = json_object(root / FILE, LARGEST) or {}
        return cls.of(f"{name}={choice}" for name, choice in (FIRST | found).items())

    def keep(self, root: Path) -> None:
        """Write them into a grid, or refuse one that was begun with others."""
        if not is_grid(root):  # nothing was asked for here yet
            (root / FILE).unlink(missing_ok=True)
            if str(self):
                write_json(root / FILE, dict(self.chosen))
            return
        others = self.of_grid(root).but(self)
        if others:
            begun = " ".join(f"{name}={choice}" for name, choice in others.items())
            raise BadRequest(
                f'"{root}" was begun with --reading {begun}; no table mixes readings: choose '
                "another --out, or that reading"
            )

    def but(self, other: Readings) -> dict[str, str]:
        """The choices that differ from another's."""
        return {name: choice for name, choice in self.chosen if (name, choice) not in other.chosen}

    def __str__(self) -> str:
        """What differs from the first reading of each; nothing if nothing does."""
        own = self.but(Readings(tuple(FIRST.items())))
        return " ".join(f"{name}={choice}" for name, choice in own.items())

    def overrides(self, method: str) -> Changes:
        """What they change of a method."""
        found: Changes = {}
        for choice in self._choices():
            if method.startswith(choice.methods):
                changes = choice.changes
                found |= changes(method) if callable(changes) else changes
        return found

    def arguments(self, env: str) -> Changes:
        """What they change of an environment."""
        return {
            k: v for choice in self._choices() for k, v in choice.arguments.get(env, {}).items()
        }

    def _choices(self) -> list[Choice]:
        return [READINGS[name][choice] for name, choice in self.chosen]
