"""Tables of a page: results, time, runs, configuration."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mppo.files import changes
from mppo.report import text
from mppo.report.compare import Group, run_settings
from mppo.report.curve import interval
from mppo.report.ends import (
    Ending,
    best_return,
    counted,
    counts,
    ending,
    final_return,
    missing,
    same_point,
    steps_done,
)
from mppo.report.marks import Look, swatch
from mppo.report.read import RunRecord, column
from mppo.report.text import escaped, tag

Looks = dict[str, Look]
PHASES = ("simulation", "learning", "evaluation")


def table(head: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "") -> str:
    """A table of ready markup that scrolls in its own box; the first cell of a row names it."""
    top = "".join(tag("th", cell, scope="col") for cell in head)
    body = "".join(
        f"<tr>{tag('th', row[0], scope='row')}{''.join(tag('td', cell) for cell in row[1:])}</tr>"
        for row in rows
    )
    grid = f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    return tag("div", grid, class_=f"scroll {kind}".strip(), tabindex="0")


def named(group: Group, looks: Looks) -> str:
    """The configuration's name with its key."""
    return swatch(looks[group.label]) + tag("span", escaped(group.label, 90))


def results(groups: Sequence[Group], looks: Looks) -> str:
    """One row for each configuration: return at the end, with its interval, and every seed."""
    rows, unlike = [], not same_point(groups)
    for group in groups:
        found = ending(group)
        end = interval(found.returns)
        width = f"± {text.value(end.half_width, 2)}" if np.isfinite(end.half_width) else ""
        where = f" <small>{_at(found)}</small>" if unlike else ""
        seeds = " ".join(text.value(final) for final in np.sort(found.returns))
        lacking = f" <small>{missing(group)}</small>" if missing(group) else ""
        rows.append(
            [
                named(group, looks),
                counts(group, found) + lacking,
                f"<b>{text.value(end.estimate)}</b> {width}{where}",
                tag("span", seeds, class_="seeds"),
                text.value(max(best_return(run) for run in group.runs)),
            ]
        )
    return table(["", "runs", "return at the end", "each seed", "best"], rows, "results")


def _at(found: Ending) -> str:
    """Where the returns were taken."""
    return f"at {found.at:,.0f} steps" if len(found.returns) else ""


def standings(groups: Sequence[Group], looks: Looks) -> str:
    """The same as a short list, to stand beside a chart."""
    entries, unlike = [], not same_point(groups)
    for group in groups:
        found = ending(group)
        end = interval(found.returns)
        half = end.half_width
        width = f" <small>± {text.value(half, 2)}</small>" if np.isfinite(half) else ""
        seeds = " ".join(text.value(final) for final in np.sort(found.returns))
        count = f"{counts(group, found)} run{'s' * (len(group.runs) > 1)}"
        words = [f"{count}: {seeds}" if len(group.runs) > 1 else count, missing(group)]
        words += [_at(found)] if unlike else []
        entries.append(
            tag(
                "li",
                tag("span", named(group, looks), class_="name")
                + f"<b>{text.value(end.estimate)}{width}</b>"
                + tag("span", "; ".join(filter(None, words))),
            )
        )
    return tag("ul", "".join(entries), class_="tiles standings")


def seconds(run: RunRecord) -> np.ndarray:
    """Seconds of each phase."""
    return np.array([np.nansum(column(run.timing, phase)) for phase in PHASES])


def time(groups: Sequence[Group], looks: Looks, with_task: bool) -> str:
    """One bar for each configuration: the mean of its runs."""
    rows = []
    for group in groups:
        runs = [run for run in counted(group) if run.timing]
        if not runs:
            continue
        parts = np.mean([seconds(run) for run in runs], axis=0)
        total = float(parts.sum())
        rate = np.mean([steps_done(run) for run in runs]) / max(total, 1e-9)
        first = np.mean([sum(_first(run, phase) for phase in PHASES) for run in runs])
        name = named(group, looks)
        if with_task:
            name += tag("span", escaped(group.place, 90), class_="task")
        cells = [
            f"{text.duration(part)} <small>{text.share(part, total)}</small>"
            for part in parts.tolist()
        ]
        bar = _bar((parts / max(total, 1e-9)).tolist())
        rows.append(
            [
                name,
                bar,
                *cells,
                text.duration(total),
                text.value(float(rate)),
                text.duration(float(first)),
            ]
        )
    if not rows:
        return ""
    head = [
        "",
        "",
        *(f'<i class="phase t{i}"></i>{phase}' for i, phase in enumerate(PHASES)),
        "a run",
        "steps a second",
        "first iteration",
    ]
    return table(head, rows, "time")


def _first(run: RunRecord, phase: str) -> float:
    found = column(run.timing[:1], phase)
    return float(np.nansum(found))


def _bar(shares: list[float]) -> str:
    at, parts = 0.0, []
    for place, part in enumerate(shares):
        parts.append(f'<rect class="t{place}" x="{at:.2f}" width="{100 * part:.2f}" height="10"/>')
        at += 100 * part
    return (
        '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f"{''.join(parts)}</svg>"
    )


def runs(groups: Sequence[Group], looks: Looks, anchors: dict[str, str]) -> str:
    """Every run with its state."""
    rows = []
    for group in groups:
        for run in group.runs:
            final = run.evaluations[-1] if run.evaluations else {}
            certain = column([final], "mean_return_deterministic")[0]
            link = tag("a", escaped(run.name, 120), href=f"#{anchors[run.name]}")
            rows.append(
                [
                    link,
                    named(group, looks),
                    escaped(group.place, 90),
                    escaped(run.word("seed"), 20),
                    status(run),
                    text.steps(steps_done(run)),
                    text.value(final_return(run)),
                    text.value(float(certain)),
                    text.duration(float(seconds(run).sum())) if run.timing else "–",
                ]
            )
    head = ["run", "method", "task", "seed", "state", "steps", "return", "deterministic", "time"]
    return table(head, rows, "runs")


def status(run: RunRecord) -> str:
    """The state of a run as a badge."""
    return tag("span", run.status, class_=f"badge {run.status}")


def evaluations(run: RunRecord, most: int = 12) -> str:
    """The evaluations of one run, thinned evenly, the last one always there."""
    found = run.evaluations
    if not found:
        return ""
    chosen = np.unique(np.linspace(0, len(found) - 1, min(most, len(found))).round().astype(int))
    rows = []
    for place in chosen.tolist():
        row = found[place]
        given = row.get("returns")
        each = column([{"r": item} for item in given] if isinstance(given, list) else [], "r")
        known = each[np.isfinite(each)]
        spread = f"{text.value(known.min())} … {text.value(known.max())}" if len(known) else "–"
        rows.append(
            [
                text.steps(float(column([row], "steps")[0])),
                escaped(row.get("path", "–"), 20),
                text.value(float(column([row], "mean_return")[0])),
                spread,
                text.value(float(column([row], "mean_return_deterministic")[0])),
            ]
        )
    head = ["steps", "path", "mean return", "lowest … highest", "mean, deterministic"]
    return table(head, rows, "evaluations")


def differing(groups: Sequence[Group], looks: Looks) -> str:
    """What tells the configurations apart: one row for each, one column for each setting."""
    found: dict[tuple, tuple[Group, dict[str, str]]] = {}
    for group in groups:
        for run in group.runs:
            told = run_settings(run)
            found.setdefault((group.label, *sorted(told.items())), (group, told))
    names = changes.differing([told for _, told in found.values()])
    if not names:
        return ""
    rows: dict[tuple, list[str]] = {}
    for group, told in found.values():
        cells = tuple(told.get(name, "–") for name in names)
        shown = [tag("code", escaped(cell, 80)) for cell in cells]
        rows.setdefault((group.label, *cells), [named(group, looks), *shown])
    return table(["", *(escaped(name, 80) for name in names)], list(rows.values()), "differences")


def common(groups: Sequence[Group]) -> str:
    """The settings that all runs share, as a list in columns."""
    told = [run_settings(run) for group in groups for run in group.runs]
    unlike = {name for row in told for name in row if len({other.get(name) for other in told}) > 1}
    shared = {name: value for name, value in told[0].items() if name not in unlike}
    return _pairs(shared)


def versions(runs: Sequence[RunRecord]) -> str:
    """The packages behind the runs; several where they are not the same."""
    found: dict[str, dict[str, int]] = {}
    for run in runs:
        given = run.described.get("versions")
        for name, version in given.items() if isinstance(given, dict) else ():
            counts = found.setdefault(text.visible(name, 60), {})
            counts[text.visible(version, 60)] = counts.get(text.visible(version, 60), 0) + 1
    told = {
        name: ", ".join(
            version + (f" ({text.plural(count, 'run')})" if len(counts) > 1 else "")
            for version, count in counts.items()
        )
        for name, counts in found.items()
    }
    return _pairs(told)


def _pairs(told: dict[str, str]) -> str:
    rows = "".join(
        tag("div", tag("dt", escaped(name, 80)) + tag("dd", escaped(value, 200)))
        for name, value in told.items()
    )
    return tag("dl", rows, class_="pairs")
