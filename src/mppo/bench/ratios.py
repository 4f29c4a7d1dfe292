"""What a part of a session hands back: ratios with their spread and target, and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, Literal

UNTARGETED = 2  # repetitions at most of what has no target


@dataclass(frozen=True)
class Ratio:
    """What is compared with what, one value for each repetition.

    >>> ratio = Ratio("help", "`mppo --help` / argparse", (9.0, 11.0, 14.0), 12.0, "at most")
    >>> ratio.median, ratio.met
    (11.0, True)
    """

    name: str
    what: str
    values: tuple[float, ...]
    target: float | None = None
    sense: Literal["at least", "at most"] = "at least"

    @property
    def median(self) -> float:
        """The middle of the repetitions."""
        return median(self.values)

    @property
    def met(self) -> bool | None:
        """Whether the median reaches the target, if there is one."""
        if self.target is None:
            return None
        least = self.sense == "at least"
        return self.median >= self.target if least else self.median <= self.target

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), **spread(self.values), "met": self.met}


@dataclass(frozen=True)
class Table:
    """Absolute numbers; a cell is a word, a number or a spread (median, least, most)."""

    name: str
    title: str
    columns: list[str]
    rows: list[list[Any]]


@dataclass(frozen=True)
class Part:
    """Ratios first, absolute numbers after."""

    ratios: list[Ratio]
    tables: list[Table]
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "ratios": [ratio.as_json() for ratio in self.ratios]}


def quotients(above: Sequence[float], below: Sequence[float]) -> tuple[float, ...]:
    """One quotient for each repetition: neighbours in time, so that drift cancels.

    >>> quotients([2.0, 9.0], [1.0, 3.0])
    (2.0, 3.0)
    """
    return tuple(a / b for a, b in zip(above, below, strict=True))


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median and range of one measured quantity, as a cell of a table.

    >>> spread([3.0, 1.0, 2.0])
    {'median': 2.0, 'least': 1.0, 'most': 3.0}
    """
    return {"median": median(values), "least": min(values), "most": max(values)}
