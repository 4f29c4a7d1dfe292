"""Line charts: what is drawn where. The template `figures.html` draws it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mppo.report import svg, text
from mppo.report.style import Look
from mppo.report.svg import Line, Scale


class Series:
    """One entry of a legend: the curves of its seeds, and what is drawn boldly for all.

    The mean goes as far as all lines reach; those beside are left out of it. With a width, all
    are moving means (a lone curve stays beside its own). Numbered lines that end together share a
    label.
    """

    def __init__(
        self,
        name: str,
        look: Look,
        lines: Sequence[Line],
        width: int = 1,
        beside: Sequence[Line] = (),
        number: int | None = None,
    ):
        self.name, self.look, self.number = name, look, number
        soft = [Line(line.x, svg.moving_mean(line.y, width)) for line in (*lines, *beside)]
        self.bold = svg.common_part(svg.summarise(soft[: len(lines)]), soft[: len(lines)])
        self.thin = soft if len(soft) > 1 else [*lines, *beside] if width > 1 else []

    @property
    def end(self) -> tuple[float, float]:
        """The last point of the mean that is known."""
        known = np.isfinite(self.bold.mean)
        return float(self.bold.x[known][-1]), float(self.bold.mean[known][-1])

    def value_at(self, steps: float) -> str:
        """Mean and half the width of its interval, between the points where need be."""
        known = np.isfinite(self.bold.mean)
        x, mean, high = self.bold.x[known], self.bold.mean[known], self.bold.high[known]
        if not len(x) or steps < x[0] or steps > x[-1]:
            return "–"
        half = float(np.interp(steps, x, high - mean))
        spread = f" ± {text.number(half, 2)}" if np.isfinite(half) else ""
        return text.number(float(np.interp(steps, x, mean))) + spread


@dataclass(frozen=True)
class Form:
    """The size of a chart, in units that are about a pixel on a desk and less on a phone."""

    width: int = 420
    height: int = 240
    left: int = 50
    right: int = 16
    top: int = 10
    bottom: int = 42
    kind: str = "small"

    @property
    def inner(self) -> tuple[int, int]:
        """Width and height of the plot itself."""
        return self.width - self.left - self.right, self.height - self.top - self.bottom


LARGE = Form(760, 346, 52, 150, 12, 50, "large")
WIDE = Form(640, 264, 50, 84, 10, 46, "wide")


@dataclass(frozen=True, eq=False)
class Chart:
    """What is drawn, and how it is explained."""

    title: str
    series: Sequence[Series]
    hint: str = ""
    full_form: Form = Form()
    references: tuple[tuple[float, str], ...] = ()  # levels to compare with
    from_zero: bool = False
    may_be_log: bool = False
    limit: int = 400  # points of a curve

    @cached_property
    def drawn(self) -> list[Series]:
        """The series of which something is known."""
        return [one for one in self.series if np.isfinite(one.bold.mean).any()]

    @cached_property
    def form(self) -> Form:
        """Its size; a lone curve needs no room for its name, which is in the title."""
        lone = len(self.drawn) == 1 and self.full_form.right > 24
        return replace(self.full_form, right=24) if lone else self.full_form

    @cached_property
    def x(self) -> Scale:
        """The scale of the steps."""
        xs = [line.x for one in self.drawn for line in (one.bold, *one.thin)]
        return Scale(0, max(float(np.concatenate(xs).max()), 1.0), self.form.inner[0])

    @cached_property
    def y(self) -> Scale:
        """The scale of the values; a band of few seeds may leave the picture."""
        means = [one.bold.mean for one in self.drawn]
        seeds = [line.y for one in self.drawn for line in one.thin]
        levels = np.array([level for level, _ in self.references])
        height = self.form.inner[1]
        log = svg.fit_log_scale(np.concatenate(means), height) if self.may_be_log else None
        return log or svg.fit_scale(
            np.concatenate([*means, *seeds, levels]), height, self.from_zero
        )

    @property
    def description(self) -> str:
        """The chart in words, for those who do not see it."""
        ends = (f"{one.name} ends at {text.number(one.end[1])}" for one in self.drawn)
        return f"{self.title} against environment steps. {', '.join(ends)}."

    def curves(self, one: Series) -> tuple[str, list[str], str]:
        """Path data of the band, of every seed and of the mean."""
        few = max(40, self.limit // 2) if len(one.thin) > 3 else self.limit
        return (
            svg.band_path(one.bold, self.x, self.y, self.limit),
            [svg.line_path(line, self.x, self.y, few) for line in one.thin],
            svg.line_path(Line(one.bold.x, one.bold.mean), self.x, self.y, self.limit),
        )

    def end_labels(self) -> Iterator[Label]:
        """Where, what and whose: the names beside the ends of curves, where there is room."""
        if self.form.right <= 60:
            return
        at = [float(self.y(one.end[1])) for one in self.drawn]
        numbered = all(one.number is not None for one in self.drawn)
        labels = _shared_labels(self.drawn, at) if numbered else _own_labels(self.drawn, at)
        places = svg.spread_apart([end for end, _, _ in labels], 17, 6, self.form.inner[1] - 4)
        for place, (_, name, owner) in zip(places, labels, strict=True):
            yield place, text.shorten(name, (self.form.right - 12) // 7), owner

    def values(self, rows: int = 8) -> list[tuple[float, list[str]]]:
        """The curves at a few steps, for those who do not want to read the drawing."""
        x = np.unique(np.concatenate([one.bold.x for one in self.drawn]))
        chosen = x[np.unique(np.linspace(0, len(x) - 1, min(rows, len(x))).round().astype(int))]
        return [(at, [one.value_at(at) for one in self.drawn]) for at in chosen.tolist()]


Label = tuple[float, str, int | None]


def _own_labels(series: list[Series], at: list[float]) -> list[Label]:
    """The names without the beginning that all of them have."""
    names = [one.name for one in series]
    if len(names) > 1 and len({name.partition(" · ")[0] for name in names}) == 1:
        names = [name.partition(" · ")[2] or name for name in names]
    return [(end, name, i) for i, (end, name) in enumerate(zip(at, names, strict=True))]


def _shared_labels(series: list[Series], at: list[float]) -> list[Label]:
    """Numbered lines that end within a few units share one label."""
    order = np.argsort(at, kind="stable")
    apart = np.flatnonzero(np.diff(np.sort(at)) >= 5) + 1
    labels = []
    for members in (together.tolist() for together in np.split(order, apart)):
        middle = sum(at[i] for i in members) / len(members)
        numbers = sorted(series[i].number or 0 for i in members)
        labels.append((middle, ranges(numbers), members[0] if len(members) == 1 else None))
    return labels


def ranges(numbers: list[int]) -> str:
    """Sorted numbers, neighbours joined.

    >>> ranges([0, 1, 2, 5, 7, 8]), ranges([3])
    ('0–2 5 7–8', '3')
    """
    spans = svg.stretches(np.bincount(numbers) > 0)
    return " ".join(str(a) if b - a == 1 else f"{a}–{b - 1}" for a, b in spans)
