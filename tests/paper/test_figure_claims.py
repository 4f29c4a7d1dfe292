"""Claims of figures 2, 5 and 6 from runs whose outcome is known."""

import pytest

from mppo.cli import main
from mppo.paper.figure_claims import together
from mppo.paper.tables import table
from mppo.paper.verdicts import Verdict
from tests.paper.synthetic import rows_of, write_run


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
