"""Runs that got unequally far are not averaged as if they had not.

Evaluation n of seed s, after 2,000 n steps, returned n + s: see tests/report/made.py.
"""

import re

import numpy as np
import pytest

from mppo.report import html
from mppo.report.compare import groups
from mppo.report.read import read
from mppo.report.results import averaged_runs, ending, notes
from tests.report.made import BATCH, described, write
from tests.report.parsed import Parsed
from tests.report.test_page import curve_of


def of_length(iterations, seed=0, name="mp-trpo", **changes):
    return described(name, seed, iterations=iterations, steps=iterations * BATCH, **changes)


def plot_end(page, title="Return"):
    """The steps at the right edge of a chart."""
    figure = next(part for part in page.split("<figure") if f"<h3>{title}</h3>" in part)
    return float(re.search(r'data-x1="([^"]*)"', figure).group(1))


def test_runs_of_unlike_budgets_are_apart(tmp_path):
    for seed in range(3):
        write(tmp_path / f"long-{seed}", of_length(20, seed))
    for seed in (30, 32):
        write(tmp_path / f"short-{seed}", of_length(10, seed), iterations=10)
    page = html([tmp_path])
    text = Parsed(page).text
    assert "<b>11 <small>± 2.5</small></b>" in page  # 10, 11, 12 after 20,000 steps
    assert "<b>36 <small>± 13</small></b>" in page  # 35 and 37 after 10,000: t = 12.706
    assert "MP-TRPO · 20,000 steps" in text
    assert "MP-TRPO · 10,000 steps" in text
    assert (
        "MP-TRPO on mppo/Maze-v0: runs of 10,000 and 20,000 steps are apart, and not averaged with "
        "each other" in text
    )
    ends = [curve_of(page, "Return", place)[-1] for place in (0, 1)]
    assert ends == [pytest.approx((10_000, 36), rel=0.01), pytest.approx((20_000, 11), rel=0.01)]


def test_a_budget_is_named_only_where_a_task_has_several(tmp_path):
    """The same method for longer on another task is still the same method."""
    runs = [of_length(20), of_length(10, env="Hopper-v5")]
    found = [read(write(tmp_path / str(n), run), str(n)) for n, run in enumerate(runs)]
    assert [group.label for group in groups(found)] == ["MP-TRPO", "MP-TRPO"]
    assert notes(groups(found)) == []
    text = Parsed(html([tmp_path])).text
    assert "10,000 steps" not in text


def test_steps_that_are_the_same_batches_are_the_same_budget(tmp_path):
    runs = [of_length(20), {**of_length(20, 1), "steps": 19_001}]
    found = [read(write(tmp_path / str(n), run), str(n)) for n, run in enumerate(runs)]
    assert [len(group.runs) for group in groups(found)] == [2]


def test_unfinished_runs_are_shown_beside_the_mean_of_the_finished(tmp_path):
    for seed in range(3):
        write(tmp_path / f"run-{seed}", of_length(20, seed))
    killed = write(tmp_path / "run-30", of_length(20, 30), iterations=6, final=False)
    page = html([tmp_path])
    text = Parsed(page).text
    assert "<b>11 <small>± 2.5</small></b>" in page
    assert "3 of 4 runs: 10 11 12; 1 not at the end" in text
    assert (
        "MP-TRPO on mppo/Maze-v0: mean and interval are those of the 3 that came to the end; "
        "1 that did not is shown, and not averaged" in text
    )
    hero = page.split("</figure>")[0]
    assert hero.count('class="seed"') == 4
    drawn = curve_of(page, "Return")
    assert [value for _, value in drawn] == pytest.approx([n + 1 for n in range(1, 11)], abs=0.05)
    batches = curve_of(page, "Return of the training batches")
    assert batches[0][1] == pytest.approx(1.0, abs=0.05)  # seeds 0, 1, 2 alone
    (killed / "final.json").write_text("{}")  # had a callback stopped it there, it would count
    page = html([tmp_path])
    assert "averaged at 6,000 steps, the last that all 4 runs reached; 3 went further" in page


def test_runs_under_way_are_compared_where_all_have_been(tmp_path):
    for seed, iterations in ((0, 12), (1, 6), (2, 8)):
        write(tmp_path / str(seed), of_length(20, seed), iterations=iterations, final=False)
    page = html([tmp_path])
    text = Parsed(page).text
    assert "<b>4 <small>± 2.5</small></b>" in page  # evaluation 3 of each: 3, 4, 5
    assert "3 runs: 3 4 5; 3 not at the end; at 6,000 steps" in text
    assert "averaged at 6,000 steps, the last that all 3 runs reached; 2 went further" in text
    drawn = curve_of(page, "Return")
    assert drawn[-1] == pytest.approx((6_000, 4.0), rel=0.01)  # the mean ends there,
    assert plot_end(page) == 12_000  # and each seed goes on
    assert "as far as all of them reach" in text


def test_stopped_early_they_are_compared_where_all_have_been(tmp_path):
    for seed, iterations in ((0, 20), (1, 8)):
        write(tmp_path / str(seed), of_length(20, seed), iterations=iterations)
    (group,) = groups([read(tmp_path / name, name) for name in ("0", "1")])
    found = ending(group)
    assert (found.at, found.further, found.beside) == (8_000, 1, ())
    assert found.returns.tolist() == [4.0, 5.0]


def test_the_last_tenth_is_that_of_the_common_part(tmp_path):
    for seed, iterations in ((0, 60), (1, 80)):
        write(tmp_path / str(seed), of_length(80, seed), iterations=iterations)
    (group,) = groups([read(tmp_path / name, name) for name in ("0", "1")])
    found = ending(group)  # 30 evaluations each: the last three
    assert found.at == 60_000
    assert found.returns.tolist() == [29.0, 30.0]


def test_returns_of_batches_are_not_averaged_with_evaluations(tmp_path):
    write(tmp_path / "0", of_length(20, 0))
    silent = write(tmp_path / "1", of_length(20, 1))
    (silent / "evaluations.jsonl").write_text("")
    (group,) = groups([read(tmp_path / name, name) for name in ("0", "1")])
    assert ending(group).returns.tolist() == [10.0]
    assert notes([group]) == ["MP-TRPO on mppo/Maze-v0: 1 without returns to average"]
    (tmp_path / "0" / "evaluations.jsonl").write_text("")
    (group,) = groups([read(tmp_path / name, name) for name in ("0", "1")])
    np.testing.assert_allclose(ending(group).returns, [1.85, 2.85])  # batches 18 and 19 of each


def test_runs_that_have_just_begun_hold_nobody_back(tmp_path):
    for seed, iterations in ((0, 4), (1, 6), (2, 0)):
        write(tmp_path / str(seed), of_length(20, seed), iterations=iterations, final=False)
    (group,) = groups([read(tmp_path / name, name) for name in "012"])
    found = ending(group)
    assert (found.at, found.returns.tolist()) == (4_000, [2.0, 3.0])
    assert notes([group]) == [
        "MP-TRPO on mppo/Maze-v0: 1 without returns to average",
        "MP-TRPO on mppo/Maze-v0: averaged at 4,000 steps, the last that all 2 runs reached; 1 "
        "went further",
    ]
    (alone,) = groups([read(tmp_path / "2", "2")])
    assert notes([alone]) == []
    assert "No episode ended yet" in html([tmp_path / "2"])


def test_methods_that_got_unequally_far_say_how_far(tmp_path):
    write(tmp_path / "mp", of_length(20))
    write(tmp_path / "trpo", of_length(10, name="trpo"), paths=1, iterations=10)
    text = Parsed(html([tmp_path])).text
    assert "1 run; at 20,000 steps" in text
    assert "1 run; at 10,000 steps" in text
    write(tmp_path / "trpo-again", of_length(20, name="trpo"), paths=1)
    for folder in ("mp", "trpo-again"):
        assert "at 20,000 steps" not in Parsed(html([tmp_path / folder])).text


def test_a_table_of_many_configurations_says_it_too(tmp_path):
    names = ["trpo", "mp-trpo", "multi-trpo", "ppo", "mp-ppo", "multi-ppo"]
    for name in names:
        write(tmp_path / f"{name}-0", of_length(20, 0, name))
        write(tmp_path / f"{name}-1", of_length(20, 30, name), iterations=6, final=False)
    write(tmp_path / "trpo-2", of_length(20, 2, "trpo"), iterations=8)
    page = html([tmp_path])
    results = re.search(r'<div class="scroll results".*?</table>', page, re.S).group()
    rows = re.findall(r"<tr>.*?</tr>", results, re.S)[1:]
    assert len(rows) == 6
    assert "<td>2 of 3 <small>1 not at the end</small></td>" in rows[0]
    assert "<b>5</b> ± 13 <small>at 8,000 steps</small>" in rows[0]  # 4 and 6
    assert "<td>1 of 2 <small>1 not at the end</small></td>" in rows[1]
    assert "<b>10</b>  <small>at 20,000 steps</small>" in rows[1]


def test_times_are_those_of_whole_runs(tmp_path):
    write(tmp_path / "0", of_length(20, 0))
    short = write(tmp_path / "1", of_length(20, 1), iterations=6, final=False)
    (short / "timing.jsonl").write_text('{"simulation": 1000, "learning": 0, "evaluation": 0}\n')
    found = groups([read(tmp_path / name, name) for name in ("0", "1")])
    assert [run.name for run in averaged_runs(found[0])] == ["0"]
    page = html([tmp_path])
    time = re.search(r'<div class="scroll time".*?</table>', page, re.S).group()
    assert "<td>20 s</td><td>1,000</td>" in time  # 20,000 steps in 20 seconds


def test_what_is_in_another_wrapper_is_another_task(tmp_path):
    inside = {"wrappers": ["mine.wraps:Halved", "gymnasium.wrappers.common:TimeLimit(n=9)"]}
    for n, run in enumerate([of_length(20), of_length(20, 1, **inside)]):
        write(tmp_path / str(n), run)
    found = groups([read(tmp_path / name, name) for name in ("0", "1")])
    assert [group.task for group in found] == [
        "mppo/Maze-v0",
        "mppo/Maze-v0 in mine.wraps:Halved, gymnasium.wrappers.common:TimeLimit(n=9)",
    ]
