"""Claims from runs whose outcome is known: those of figures, and every claim in one table."""

from pathlib import Path

import pytest

from mppo.cli import main
from mppo.cli.paper import BY_HAND
from mppo.paper.claims import together
from mppo.paper.make import table
from mppo.paper.verdicts import Verdict
from tests.paper.synthetic import rows_of, write_run

ROOT = Path(__file__).parents[2]
HEADING = "The claims in one minute"


def by_claim(page):
    return {(row["claim"].split(" (")[0], row["judged by"]): row for row in rows_of(page, HEADING)}


def test_tasks_are_counted_and_fall_out_as_their_runs(tmp_path):
    """MP-TRPO beats Div-TRPO on one task, loses on one, is level on one; a fourth lacks seeds."""
    levels = {
        "SparseCartPoleSwingup": (300.0, 100.0, 4),
        "Swimmer": (100.0, 300.0, 4),
        "Hopper": (200.0, 200.0, 4),
        "Ant": (300.0, 100.0, 3),
    }
    for task, (ours, theirs, seeds) in levels.items():
        for seed in range(seeds):
            write_run(tmp_path, task, "mp-trpo", seed, ours, 1_000_000, 100_000)
            write_run(tmp_path, task, "div-trpo", seed, theirs, 1_000_000, 100_000)
    page = table("claims", tmp_path)
    row = by_claim(page)[
        "MP-TRPO is consistently more sample efficient than Div-TRPO in all environments",
        "mean over the run",
    ]
    found = [row[name] for name in ("decided on", "holds on", "fails on", "open on")]
    assert found == ["3 of 8", "1", "1", "1"]
    assert row["P [95 %]"].startswith("0.")
    assert row["verdict"] == "not resolved at 4 seeds"
    best = by_claim(page)[
        "MP-TRPO achieves the best final performance in all environments", "final return"
    ]
    assert best["decided on"] == "0 of 8"  # not all six others were run
    assert best["verdict"].startswith("missing: ")
    assert "TRPO: -" in best["P [95 %]"]
    assert table("claims", tmp_path) == page


def test_a_claim_about_several_settings_is_one_row(tmp_path):
    for seed in range(4):
        write_run(tmp_path, "SparseDoublePendulum", "trpo", seed, 0.2)
        for k in (2, 4, 8, 16):
            changes = {} if k == 8 else {"paths": k}
            write_run(tmp_path, "SparseDoublePendulum", "mp-trpo", seed, 0.9, changes=changes)
    row = by_claim(table("claims", tmp_path))["every K outperforms TRPO", "final return"]
    assert (row["decided on"], row["holds on"]) == ("1 of 1", "1")
    assert row["verdict"] == "reproduced: 4 of 4 comparisons hold"
    assert row["P [95 %]"].count("1.00 [1.00, 1.00]") == 4


def test_the_committed_page_opens_with_what_the_command_writes(monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    committed = (ROOT / "docs" / "results" / "paper.md").read_text()
    page = tmp_path / "paper.md"
    page.write_text(f"# Old\n\n{BY_HAND}{committed.partition(BY_HAND)[2]}")
    assert main(["paper", "table", "claims", "results/paper", "--out", str(page)]) == 0
    assert page.read_text() == committed


def runs(root, task, method, level, changes=None, seeds=6):
    for seed in range(seeds):
        write_run(
            root, task, method, seed, level + 0.001 * seed, 1_000_000, 50_000, changes=changes or {}
        )


def test_the_maze_s_claims(tmp_path):
    runs(tmp_path, "Maze", "trpo", 0.1)
    runs(tmp_path, "Maze", "multi-trpo", 0.99)
    runs(tmp_path, "Maze", "mp-trpo", 0.95)
    page = table("figure-2", tmp_path)
    numbers = {row["method"]: row for row in rows_of(page, "Maze")}
    assert numbers["TRPO"]["solved"] == "0 of 6 [0.00, 0.39]"
    assert numbers["MP-TRPO"]["solved"] == "6 of 6 [0.61, 1.00]"
    verdicts = [row["verdict"] for row in rows_of(page, "Claims")]
    assert verdicts[0] == "reproduced"
    assert verdicts[1] == "contradicted"
    assert verdicts[3] == "reproduced"
    assert table("figure-2", tmp_path) == page


def test_varying_k(tmp_path):
    task = "SparseDoublePendulum"
    runs(tmp_path, task, "trpo", 0.2)
    runs(tmp_path, task, "mp-trpo", 0.9)
    runs(tmp_path, task, "mp-trpo", 0.5, {"paths": 2})
    runs(tmp_path, task, "mp-trpo", 0.5, {"paths": 4})
    rows = {row["claim"]: row for row in rows_of(table("figure-5", tmp_path), "Claims")}
    best = rows["K = 8 is best for MP-TRPO (section 4.3)"]
    assert best["verdict"] == "missing: 2 of 3 comparisons hold"
    assert rows["every K outperforms TRPO (section 4.3): K = 4"]["verdict"] == "reproduced"
    assert rows["every K outperforms PPO (section 4.3): K = 4"]["verdict"] == "missing"
    runs(tmp_path, task, "mp-trpo", 0.5, {"paths": 16})
    rows = {row["claim"]: row for row in rows_of(table("figure-5", tmp_path), "Claims")}
    best = rows["K = 8 is best for MP-TRPO (section 4.3)"]
    assert best["verdict"] == "reproduced: 3 of 3 comparisons hold"
    assert "MP-TRPO, K = 16: 1.00 [1.00, 1.00]" in best["P [95 %]"]


def test_varying_alpha_by_command(tmp_path, capsys):
    for alpha, level in ((0.0, 0.9), (0.3, 0.5), (0.5, 0.5), (1.0, 0.5)):
        runs(tmp_path, "SparseDoublePendulum", "mp-trpo", level, {"picking": {"alpha": alpha}})
    runs(tmp_path, "SparseDoublePendulum", "mp-trpo", 0.7)
    assert main(["paper", "table", "figure-6", str(tmp_path)]) == 0
    (row,) = rows_of(capsys.readouterr().out, "Claims")
    assert row["verdict"] == "contradicted: 3 of 4 comparisons hold"


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["reproduced", "reproduced"], "reproduced: 2 of 2 comparisons hold"),
        (["reproduced", "not resolved"], "not resolved at 5 seeds: 1 of 2 comparisons hold"),
        (["contradicted", "not resolved"], "contradicted: 0 of 2 comparisons hold"),
    ],
)
def test_a_claim_that_has_to_hold_twice(words, wanted):
    assert str(together([Verdict(word, 5 + n) for n, word in enumerate(words)])) == wanted
