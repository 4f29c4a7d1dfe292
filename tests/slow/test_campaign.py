"""Short forms of the campaign that take too long for every day."""

import pytest

from campaign import grids

pytestmark = pytest.mark.slow


def test_a_grid_killed_twice(tmp_path, monkeypatch):
    monkeypatch.setattr(grids, "KILLS", 2)
    monkeypatch.setattr(grids, "LONGEST_WAIT", 3.0)
    found = grids.Grids(tmp_path, ("trpo",))
    row = found.run("0")
    assert row["different"] == []
    assert row["ok"]
    assert sum(row["kills"].values()) == 2
    found.reference["table.txt"] = "of no grid"
    row = found.run("1")
    assert row["different"] == ["table.txt"]  # and nothing else
    assert not row["ok"]


def test_a_grid_with_a_damaged_run(tmp_path):
    found = grids.Grids(tmp_path, ("trpo",))
    assert len(found.reference) == 3 + 2  # three formats of the table, two runs
    row = found.run("damaged 0")
    assert row == {"runs done beside it": 1, "wrong": [], "different": [], "ok": True}
    assert found.unlike(found.reference) == []
    assert found.unlike(found.reference | {"table.md": "of no grid"}) == ["table.md"]
    assert found.unlike({}) == sorted(found.reference)
