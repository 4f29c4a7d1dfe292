"""The memory tables: a measurement beside the paper's, and none."""

import json

import pytest

from mppo.paper.make import table
from tests.paper.synthetic import rows_of


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


def test_a_smoke_test_and_a_torn_file_are_named(tmp_path):
    part = {"tables": [{"name": "table-memory-ppo", "rows": []}]}
    found = {"quick": True, "parts": {"memory": part}}
    (tmp_path / "a.json").write_text("{")
    (tmp_path / "b.json").write_text(json.dumps(found))
    page = table("table-memory-ppo", tmp_path)
    assert "Measured by `?` on ?, ? cores." in page
    assert "This was a smoke test (--quick): its numbers mean nothing." in page
    assert '/a.json"' in page
    assert page.count("| missing | missing | - |") == 5


@pytest.mark.parametrize(("base", "growth"), [("trpo", "+1.67 %"), ("ppo", "+4.78 %")])
def test_the_stated_growth_is_in_the_table(base, growth, tmp_path):
    page = table(f"table-memory-{base}", tmp_path)
    best = {"trpo": 8, "ppo": 2}[base]
    (row,) = [r for r in rows_of(page, "Resident memory") if f"(K = {best})" in r["method"]]
    assert row["growth"] == growth
