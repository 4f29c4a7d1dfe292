"""Orders of methods from runs whose outcome is known."""

from mppo.paper.cells import Reproduction, Runs
from mppo.paper.orders import against_each, interquartile
from mppo.paper.printed import TABLE_1
from tests.paper.synthetic import rows_of, write_run


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
