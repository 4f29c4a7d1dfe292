"""The page of table 1 from run directories: numbers worked by hand, orders, gaps, equal bytes."""

import csv
import html.parser
import io
import shutil

import numpy as np

from mppo.paper.cells import Reproduction, Runs
from mppo.paper.make import table
from mppo.paper.printed import TABLE_1
from mppo.paper.returns import against_each, interquartile
from tests.paper.synthetic import rows_of, write_run


def test_a_row_is_worked_by_hand(grid, page):
    finals = Runs(grid).cell("SparseCartPoleSwingup", "trpo", 1_000_000).finals
    (row,) = [
        row
        for row in rows_of(page, "Panel B: what we claim")
        if (row["task"], row["method"]) == ("SparseCartPoleSwingup", "TRPO")
    ]
    half = 2.570582 * np.std(finals, ddof=1) / np.sqrt(6)
    mean = np.mean(finals)
    assert row["mean [95 %]"] == f"{mean:.2f} [{mean - half:.2f}, {mean + half:.2f}]"
    assert row["each seed"] == " ".join(f"{value:.2f}" for value in finals)
    assert (row["seeds"], row["steps"], row["paper"]) == ("6", "1M", "238.88")
    assert row["verdict"] == "reproduced"


def test_the_paper_s_panel_has_its_kind_of_bracket(grid, page):
    (row,) = [
        row
        for row in rows_of(page, "Panel A: as in the paper")
        if row["task"] == "SparseCartPoleSwingup"
    ]
    finals = Runs(grid).cell("SparseCartPoleSwingup", "mp-trpo", 1_000_000).finals
    bracket = 0.7266868 * np.std(finals, ddof=1) / np.sqrt(6)
    expected = f"{np.mean(finals):.2f} ({bracket:.2f})<br>paper 320.47 (14.48)"
    assert row["MP-TRPO"] == expected


def test_gaps_are_shown_with_the_command_that_fills_them(grid, page):
    cells = {(row["task"], row["method"]): row for row in rows_of(page, "Panel B: what we claim")}
    run = [task for task in TABLE_1.rows if (task, "TRPO") in cells]
    assert len(cells) == 7 * len(run) + (8 - len(run))
    assert cells["Ant", "all"]["verdict"] == "missing"
    hopper = cells["SparseHopper", "MP-TRPO"]
    assert hopper["seeds"] == "3, 1 unfinished"
    assert hopper["verdict"] == "not resolved at 3 seeds: 1,000,000 of 2,000,000 steps"
    assert cells["SparseHopper", "TRPO"]["verdict"] == "missing"
    methods = " ".join(TABLE_1.methods)
    assert (
        f"mppo paper run table-1 --tasks SparseHopper --methods {methods} --seeds 6 "
        f"--steps 1000000 --out {grid}" in page
    )
    assert "--tasks SparseCartPoleSwingup" not in page
    assert "Left out for other settings: trpo on SparseHopper with gamma = 0.9." in page
    assert "Left out: torn: run.json:" in page


def test_the_same_bytes_twice_and_from_a_copy_in_another_order(grid, page, tmp_path):
    assert table("table-1", grid) == page
    copy = tmp_path / "copy"
    for i, run in enumerate(sorted((grid / "runs").iterdir(), reverse=True)):
        shutil.copytree(run, copy / "runs" / (run.name if run.name == "torn" else f"{i:03d}"))
    moved = table("table-1", copy).replace(str(copy), str(grid))
    assert moved == page


def test_csv_reads_back_and_no_cell_is_a_formula(grid):
    blocks = table("table-1", grid, "csv").split("\n\n")
    rows = list(csv.DictReader(io.StringIO(blocks[1])))
    assert {row["task"] for row in rows} == set(TABLE_1.rows)
    assert rows[0]["panel"] == "Panel B: what we claim"
    for block in blocks:
        for row in csv.reader(io.StringIO(block)):
            for cell in row:
                if cell.startswith(("=", "+", "-", "@")) and cell != "-":
                    float(cell)


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)


def test_html_is_whole_and_runs_nothing(grid):
    page = table("table-1", grid, "html")
    tags = Tags()
    tags.feed(page)
    assert tags.seen.count("tr") > 40
    assert not {"script", "img", "link", "iframe", "a"} & set(tags.seen)
    assert "http:" not in page
    assert "https:" not in page


def test_earlier_budgets_are_read_off_longer_runs(tmp_path):
    for seed in range(2):
        write_run(tmp_path, "SparseHopper", "mp-trpo", seed, 300.0, 2_000_000, every=50_000)
    # unfinished, but past 1M: it counts there and not at 2M
    write_run(
        tmp_path, "SparseHopper", "mp-trpo", 2, 300.0, 2_000_000, 50_000, finished=False, done=0.6
    )
    rows = rows_of(table("table-1", tmp_path), "Earlier in the same runs")
    assert [(row["steps"], row["seeds"]) for row in rows] == [("0.5M", "3"), ("1M", "3")]


def test_an_empty_directory_gives_a_table_of_gaps(tmp_path):
    page = table("table-2", tmp_path)
    assert page.count("| missing |") == 8 + 6
    assert page.count("mppo paper run table-2") == 8


def test_orders_and_claims_follow_from_the_runs(page):
    orders = rows_of(page, "MP-TRPO against each baseline")
    assert {row["task"] for row in orders} == {"SparseCartPoleSwingup"}
    assert {row["P [95 %]"] for row in orders} == {"1.00 [1.00, 1.00]"}
    assert {row["verdict on the order"] for row in orders} == {"reproduced"}
    claims = rows_of(page, "Claims over the task set")
    assert len(claims) == 10
    first = claims[0]
    assert first["tasks"] == "1 of 8"
    assert first["verdict"] == "reproduced (on 1 of 8 tasks)"
    assert "seed 20191104" in page


def test_a_tie_in_the_paper_is_no_order(tmp_path):
    for seed in range(4):
        write_run(tmp_path, "SparseDoublePendulum", "mp-trpo", seed, 1.0)
        write_run(tmp_path, "SparseDoublePendulum", "trpo", seed, 0.5)
    section = against_each(Reproduction(TABLE_1, Runs(tmp_path), tmp_path))
    assert section is not None
    (row,) = section.rows
    assert row[:3] == ["SparseDoublePendulum", "TRPO", "4 and 4"]
    assert row[-3:] == ["+0.00", "-", "a tie in the paper"]


def test_the_middle_mean_is_of_tasks_that_all_methods_have(grid, tmp_path):
    section = interquartile(Reproduction(TABLE_1, Runs(grid), grid))
    assert section is not None
    assert "Tasks that all of these methods have: 1." in section.text[0]
    assert "(SparseCartPoleSwingup 320.47)" in section.text[0]
    middle = {row[0]: float(row[1].split()[0]) for row in section.rows}
    assert abs(middle["MP-TRPO"] - 1) < 0.03  # 320.47 with some noise over 320.47
    assert interquartile(Reproduction(TABLE_1, Runs(tmp_path), tmp_path)) is None
