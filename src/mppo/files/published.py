"""Returns that other libraries publish on the tasks of the tuned settings, each with its source."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from mppo.files.tuned import Tuned

FILE = Path(__file__).with_name("published.toml")
LEVEL = 0.01
"""A mean that is lower by at most this part counts as level."""


class Published(NamedTuple):
    """One number of a page, and what it is the return of."""

    method: str
    env: str
    """The task here; theirs may be an earlier version."""
    env_kwargs: dict[str, Any]
    peer: str
    task: str
    steps: int
    seeds: int
    mean: float
    deviation: float
    """Of the episodes of one run, or of the seeds if there are several."""
    actions: Literal["most likely", "sampled"]
    source: str

    def beside(self, ours: Tuned) -> float | None:
        """Our mean return with actions of the same kind; none if nothing was measured."""
        returns = ours.deterministic if self.actions == "most likely" else ours.returns
        return sum(returns) / len(returns) if returns else None

    def verdict(self, ours: Tuned) -> str:
        """How our mean stands to this one, in words.

        >>> from mppo.files.tuned import find
        >>> entry = find("trpo", "CartPole-v1")._replace(steps=10**5, deterministic=(496.0,))
        >>> of(entry)[0].verdict(entry), of(entry)[0].verdict(entry._replace(deterministic=(400,)))
        ('level', 'below by 100')
        """
        mean = self.beside(ours)
        if mean is None:
            return "-"
        gap = mean - self.mean
        tolerance = LEVEL * abs(self.mean)
        word = "above" if gap > tolerance else "level" if gap >= -tolerance else "below"
        more = " with more steps" if ours.steps > self.steps else ""
        by = "" if word == "level" else f" by {abs(gap):.4g}"
        return f"{word}{by}{more}"


@lru_cache
def read() -> tuple[Published, ...]:
    """All of them."""
    data = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return tuple(Published(**{"env_kwargs": {}, **table}) for table in data["published"])


def of(entry: Tuned) -> Sequence[Published]:
    """What others publish for the method and the task of an entry."""
    key = (entry.method, entry.env, entry.env_kwargs)
    return [one for one in read() if (one.method, one.env, one.env_kwargs) == key]
