"""The result as text for the terminal (80 columns) and as the page `docs/performance.md`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mppo.report.document import markdown_table

SIGN = {"at least": ">=", "at most": "<="}
HEADER = ["ratio", "median", "spread", "target", "met"]
TITLES = {
    "limit": "The limit",
    "rates": "Tasks, methods and cores",
    "cores": "One run on several cores",
    "peers": "Peers",
    "environments": "Environments",
    "robots": "Compiled robots",
    "workers": "Worker processes",
    "paths": "The number of paths K",
    "startup": "Start-up",
    "two-runs": "Two runs side by side",
    "memory": "Memory",
}
EXPLAINED = {
    "limit": "One process on one core trains, and right after each iteration lives through the "
    "same episodes with bare `mj_step`: the recorded actions from the recorded reset states, "
    "nothing else. All observations and the state at each episode's end are compared bit for bit. "
    "The ratio is the rate of training over that of bare physics.",
    "rates": "Whole iterations, updates included, evaluation off.",
    "cores": "The same run with one thread and with as many as there are cores, in turn, one "
    "iteration after the other in one process; both end with the same bits. Right after each "
    "iteration bare `mj_step` lives through its episodes with as many threads, in compiled code "
    "that does nothing else: what the machine gives to several threads in that moment. The update "
    "of a run stays on one core.",
    "peers": "Runs of the same number of steps, ours after theirs in each repetition.",
    "environments": "PPO with the paper's settings. On one core, in turn in one process, in CPU "
    "time (wall time where a step waits): whole iterations of training; collecting alone, policy "
    "included; Gymnasium's own `env.step` with random actions. Of environments that Python steps, "
    "collecting is compared with `env.step` of the same actions from the same seeds. On all cores, "
    "in wall time: training with a thread or worker process for each core, and a process of bare "
    "`env.step` on each core, side by side.",
    "robots": "`trpo --fast` on one core against bare `mj_step` of the same states and actions, "
    "iteration by iteration in one process; all that is seen is compared bit for bit.",
    "workers": "PPO with worker processes that step whole environments, against one such process.",
    "paths": "All steps of this task cost the same, so the difference is that of K alone. Peak "
    "memory is that of the whole process with a filled compilation cache; the C library is told "
    "to give large buffers back after each update, or peaks would vary by ten megabytes.",
    "startup": "Wall time of the whole command. The first iteration is `mppo train` for one batch.",
    "two-runs": "The same run (same seed, so the same work) once alone, then twice at a time, each "
    "pinned to a core; the clocks start together.",
    "memory": "Resident memory of the whole process, measured as above, beside the paper's "
    "Appendix C (whose numbers are of another implementation and machine: compare the growth "
    "with K).",
}


def number(value: Any) -> str:
    """Three digits or so; words as they are.

    >>> number(12345.6), number(10.04), number(1.0312), number("K"), number(None), number(64)
    ('12,346', '10.0', '1.031', 'K', '-', '64')
    """
    if value is None:
        return "-"
    if not isinstance(value, float):
        return str(value)
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}"


def cell(value: Any, wide: bool) -> str:
    """A spread as median and range, or in short as median and largest deviation.

    >>> rate = {"median": 200.0, "least": 190.0, "most": 204.0}
    >>> cell(rate, True), cell(rate, False)
    ('200 (190 to 204)', '200 ±5%')
    """
    if not isinstance(value, dict):
        return number(value)
    middle, least, most = value["median"], value["least"], value["most"]
    if wide:
        return f"{number(middle)} ({number(least)} to {number(most)})"
    return f"{number(middle)} ±{100 * max(most - middle, middle - least) / middle:.0f}%"


def ratio_rows(result: dict[str, Any]) -> tuple[list[list[str]], list[list[str]]]:
    """Rows of those with a target, and of the others."""
    judged, others = [], []
    for part in result["parts"].values():
        for ratio in part["ratios"]:
            target = ratio["target"]
            row = [ratio["what"], number(ratio["median"])]
            row.append(f"{number(ratio['least'])} to {number(ratio['most'])}")
            verdict = "n/a" if result["quick"] else "yes" if ratio["met"] else "NO"
            row += ["", ""] if target is None else [f"{SIGN[ratio['sense']]} {target:g}", verdict]
            (others if target is None else judged).append(row)
    return judged, others


def text(result: dict[str, Any]) -> str:
    """Ratios first, absolute numbers after; at most 80 columns."""
    judged, others = ratio_rows(result)
    lines = _machine_lines(result)
    if judged or others:
        lines += ["", *_aligned([HEADER, *judged, *others])]
    for part in result["parts"].values():
        for table in part["tables"]:
            rows = [[cell(value, False) for value in row] for row in table["rows"]]
            lines += ["", table["title"], *_aligned([table["columns"], *rows])]
    troubles = _troubles(result)
    return "\n".join([*lines, *([""] if troubles else []), *troubles]) + "\n"


def markdown(result: dict[str, Any]) -> str:
    """The page; every number on it comes from the result."""
    judged, others = ratio_rows(result)
    lines = ["# Performance", "", f"Generated by `{result['command']} --markdown FILE`"]
    lines[-1] += f" on {result['date']}; do not edit."
    if result["quick"]:
        lines += ["", "This was a smoke test (`--quick`): its numbers mean nothing."]
    lines += ["", *(f"- {line}" for line in _machine_lines(result))]
    if judged:
        lines += ["", "## Ratios with a target", "", *markdown_table(HEADER, judged)]
    for name, part in result["parts"].items():
        lines += ["", f"## {TITLES[name]}", "", EXPLAINED[name]]
        for table in part["tables"]:
            rows = [[cell(value, True) for value in row] for row in table["rows"]]
            lines += ["", f"{table['title']}:", "", *markdown_table(table["columns"], rows)]
        lines += [line for note in part.get("notes", []) for line in ("", note)]
    if others:
        table = markdown_table(HEADER[:3], [row[:3] for row in others])
        lines += ["", "## Further ratios", "", *table]
    troubles = _troubles(result)
    lines += ["", "## Not measured", "", *(f"- {line}" for line in troubles)] if troubles else []
    return "\n".join(lines) + "\n"


def _machine_lines(result: dict[str, Any]) -> list[str]:
    machine = result["machine"]
    versions = machine["versions"]
    named = ", ".join(f"{name} {versions[name]}" for name in ("python", "jax", "mujoco"))
    lines = [f"{machine['processor']}, {machine['cores']} cores", named]
    lines.append(f"{result['repetitions']} interleaved repetitions; median and range of ratios")
    if not machine["pinned"]:
        lines.append("processes cannot be pinned to a core on this system")
    if (load := machine["load_before"] or 0) > 0.5:
        lines.append(f"the machine was busy before it began (load {load}): measure again")
    if result["source_changed"]:
        lines.append("the code was edited in the meantime: measure again")
    return lines


def _troubles(result: dict[str, Any]) -> list[str]:
    parts = result["parts"].items()
    return [f"{n} {part['status']}: {part['reason']}" for n, part in parts if part["reason"]]


def _aligned(rows: Iterable[list[str]]) -> list[str]:
    """Columns two blanks apart, the first and those with words to the left, others to the right."""
    shown = [[number(value) for value in row] for row in rows]
    aligned: list[list[str]] = []
    for i, column in enumerate(zip(*shown, strict=True)):
        wordy = any(value[:1].isalpha() and value != "n/a" for value in column[1:])
        align, width = str.rjust if i and not wordy else str.ljust, max(map(len, column))
        aligned.append([align(value, width) for value in column])
    return ["  ".join(row).rstrip() for row in zip(*aligned, strict=True)]
