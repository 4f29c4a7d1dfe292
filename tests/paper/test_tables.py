"""Tables from run directories: numbers worked by hand, all formats, the same bytes twice."""

import csv
import html.parser
import io
import json
import shutil

import numpy as np
import pytest

from mppo.errors import BadRequest
from mppo.paper.cells import Runs, changes, curve, default_budget
from mppo.paper.printed import TABLE_1
from mppo.paper.tables import table
from tests.paper.synthetic import write_run


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """Two tasks of table 1: one complete with the paper's values, one with gaps."""
    root = tmp_path_factory.mktemp("grid")
    rng = np.random.default_rng(0)
    for method in TABLE_1.methods:
        value = TABLE_1.value("SparseCartPoleSwingup", method)
        for seed in range(6):
            level = value.mean + 5 * rng.standard_normal()
            write_run(root, "SparseCartPoleSwingup", method, seed, level, 1_000_000, every=50_000)
    for seed in range(3):
        write_run(root, "SparseHopper", "mp-trpo", seed, 300.0, 1_000_000, every=50_000)
    write_run(
        root, "SparseHopper", "mp-trpo", 3, 300.0, 1_000_000, 50_000, finished=False, done=0.5
    )
    write_run(root, "SparseHopper", "trpo", 0, 5.0, 1_000_000, 50_000, changes={"gamma": 0.9})
    (root / "runs" / "torn").mkdir()
    (root / "runs" / "torn" / "run.json").write_text("<script>alert(1)</script>")
    return root


@pytest.fixture(scope="module")
def page(grid):
    return table("table-1", grid)


def rows_of(page, heading):
    """The table below a heading, as dictionaries."""
    part = page.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    head, _, *body = [[cell.strip() for cell in line[1:-1].split(" | ")] for line in lines]
    return [dict(zip(head, row, strict=True)) for row in body]


def test_a_cell_is_worked_by_hand(grid, page):
    cell = Runs(grid).cell("SparseCartPoleSwingup", "trpo", 1_000_000)
    finals = []
    for record in Runs(grid).records_of("SparseCartPoleSwingup", "trpo", {}):
        returns = [row["mean_return"] for row in record.evaluations()]
        assert len(returns) == 20
        finals.append(np.mean(returns[-2:]))  # the last tenth
        assert cell.areas[record.seed] == pytest.approx(np.mean(returns))
    assert cell.finals.tolist() == pytest.approx(finals)
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
    runs = Runs(tmp_path)
    assert runs.budget("SparseHopper", TABLE_1.methods) == 2_000_000
    assert len(runs.cell("SparseHopper", "mp-trpo", 2_000_000).scores) == 2
    earlier = runs.cell("SparseHopper", "mp-trpo", 1_000_000)
    assert len(earlier.scores) == 3
    found = curve(runs.records[0], 1_000_000)
    assert found is not None
    assert found.steps[-1] == 1_000_000
    rows = rows_of(table("table-1", tmp_path), "Earlier in the same runs")
    assert [(row["steps"], row["seeds"]) for row in rows] == [("0.5M", "3"), ("1M", "3")]


def test_a_budget_is_chosen_for_the_most_seeds(tmp_path):
    for seed in range(4):
        write_run(tmp_path, "SparseHopper", "trpo", seed, 1.0, 500_000, every=50_000)
    write_run(tmp_path, "SparseHopper", "trpo", 0, 1.0, 1_000_000, every=50_000)
    assert Runs(tmp_path).budget("SparseHopper", ["trpo"]) == 500_000
    assert len(Runs(tmp_path).cell("SparseHopper", "trpo", 500_000).scores) == 4


def test_a_seed_that_was_run_twice_counts_once(tmp_path):
    first = write_run(tmp_path, "Maze", "trpo", 0, 1.0, name="a")
    write_run(tmp_path, "Maze", "trpo", 0, 5.0, name="b")
    write_run(tmp_path, "Maze", "trpo", 0, finished=False, done=0.5, name="c")
    write_run(tmp_path, "Maze", "trpo", 1, finished=False, done=0.5, name="d")
    found = Runs(tmp_path).cell("Maze", "trpo", 100_000)
    assert [score.seed for score in found.scores] == [0]
    assert (
        found.scores[0].final == json.loads(last_line(first / "evaluations.jsonl"))["mean_return"]
    )
    assert found.states == {"unfinished": 1}  # of seed 1: seed 0 has its result


def test_a_finished_run_without_its_last_evaluation_is_not_read(tmp_path):
    whole = write_run(tmp_path, "Maze", "trpo", 0, 1.0)
    cut = write_run(tmp_path, "Maze", "trpo", 1, 1.0)
    lines = (cut / "evaluations.jsonl").read_text().splitlines(keepends=True)
    (cut / "evaluations.jsonl").write_text("".join(lines[:-1]))
    found = Runs(tmp_path).cell("Maze", "trpo", 100_000)
    assert [score.seed for score in found.scores] == [0]
    assert found.states == {"not evaluated to its end": 1}
    empty = [json.dumps({**json.loads(line), "mean_return": None}) for line in lines]
    (whole / "evaluations.jsonl").write_text("\n".join(empty) + "\n")  # deterministic ones only
    assert Runs(tmp_path).cell("Maze", "trpo", 100_000).states == {"not evaluated to its end": 2}


def last_line(path):
    return path.read_text().splitlines()[-1]


def test_the_last_evaluation_of_ppo_lies_behind_the_budget(tmp_path):
    write_run(tmp_path, "Swimmer", "ppo", 0, steps=100_000)  # 49 batches of 2048: 100,352
    record = Runs(tmp_path).records[0]
    found = curve(record, 100_000)
    assert found is not None
    assert found.steps[-1] == 100_352
    assert changes(record) == {}
    from mppo.paper.cells import TASK

    assert default_budget(TASK["Swimmer"], "multi-ppo-independent") == 2_000_000
    assert default_budget(TASK["Swimmer"], "multi-trpo-independent") == 5_000_000


def test_memory_tables_read_the_measurement(tmp_path):
    spread = lambda value: {"median": value, "least": value - 1, "most": value + 1}
    rows = [["trpo", spread(400.0), spread(500.0), 404]]
    rows += [[f"mp-trpo (K = {k})", spread(400.0 + k), spread(500.0), 410] for k in (2, 4, 8, 16)]
    part = {"tables": [{"name": "table-memory-trpo", "rows": rows}]}
    machine = {"processor": "a chip", "cores": 2}
    found = {"command": "mppo bench --only memory", "machine": machine, "parts": {"memory": part}}
    assert "No measurement was found" in table("table-memory-trpo", tmp_path)
    (tmp_path / "memory.json").write_text(json.dumps(found))
    page = table("table-memory-trpo", tmp_path)
    (row,) = [r for r in rows_of(page, "Resident memory") if r["method"] == "MP-TRPO (K = 8)"]
    assert row["ours: MiB at the end"] == "408 (407 to 409)"
    assert (
        "| 408 (407 to 409) | 500 (499 to 501) | +2.00 % | 410 | +1.49 % | 365 | +1.67 % |" in page
    )
    assert "Missing" not in page
    assert "No measurement was found" in table("table-memory-ppo", tmp_path)


def test_unknown_tables_formats_and_places_are_refused(tmp_path):
    with pytest.raises(BadRequest, match='did you mean "table-1"'):
        table("tabel-1", tmp_path)
    with pytest.raises(BadRequest, match="the formats are md, csv, html"):
        table("table-1", tmp_path, "pdf")
    with pytest.raises(BadRequest, match="not a directory"):
        table("table-1", tmp_path / "nowhere")


def test_an_empty_directory_gives_a_table_of_gaps(tmp_path):
    page = table("table-2", tmp_path)
    assert page.count("| missing |") == 8 + 6
    assert page.count("mppo paper run table-2") == 8
