"""Line charts as figures of a page: readable as they stand, with hooks for the page's script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mppo.report import text
from mppo.report.curve import Line, Summary, common, smoothed, summarised
from mppo.report.marks import Look, ranges, swatch
from mppo.report.svg import (
    DASHES,
    MARKERS,
    Scale,
    apart,
    band_path,
    fitted,
    fitted_log,
    line_path,
    n,
)
from mppo.report.text import escaped, shortened, tag
from mppo.report.values import value_table


@dataclass(frozen=True, eq=False)
class Series:
    """One entry of a legend: the curves of its seeds, and what is drawn boldly for all."""

    name: str
    look: Look
    thin: tuple[Line, ...]
    bold: Summary
    number: int | None = None  # of a path: lines that end together share a label

    @classmethod
    def of(
        cls,
        name: str,
        look: Look,
        lines: Sequence[Line],
        width: int = 1,
        beside: Sequence[Line] = (),
    ) -> Series:
        """Seeds and their mean as far as all of them reach, and others that it leaves out.

        With a width, all as moving means (a lone curve stays beside its own).
        """
        soft = [Line(line.x, smoothed(line.y, width)) for line in lines]
        mean = common(summarised(soft), soft)
        if len(lines) + len(beside) > 1:
            others = [Line(line.x, smoothed(line.y, width)) for line in beside]
            return cls(name, look, (*soft, *others), mean)
        return cls(name, look, tuple(lines) if width > 1 else (), mean)


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


SMALL = Form()
LARGE = Form(760, 346, 52, 150, 12, 50, "large")
WIDE = Form(640, 264, 50, 84, 10, 46, "wide")


@dataclass(frozen=True, eq=False)
class Chart:
    """What is drawn, and how it is explained."""

    title: str
    series: Sequence[Series]
    hint: str = ""
    form: Form = SMALL
    references: tuple[tuple[float, str], ...] = ()  # levels to compare with
    from_zero: bool = False
    may_be_log: bool = False
    limit: int = 400  # points of a curve
    legend: bool = True

    def figure(self) -> str:
        """The chart as a figure element; nothing where there is nothing to draw."""
        series = [one for one in self.series if np.isfinite(one.bold.mean).any()]
        if not series:
            return ""
        if len(series) == 1 and self.form.right > 24:  # its name is in the title
            return replace(self, form=replace(self.form, right=24)).figure()
        x, y = self._scales(series)
        legend = _legend(series) if self.legend and len(series) > 1 else ""
        log = " The vertical axis is logarithmic." if y.log else ""
        hint = tag("p", escaped(self.hint + log), class_="hint") if self.hint or log else ""
        return tag(
            "figure",
            tag("figcaption", tag("h3", escaped(self.title)) + hint)
            + legend
            + self._svg(series, x, y)
            + value_table([(one.name, one.bold) for one in series]),
            class_=f"chart {self.form.kind}",
        )

    def _scales(self, series: list[Series]) -> tuple[Scale, Scale]:
        width, height = self.form.inner
        xs = [one.bold.x for one in series] + [line.x for one in series for line in one.thin]
        x = Scale(0, max(float(np.concatenate(xs).max()), 1.0), width)
        seen = [one.bold.mean for one in series]  # a band of few seeds may leave the picture
        seen += [line.y for one in series for line in one.thin]
        drawn = np.concatenate([*seen, np.array([level for level, _ in self.references])])
        centre = np.concatenate([one.bold.mean for one in series])
        y = fitted_log(centre, height) if self.may_be_log else None
        return x, y or fitted(drawn, height, self.from_zero)

    def _svg(self, series: list[Series], x: Scale, y: Scale) -> str:
        form, (width, height) = self.form, self.form.inner
        named = ", ".join(
            f"{one.name} ends at {text.value(_last(one.bold.mean))}" for one in series
        )
        curves = "".join(self._curves(place, one, x, y) for place, one in enumerate(series))
        levels = "".join(
            f'<path class="reference" d="M0 {n(at)}h{width}"/>'
            f'<text class="reference" x="{width - 4}" y="{n(at - 4 if at > 18 else at + 14)}" '
            f'text-anchor="end">{escaped(name)}</text>'
            for level, name in self.references
            for at in [float(y(level))]
        )
        domain = tag(
            "svg",
            f'<g class="zoom">{curves}</g>{levels}',
            class_="plot",
            x=form.left,
            y=form.top,
            width=width,
            height=height,
            data_x0=f"{x.low:.10g}",
            data_x1=f"{x.high:.10g}",
            data_y0=f"{y.low:.10g}",
            data_y1=f"{y.high:.10g}",
            data_log="1" if y.log else None,
        )
        return tag(
            "svg",
            _axes(form, x, y) + domain + self._ends(series, x, y),
            viewBox=f"0 0 {form.width} {form.height}",
            role="img",
            aria_label=f"{self.title} against environment steps. {named}.",
            class_="drawing",
        )

    def _curves(self, place: int, one: Series, x: Scale, y: Scale) -> str:
        dash = DASHES[one.look.dash]
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        few = max(40, self.limit // 2) if len(one.thin) > 3 else self.limit
        seeds = "".join(
            f'<path class="seed" d="{line_path(line, x, y, few)}"/>' for line in one.thin
        )
        band = band_path(one.bold, x, y, self.limit)
        mean = line_path(Line(one.bold.x, one.bold.mean), x, y, self.limit)
        return (
            f'<g class="series c{one.look.colour}" data-series="{place}">'
            + (f'<path class="band" d="{band}"/>' if band else "")
            + f'{seeds}<path class="mean" d="{mean}"{dashed}/></g>'
        )

    def _ends(self, series: list[Series], x: Scale, y: Scale) -> str:
        """Markers at the ends of the curves and, where there is room, their names."""
        form = self.form
        at = [float(y(_last(one.bold.mean))) for one in series]
        found = []
        for place, (one, end) in enumerate(zip(series, at, strict=True)):
            across = form.left + float(x(one.bold.x[np.isfinite(one.bold.mean)][-1]))
            found.append(
                f'<path class="end c{one.look.colour}" data-series="{place}" '
                f'transform="translate({n(across)} {n(form.top + end)})" '
                f'd="{MARKERS[one.look.colour]}"/>'
            )
        labels = _end_labels(series, at) if form.right > 60 else []
        longest = (form.right - 12) // 7
        places = apart([end for end, _, _ in labels], 17, 6, form.inner[1] - 4)
        for place, (_, name, owner) in zip(places, labels, strict=True):
            owned = f' data-series="{owner}"' if owner is not None else ""
            found.append(
                f'<text class="direct"{owned} x="{form.width - form.right + 12}" '
                f'y="{n(form.top + place + 4)}">{escaped(shortened(name, longest))}</text>'
            )
        return f'<g class="ends">{"".join(found)}</g>'


def _axes(form: Form, x: Scale, y: Scale) -> str:
    width, height = form.inner
    rows = "".join(
        f'<path class="grid" d="M{form.left} {n(form.top + at)}h{width}"/>'
        f'<text x="{form.left - 7}" y="{n(form.top + at + 4)}" text-anchor="end">'
        f"{text.value(level)}</text>"
        for level in y.ticks(4)
        for at in [float(y(level))]
    )
    bottom = form.top + height
    columns = "".join(
        f'<text x="{n(form.left + float(x(place)))}" y="{bottom + 18}" text-anchor="middle">'
        f"{text.steps(place)}</text>"
        for place in x.ticks(5)
    )
    return (
        f'<g class="axes">{rows}<path class="base" d="M{form.left} {bottom}h{width}"/></g>'
        f'<g class="axes x-ticks">{columns}</g>'
        f'<text class="axis-name" x="{n(form.left + width / 2)}" y="{form.height - 5}" '
        f'text-anchor="middle">environment steps</text>'
    )


def _end_labels(series: list[Series], at: list[float]) -> list[tuple[float, str, int | None]]:
    """Where, what and whose: numbered lines that end within a few units share one label."""
    if any(one.number is None for one in series):
        names = [one.name for one in series]
        head = names[0].partition(" · ")[0]
        if len(names) > 1 and all(name.partition(" · ")[0] == head for name in names):
            names = [name.partition(" · ")[2] or name for name in names]
        return [(end, name, i) for i, (end, name) in enumerate(zip(at, names, strict=True))]
    together: list[list[int]] = []
    for place in sorted(range(len(at)), key=lambda i: at[i]):
        if together and at[place] - at[together[-1][-1]] < 5:
            together[-1].append(place)
        else:
            together.append([place])
    labels = []
    for members in together:
        middle = sum(at[i] for i in members) / len(members)
        numbers = sorted(series[i].number or 0 for i in members)
        labels.append((middle, ranges(numbers), members[0] if len(members) == 1 else None))
    return labels


def _legend(series: Sequence[Series]) -> str:
    """Buttons that the script brings to life; without it they are the key to the colours."""
    entries = "".join(
        tag(
            "li",
            f'<button type="button" disabled data-series="{place}" aria-pressed="true" '
            f'aria-label="{escaped(one.name, 90)}">{swatch(one.look)}<span>'
            f"{escaped(one.name if one.number is None else one.number, 90)}</span></button>",
        )
        for place, one in enumerate(series)
    )
    return tag("ul", entries, class_="legend")


def _last(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return float(known[-1]) if len(known) else float("nan")
