"""Whatever lies in a directory: runs are found, damage is noted, nothing breaks."""

import json

import numpy as np
import pytest

from mppo.errors import BadRequest
from mppo.report import html
from mppo.report.read import columns, find, read
from tests.report.made import described, lines, metrics, write


def test_runs_are_found_three_levels_below_and_once(tmp_path):
    write(tmp_path / "grid" / "runs" / "a1")
    write(tmp_path / "grid" / "runs" / "a2")
    write(tmp_path / "grid" / "x" / "y" / "z")
    write(tmp_path / "grid" / "x" / "y" / "too" / "deep")
    found = find([tmp_path / "grid", tmp_path / "grid" / "runs" / "a1"])
    assert [name for _, name in found] == ["grid/runs/a1", "grid/runs/a2", "grid/x/y/z"]


def test_the_name_shown_tells_nothing_of_what_lies_above(tmp_path, monkeypatch):
    write(tmp_path / "top" / "one")
    monkeypatch.chdir(tmp_path / "top")
    assert [name for _, name in find(["one"])] == ["one"]
    assert [name for _, name in find(["."])] == ["top/one"]
    assert [name for _, name in find(["../top/one"])] == ["top/one"]
    assert [name for _, name in find([tmp_path / "top"])] == ["top/one"]
    assert str(tmp_path) not in html([tmp_path / "top"])


def test_a_link_to_elsewhere_is_not_followed(tmp_path):
    write(tmp_path / "elsewhere")
    write(tmp_path / "here" / "one")
    (tmp_path / "here" / "link").symlink_to(tmp_path / "elsewhere")
    assert [name for _, name in find([tmp_path / "here"])] == ["here/one"]


@pytest.mark.parametrize(
    ("final", "events", "rows", "state"),
    [
        (True, [], 20, "finished"),
        (False, [{"event": "fault", "message": "reward = nan"}], 5, "failed"),
        (False, [{"event": "stopped"}], 5, "stopped"),
        (False, [], 5, "unfinished"),
        (False, [{"event": "fault", "message": "x"}, {"event": "resume"}], 5, "unfinished"),
        (False, [], 20, "complete"),
    ],
)
def test_the_state_of_a_run(tmp_path, final, events, rows, state):
    run = read(write(tmp_path / "a", final=final, events=events, iterations=rows), "a")
    assert run.status == state
    assert ("reward = nan" in run.message) == (state == "failed")


def test_rows_that_cannot_be_read_are_left_out_and_counted(tmp_path):
    path = write(tmp_path / "a")
    good = json.dumps(metrics(0))
    deep = "[" * 100_000
    (path / "metrics.jsonl").write_bytes(
        f'{good}\n{{"torn\n[1]\n{deep}\n\n{good}\n{{"last'.encode() + b"\xff"
    )
    run = read(path, "a")
    assert len(run.metrics) == 2
    assert run.notes == ["metrics.jsonl: 3 row(s) could not be read and are left out"]
    assert "3 row(s) could not be read" in html([path])


def test_values_of_a_wrong_type_are_gaps(tmp_path):
    path = write(tmp_path / "a")
    huge = 10**400
    strange = [
        {"steps": 1000, "picked": 99, "performance": "x", "entropy": [None, "a", 1.0, 2], "kl": []},
        {"steps": None, "picked": "0", "performance": {}, "return_mean": True},
        {"steps": 3000, "picked": -1, "performance": [1, 2, 3], "kl": huge, "slot": 1e300},
    ]
    lines(path / "metrics.jsonl", strange)
    lines(path / "evaluations.jsonl", [{"steps": "?", "returns": 3, "path": {"a": 1}}])
    lines(path / "timing.jsonl", [{"simulation": "long"}])
    (path / "visits.json").write_text('{"walls": [[0, 1], [0]], "counts": 3}')
    html([path])
    found = columns(strange, "entropy", 3)
    assert found[0].tolist()[2] == 1.0
    assert np.isnan(found[1:]).all()


@pytest.mark.parametrize("content", ["", "[]", "{", "null", '"run"', "[" * 100_000, "1e999"])
def test_no_run_but_a_run_json_is_refused_in_one_line(tmp_path, content):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "run.json").write_text(content)
    with pytest.raises(BadRequest, match=r"no run can be read: .a.: run.json"):
        html([tmp_path / "a"])
    write(tmp_path / "b")
    assert "run.json is not" in html([tmp_path])  # beside a good run it is a note


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"format": 99},
        {**described(), "method": 3, "env": None, "seed": [], "versions": 1, "steps": {}},
        {**described(), "env_kwargs": [1], "evaluation": "often", "method_name": {"a": 1}},
        {**described(), "method": {"paths": "many", "optimiser": 1, "picking": [[[]]]}},
    ],
)
def test_a_strange_run_json_makes_a_page_all_the_same(tmp_path, content):
    path = write(tmp_path / "a")
    (path / "run.json").write_text(json.dumps(content))
    page = html([path])
    assert "</html>" in page
    assert ("format 99" in page) == (content.get("format") == 99)


def test_nothing_there_is_a_bad_request(tmp_path):
    with pytest.raises(BadRequest, match="is not a directory"):
        html([tmp_path / "none"])
    with pytest.raises(BadRequest, match="holds no run"):
        html([tmp_path])


def test_a_run_that_has_not_written_anything_yet(tmp_path):
    path = write(tmp_path / "a", iterations=0, final=False)
    for name in ("metrics", "evaluations", "timing", "events"):
        (path / f"{name}.jsonl").unlink()
    page = html([path])
    assert "no return to show" in page
    assert "unfinished" in page
