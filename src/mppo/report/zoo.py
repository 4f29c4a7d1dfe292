"""The page of the tuned settings: our returns beside those that others publish."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, stdev

from mppo.files.tuned import NOT_MEASURED, Published, Tuned, published, settings_line, short, shown
from mppo.report.document import Document, Section

TITLE = "The zoo: our returns beside published ones"
INTRODUCTION = (
    "Written by `mppo zoo page --out docs/results/zoo.md` from the package's `tuned.toml` and "
    "`published.toml`; no number is typed in here. Ours are the final scores of seeds from 0 (the "
    "mean of the last tenth of 20 evaluations of 20 episodes), as mean, standard deviation of the "
    "seeds and number of seeds.",
    "Theirs are as published: one run and the deviation of its episodes (RL Baselines3 Zoo), or "
    "the mean and deviation of several seeds. The task that they ran is named: many are earlier "
    "versions. The verdict compares means with actions of the same kind: level is less than 1 % "
    "below or above.",
)


def page(entries: Sequence[Tuned]) -> Document:
    """The whole page."""
    summary = Section("What this is", INTRODUCTION)
    tables = (_exceptions(entries), _ours(entries), _theirs(entries), _settings(entries))
    return Document(TITLE, [summary, *tables])


def mean_and_deviation(values: Sequence[float]) -> str:
    """Of the seeds.

    >>> mean_and_deviation([1.0, 3.0]), mean_and_deviation([5.0])
    ('2.00 ± 1.41 (2)', '5.00 (1)')
    """
    if not values:
        return NOT_MEASURED
    mean = fmean(values)
    deviation = f" ± {shown(stdev(values), mean)}" if len(values) > 1 else ""
    return f"{shown(mean)}{deviation} ({len(values)})"


def said(one: Published) -> str:
    """One published number in a line.

    >>> from mppo.files.tuned import find
    >>> said(published(find("trpo", "Swimmer-v5"))[1])
    'sb3-contrib: 359.0 ± 2.0, Swimmer-v3, 1,000,000 steps, 3 seeds'
    """
    runs = f"{one.seeds} seeds" if one.seeds > 1 else "1 run"
    mean = f"{shown(one.mean)} ± {shown(one.deviation, one.mean)}"
    return f"{one.peer}: {mean}, {one.task}, {one.steps:,} steps, {runs}"


def _exceptions(entries: Sequence[Tuned]) -> Section:
    """Where ours are lower."""
    rows = [
        {"task": one.id, "method": one.method, "peer": said(other), "gap": other.verdict(one)}
        for one in entries
        for other in published(one)
        if other.verdict(one).startswith("below")
    ]
    unmeasured = [f"{one.method} on {one.id}" for one in entries if not one.returns]
    text = [f"Not measured yet: {', '.join(unmeasured)}."] if unmeasured else []
    text.append("Lower than published:" if rows else "Every measured entry is level or above.")
    return Section.of_rows("Exceptions", text, rows)


def _ours(entries: Sequence[Tuned]) -> Section:
    rows = [
        {
            "task": one.id,
            "method": one.method,
            "steps": f"{one.steps:,}",
            "return": mean_and_deviation(one.returns),
            "most likely actions": mean_and_deviation(one.deterministic),
            "seconds": f"{one.seconds:.0f}" if one.returns else "-",
            "command": f"`{one.command}`",
        }
        for one in entries
    ]
    text = ["Seconds are those of one run, with its evaluations, on two shared cores."]
    return Section.of_rows("Ours", text, rows)


def _theirs(entries: Sequence[Tuned]) -> Section:
    rows = [
        {
            "task": one.id,
            "method": one.method,
            "published": said(other),
            "actions": other.actions,
            "ours": NOT_MEASURED if (ours := other.beside(one)) is None else shown(ours),
            "verdict": other.verdict(one),
            "source": other.source,
        }
        for one in entries
        for other in published(one)
    ]
    silent = sorted({short(one.env) for one in entries if not published(one)})
    text = [f"Some have no published number for one of the methods: {', '.join(silent)}."]
    return Section.of_rows("Beside published ones", text if silent else [], rows)


def _settings(entries: Sequence[Tuned]) -> Section:
    rows = [
        {"task": one.id, "method": one.method, "settings": settings_line(one), "from": one.source}
        for one in entries
    ]
    return Section.of_rows("Settings", (), rows)
