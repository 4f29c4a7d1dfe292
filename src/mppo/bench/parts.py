"""What a part of a sitting hands back."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from mppo.bench.ratios import Ratio


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
        return {
            "ratios": [ratio.as_json() for ratio in self.ratios],
            "tables": [asdict(table) for table in self.tables],
            "notes": self.notes,
        }
