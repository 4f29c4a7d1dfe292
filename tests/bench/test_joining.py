"""Results of several sessions in one."""

import json
from pathlib import Path

import pytest

from mppo.bench import session
from mppo.bench.joining import join
from mppo.errors import BadRequest

RESULTS = Path(__file__).parents[2] / "results" / "bench.json"


def test_parts_of_two_sessions_are_joined():
    before = session.empty_result(session.Options()) | {"date": "2026-01-01"}
    old = {"date": "2026-01-01", "ratios": [], "tables": []}
    new = {"date": "2026-01-02", "ratios": [], "tables": []}
    before["parts"] = {"paths": old, "limit": old}
    now = session.empty_result(session.Options(parts=("limit",))) | {"parts": {"limit": new}}
    whole = join(before, now)
    assert whole["parts"] == {"limit": new, "paths": old}
    assert list(whole["parts"]) == ["limit", "paths"]
    assert whole["command"] == "mppo bench --only limit paths"
    with pytest.raises(BadRequest, match="another machine"):
        join(before | {"machine": {"processor": "abacus"}}, now)
    with pytest.raises(BadRequest, match="--quick"):
        join(before | {"quick": True}, now)


def test_a_ratio_measured_again_in_another_part_is_not_kept_twice():
    before, now = session.empty_result(session.Options()), session.empty_result(session.Options())
    one, two, other = ({"name": name, "median": m} for name, m in (("a", 1), ("a", 2), ("b", 3)))
    old = {"ratios": [one, other], "tables": [{"name": "s"}, {"name": "t"}]}
    new = {"ratios": [two], "tables": [{"name": "t"}]}
    before["parts"], now["parts"] = {"rates": old}, {"cores": new}
    parts = join(before, now)["parts"]
    assert parts == {"rates": {"ratios": [other], "tables": [{"name": "s"}]}, "cores": new}


def one_part(part, peers=False, **content):
    options = session.Options(parts=(part,), with_peers=peers)
    return session.empty_result(options) | {"parts": {part: content}}


def test_one_case_is_put_into_its_part():
    ratio = lambda name, middle: {"name": name, "median": middle}
    table = lambda *rows: [{"name": "t", "rows": [list(row) for row in rows]}]
    before = one_part(
        "environments", True, ratios=[ratio("a", 1), ratio("b", 2)], tables=table("a1", "b2"),
        notes=["about all", "b failed: no luck."], samples=[1],
    )  # fmt: skip
    now = one_part(
        "environments", ratios=[ratio("b", 3)], tables=table("b3"), notes=[], samples=[2]
    )
    whole = join(before, now, "b")
    assert whole["parts"]["environments"] == {
        "ratios": [ratio("a", 1), ratio("b", 3)], "tables": table("a1", "b3"),
        "notes": ["about all"], "samples": [1, 2],
    }  # fmt: skip
    assert whole["command"] == "mppo bench --only environments --peers"


def test_the_committed_result_can_be_joined():
    before = json.loads(RESULTS.read_text())
    now = session.empty_result(session.Options(parts=("memory",)))
    now["machine"]["processor"] = before["machine"]["processor"]
    whole = join(before, now)
    measured = [name for name in session.PARTS if name in before["parts"]]
    assert list(whole["parts"]) == measured
    assert set(session.PARTS) - set(measured) <= set(session.WITH_CASES)  # which take longest
    assert whole["parts"]["limit"] == before["parts"]["limit"]
