"""What a run shows while it is trained, in a terminal and in a pipe."""

import io
import re
import time
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from mppo.algorithm.methods import METHODS
from mppo.cli import progress
from mppo.cli.progress import MOST_PATHS, Progress, Shown, interesting, view


def shown(paths, picked=0, known=None, **more):
    """A run in the middle, with the last paths not tried yet."""
    picks = np.arange(1, paths + 1)
    picks[known if known is not None else paths :] = 0
    row = {
        "picked": picked,
        "steps": 370_000,
        "return_mean": 1234.5678,
        "performance": np.linspace(100, 900, paths, dtype=np.float32),
        "entropy": np.linspace(2, 1, paths, dtype=np.float32),
    }
    evaluation = {"mean_return": 1300.12, "mean_return_deterministic": 1450.77}
    start = Shown(1_000_000, paths, 370_000, 12_600.0, "collecting", 0.1, row, evaluation, picks)
    for name, value in more.items():
        setattr(start, name, value)
    return start


def drawn(what, width=80, **how):
    console = Console(record=True, width=width, force_terminal=True, file=io.StringIO())
    console.print(view(what, **how))
    return console.export_text()


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("paths", [1, 8, 64])
def test_the_display_fits(paths, width):
    text = drawn(shown(paths, known=paths - 1 if paths > 1 else None), width)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    assert len(text.splitlines()) <= 4 + MOST_PATHS
    assert "370,000 / 1,000,000 steps" in text
    assert "12,600/s" in text
    assert "50 s left" in text  # 630,000 steps
    assert "return 1234.6   evaluation 1300.1   most likely actions 1450.8" in text


def test_where_no_episode_ended_j_is_shown():
    what = shown(3, picked=1)
    what.row["return_mean"] = np.float32("nan")
    assert "left   J 500.000   evaluation 1300.1" in drawn(what)


def test_every_path_with_its_numbers():
    lines = drawn(shown(4, picked=2, known=3)).splitlines()[-4:]
    words = [line.replace("━", " ").split() for line in lines]
    assert words == [
        ["0", "1", "100.0", "2.000"],
        ["1", "2", "366.7", "1.667"],
        [">", "2", "3", "633.3", "1.333"],
        ["3", "0", "-", "1.000"],  # never rolled out: its J is not known
    ]
    assert [line.count("━") for line in lines] == [8, 16, 24, 0]


def test_of_many_paths_the_interesting_ones():
    """The one picked now, the best, the busiest; the rest in one line."""
    what = shown(64, picked=5, known=60)
    what.row["performance"][7] = 5000.0
    chosen = interesting(what)
    assert len(chosen) == MOST_PATHS - 1
    assert {5, 7, 59} <= set(chosen)
    assert max(chosen) == 59  # nothing that was never tried
    last = drawn(what).splitlines()[-1]
    others = sum(range(1, 61)) - sum(k + 1 for k in chosen)
    assert (
        last.split()
        == f"{others} by 55 others, J at most {what.row['performance'][52]:.1f}".split()
    )


def test_a_long_compilation_says_so():
    waiting = Shown(1000, 8, doing="compiling the update", doing_for=7.4)
    assert "compiling the update for 7 s; kept for the next run" in drawn(waiting)
    waiting.doing_for = 0.5
    assert "kept" not in drawn(waiting)


def test_terminals_without_unicode():
    assert drawn(shown(4), ascii_only=True).splitlines()[-1].count("#") == 24


def fake_run(iteration=0):
    method = METHODS["mp-trpo"]
    picks = np.zeros(method.paths, int)
    record = SimpleNamespace(picks=picks)
    return SimpleNamespace(
        method=method,
        task=SimpleNamespace(name="mppo/Maze-v0"),
        steps=20_000,
        seed=3,
        envs=5,
        steppers=(2, "thread"),
        iteration=iteration,
        iterations=4,
        doing="compiling the update",
        state=SimpleNamespace(population=SimpleNamespace(record=record)),
    )


def told(terminal, monkeypatch, wait=0.0):
    """What a whole run prints."""
    monkeypatch.setattr(progress, "LINE_EVERY", 0.0)
    monkeypatch.setattr(progress, "PATIENCE", 0.01 if wait else 60.0)
    file, run = io.StringIO(), fake_run()
    console = Console(file=file, force_terminal=terminal, width=80, color_system=None)
    with Progress(run, "mp-trpo", "runs/maze", console=console) as watching:  # type: ignore
        time.sleep(wait)
        watching.started -= 10
        watching.counted = (watching.started, 0)
        for n in range(4):
            row = shown(8, picked=n).row | {"steps": 5000 * (n + 1)}
            watching("iteration", row)
            run.iteration, run.doing = n + 1, "improving"
        watching("evaluation", {"mean_return": 0.5, "mean_return_deterministic": None})
    return file.getvalue(), watching


def test_plain_lines_in_a_pipe(monkeypatch):
    text, watching = told(False, monkeypatch)
    lines = text.splitlines()
    assert "\x1b" not in text
    assert max(map(len, lines)) <= 80
    assert lines[:4] == [
        "mp-trpo on mppo/Maze-v0, seed 3, 20,000 steps",
        "  directory  runs/maze",
        "  settings   8 paths, batches of 5,000 steps, 5 environments, 2 threads",
        "  changed    nothing",
    ]
    pattern = r" +5,000 steps +[\d,]+/s +[\d.]+ s left  path 0  return 1234.6"
    assert re.fullmatch(pattern, lines[4])
    assert lines[8].endswith("path 3  return 1234.6  evaluation 0.500")
    assert lines[9] == "finished in 10 s; next:"
    assert "  mppo evaluate runs/maze" in lines
    assert "  mppo video runs/maze --out clip.mp4" in lines
    assert watching.shown.picks.tolist() == [1, 1, 1, 1, 0, 0, 0, 0]


def test_compiling_does_not_slow_the_rate(monkeypatch):
    """Seconds that the first iteration takes are forgotten when time left is estimated."""
    clock = iter([0.0, 100.0, 101.0, 102.0, 103.0, 104.0, 105.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    watching = Progress(fake_run(), "mp-trpo", "runs/maze", quiet=True)  # type: ignore
    rates = []
    for n in range(3):
        watching("iteration", shown(8, picked=n).row | {"steps": 5000 * (n + 1)})
        rates.append(watching.shown.rate)
    assert rates == [50.0, 5000.0, 5000.0]


def test_a_long_compilation_is_a_line_in_a_pipe(monkeypatch):
    assert "compiling the update (once; kept" in told(False, monkeypatch, wait=0.2)[0]
    assert "compiling" not in told(False, monkeypatch)[0]


def test_a_terminal_gets_the_table(monkeypatch):
    text, _ = told(True, monkeypatch)
    assert "path  picked" in text
    assert "> 3" in text
    assert "done" in text


def test_no_color_is_respected(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    file = io.StringIO()
    Console(file=file, force_terminal=True, width=80).print(view(shown(8)))
    assert not re.search(r"\x1b\[[\d;]*(3|9)\dm", file.getvalue())


def test_settings_that_differ_are_named():
    from mppo.files.changes import changes
    from mppo.files.settings import overridden

    changed = {"picking": "best", "optimiser.max_kl": 0.02, "network.hidden": (8, 8), "paths": 3}
    found = changes("mp-trpo", overridden(METHODS["mp-trpo"], changed))
    assert found == [
        ("optimiser.max-kl", "0.02"),
        ("paths", "3"),
        ("picking", "best"),
        ("network.hidden", "8 8"),
    ]
