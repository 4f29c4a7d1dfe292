"""One self-contained page for one run or many: no server, no network, no code from a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mppo.errors import BadRequest
from mppo.report import diagnostics, ends, read, repeat, tables, text
from mppo.report.charts import Form
from mppo.report.compare import Group, groups, repeated
from mppo.report.marks import Look, looks
from mppo.report.paths import picking
from mppo.report.read import RunRecord
from mppo.report.shell import document
from mppo.report.style import DISPLAY
from mppo.report.text import escaped, tag
from mppo.report.visits import Maze, group_maps

_POINTS = 400  # of a curve, in a report of few runs
_BYTES = 2_500_000  # that the curves of a large report may take together
_MAPS = 24  # runs whose visits are drawn path by path
_OPEN = 3  # runs whose details are open at first
_BESIDE = 5  # configurations whose numbers stand beside the chart
_HERO = 2  # tasks that get a large chart each
_CARD = Form(560, 304, 52, 20, 12, 46, "card")


def html(directories: Sequence[str | Path], title: str | None = None) -> str:
    """The report of all runs in and below the directories, as the text of one HTML file.

    The same files give the same bytes.
    """
    runs, problems = [], []
    for path, name in read.find(directories):
        try:
            runs.append(read.read(path, name))
        except BadRequest as error:
            problems.append(str(error))
    if not runs:
        raise BadRequest(f"no run can be read: {problems[0]}")
    return Page(runs, problems, title).html()


class Page:
    """The parts of a report, in the order in which they are read."""

    groups: list[Group]
    runs: list[RunRecord]
    tasks: list[str]
    problems: list[str]
    title: str
    looks: dict[str, Look]
    anchors: dict[str, str]
    points: int

    def __init__(self, runs: list[RunRecord], problems: list[str], title: str | None):
        self.groups = groups(runs)
        self.runs = [run for group in self.groups for run in group.runs]
        self.tasks = list(dict.fromkeys(group.task for group in self.groups))
        self.problems = [*problems, *repeated(self.groups), *ends.notes(self.groups)]
        self.title = title or self._title()
        self.looks = looks({group.label: group.method_name for group in self.groups})
        self.anchors = {run.name: f"run-{place}" for place, run in enumerate(self.runs)}
        curves = sum(2 * run.paths + len(diagnostics.MEASURES) + 4 for run in self.runs)
        self.points = max(40, min(_POINTS, _BYTES // (11 * max(curves, 1))))

    def html(self) -> str:
        """The whole file."""
        sections = (
            ("results", "Results", self._results()),
            ("paths", "Paths", self._single() if len(self.runs) == 1 else ""),
            ("training", "Training", self._training()),
            ("time", "Time", self._time()),
            ("runs", "Runs", self._runs() if len(self.runs) > 1 else ""),
            ("configuration", "Configuration", self._configuration()),
        )
        there = [section for section in sections if section[2]]
        links = "".join(tag("a", name, href=f"#{place}") for place, name, _ in there)
        body = "".join(
            tag("section", tag("h2", name) + content, id=place) for place, name, content in there
        )
        return document(self.title, self._header(links), self._trouble() + body)

    def _title(self) -> str:
        labels = list(dict.fromkeys(group.label for group in self.groups))
        named = list(dict.fromkeys(DISPLAY.get(g.method_name, g.method_name) for g in self.groups))
        methods = ", ".join(named) if len(named) <= 3 else text.plural(len(named), "method")
        if len(labels) == 1:
            methods = labels[0]
        elif len(labels) > len(named):
            methods += f" in {len(labels)} configurations"
        tasks = self.tasks[0] if len(self.tasks) == 1 else text.plural(len(self.tasks), "task")
        return f"{methods} on {tasks.removeprefix('mppo/')}"

    def _header(self, links: str) -> str:
        states: dict[str, int] = {}
        for run in self.runs:
            states[run.status] = states.get(run.status, 0) + 1
        badges = "".join(
            tag(
                "span", f"{count} {state}" if len(self.runs) > 1 else state, class_=f"badge {state}"
            )
            for state, count in states.items()
        )
        done = [ends.steps_done(run) for run in self.runs]
        same = len(set(done)) == 1
        length = f"{text.steps(max(done))} steps" + ("" if len(done) == 1 else " each")
        facts = [
            f"seed {escaped(self.runs[0].word('seed'), 20)}"
            if len(self.runs) == 1
            else text.plural(len(self.runs), "run"),
            length if same else f"{text.steps(min(done))} to {text.steps(max(done))} steps",
        ]
        if len(self.runs) == 1:
            facts.append(escaped(self.runs[0].name, 120))
        return tag(
            "header",
            tag("h1", escaped(self.title, 200))
            + tag("p", " · ".join(facts) + f" {badges}", class_="facts")
            + tag("nav", links, aria_label="Sections"),
        )

    def _trouble(self) -> str:
        """What went wrong, before anything else."""
        lines = [tag("li", escaped(problem, 600)) for problem in self.problems]
        for run in self.runs:
            if not run.ended:
                kept = "".join(
                    f" Kept: {tag('code', escaped(f'fault/{name}', 80))}."
                    for name in run.fault_files[:4]
                )
                link = tag("a", escaped(run.name, 120), href=f"#{self.anchors[run.name]}")
                lines.append(
                    tag("li", f"{tables.status(run)} {link}: {escaped(run.message, 2000)}.{kept}")
                )
            lines += [tag("li", f"{escaped(run.name, 120)}: {escaped(note)}") for note in run.notes]
        return tag("aside", tag("h2", "To be noted") + tag("ul", "".join(lines))) if lines else ""

    def _results(self) -> str:
        by_task = [(task, [g for g in self.groups if g.task == task]) for task in self.tasks]
        if len(self.runs) == 1:
            return self._hero(*by_task[0], self._tiles(self.runs[0]))
        if len(by_task) <= _HERO:
            return "".join(self._compared(task, found) for task, found in by_task)
        cards = "".join(
            diagnostics.learning_curve(
                found, self.looks, found[0].place, self.points, _CARD
            ).figure()
            for _, found in by_task
        )
        rows = "".join(
            tag("h3", escaped(found[0].place)) + tables.results(found, self.looks)
            for task, found in by_task
        )
        return tag("div", cards, class_="cards") + rows + tag("p", _HOW, class_="hint")

    def _compared(self, task: str, found: list[Group]) -> str:
        """The large chart of a task with the numbers beside it, or below where they are many."""
        beside = len(found) <= _BESIDE
        numbers = tables.standings(found, self.looks) if beside else ""
        below = "" if beside else tables.results(found, self.looks)
        hint = tag("p", _HOW, class_="hint")
        return self._hero(task, found, numbers) + below + hint + group_maps(found)

    def _hero(self, task: str, found: list[Group], beside: str) -> str:
        title = "Return" if len(self.tasks) == 1 else found[0].place
        figure = diagnostics.learning_curve(found, self.looks, title, self.points).figure()
        figure = figure or tag("p", "No episode ended yet: there is no return to show.")
        return tag("div", beside + figure, class_="hero") if beside else figure

    def _tiles(self, run: RunRecord) -> str:
        total = float(tables.seconds(run).sum())
        tiles = [
            (text.value(ends.final_return(run)), "return at the end"),
            (text.value(ends.best_return(run)), "best"),
            (text.steps(ends.steps_done(run)), "environment steps"),
        ]
        if run.timing:
            rate = text.value(ends.steps_done(run) / max(total, 1e-9))
            tiles.append((text.duration(total), f"{rate} steps a second"))
        if run.paths > 1:
            tiles.append((str(run.paths), "paths"))
        shown = "".join(tag("li", tag("b", number) + tag("span", name)) for number, name in tiles)
        return tag("ul", shown, class_="tiles")

    def _training(self) -> str:
        parts = []
        for task in self.tasks:
            found = [group for group in self.groups if group.task == task]
            charts = diagnostics.training(found, self.looks, self.points)
            figures = "".join(chart.figure() for chart in charts)
            if not figures:
                continue
            content = tag("div", figures, class_="cards three")
            if len(self.tasks) > 1:
                several = len(self.tasks) > _HERO
                content = _folded(escaped(found[0].place), content, open_at_first=not several)
            parts.append(content)
        return "".join(parts)

    def _single(self) -> str:
        return self._drawings(self.runs[0], with_maps=True)

    def _drawings(self, run: RunRecord, with_maps: bool) -> str:
        charts = [chart.figure() for chart in diagnostics.path_charts(run, self.points)]
        maze = Maze(run)
        maps = maze.maps() if maze and with_maps else ""
        pair = tag("div", "".join(charts), class_="cards") if any(charts) else ""
        return picking(run) + pair + maps

    def _runs(self) -> str:
        with_maps = len(self.runs) <= _MAPS
        folded = "".join(
            _folded(
                f"{tables.named(group, self.looks)} <span>{escaped(group.place, 90)}, "
                f"seed {escaped(run.word('seed'), 20)}</span> {tables.status(run)}",
                self._details(run, with_maps),
                len(self.runs) <= _OPEN,
                self.anchors[run.name],
            )
            for group in self.groups
            for run in group.runs
        )
        return tables.runs(self.groups, self.looks, self.anchors) + folded

    def _details(self, run: RunRecord, with_maps: bool) -> str:
        message = tag("p", escaped(run.message, 2000)) if run.message else ""
        return (
            tag("p", tag("code", escaped(run.name, 200)))
            + message
            + self._drawings(run, with_maps)
            + self._evaluations(run)
            + repeat.section(run)
        )

    def _evaluations(self, run: RunRecord) -> str:
        found = tables.evaluations(run)
        return _folded("Evaluations", found, False) if found else ""

    def _time(self) -> str:
        found = tables.time(self.groups, self.looks, len(self.tasks) > 1)
        hint = (
            "Mean of the runs that came to their end (of all, where none did). The first iteration "
            "includes compilation."
        )
        return found + tag("p", hint, class_="hint") if found else ""

    def _configuration(self) -> str:
        differ = tables.differing(self.groups, self.looks)
        single = len(self.runs) == 1
        parts = []
        if differ:
            parts += [tag("h3", "What differs"), differ]
        if single:
            run = self.runs[0]
            parts += [repeat.section(run), self._evaluations(run)]
        shared = "All settings" if single else "What all runs share"
        parts += [_folded(shared, tables.common(self.groups), single)]
        parts += [_folded("Versions", tables.versions(self.runs), single)]
        return "".join(parts)


_HOW = (
    "Return at the end: mean of the last tenth of the evaluations of each run (of its batches, if "
    "none were made); ±: 95 % t interval of the mean over seeds. Seeds are sorted. Averaged are "
    "runs of one budget that came to their end (all, where none did), at the last step that all of "
    "them reached; others are shown beside."
)


def _folded(summary: str, content: str, open_at_first: bool, anchor: str | None = None) -> str:
    place = f' id="{anchor}"' if anchor else ""
    start = f"<details{place} open>" if open_at_first else f"<details{place}>"
    return f"{start}<summary>{summary}</summary>{content}</details>"
