"""Part after part, results joined, and the command line in front of them."""

import json
from pathlib import Path

import pytest

from mppo.bench import session
from mppo.bench.measure import Skipped
from mppo.bench.ratios import Part, Ratio, Table
from mppo.bench.session import Session
from mppo.cli import bench
from mppo.errors import BadRequest


def works(session):
    session.say("working")
    table = Table("t", "A table", ["what", "ms"], [["x", 1.5]])
    return Part([Ratio("r", "this / that", (1.0, 2.0, 3.0), 1.5)], [table])


def breaks(session):
    raise RuntimeError("no luck")


def cannot(session):
    raise Skipped("needs two cores")


@pytest.fixture
def three_parts(monkeypatch):
    monkeypatch.setattr(
        session, "PARTS", {"limit": works, "rates": breaks, "two-runs": cannot}, raising=True
    )


@pytest.mark.usefixtures("three_parts")
def test_a_failing_part_does_not_stop_the_rest(tmp_path, capsys):
    files = ["--json", str(tmp_path / "b.json"), "--markdown", str(tmp_path / "b.md")]
    assert bench.bench(files) == 0
    out = capsys.readouterr().out
    assert "this / that" in out
    assert "rates failed: RuntimeError: no luck" in out
    assert "two-runs skipped: needs two cores" in out
    data = json.loads((tmp_path / "b.json").read_text())
    assert data["schema"] == session.SCHEMA
    assert data["parts"]["limit"]["ratios"][0]["values"] == [1.0, 2.0, 3.0]
    assert data["parts"]["rates"]["status"] == "failed"
    assert data["parts"]["two-runs"]["status"] == "skipped"
    assert str(Path.home()) not in (tmp_path / "b.json").read_text()
    assert "| this / that | 2.000 |" in (tmp_path / "b.md").read_text()


def test_interruption_shows_what_there_is(monkeypatch, capsys):
    def interrupted(now):
        raise KeyboardInterrupt

    monkeypatch.setattr(session, "PARTS", {"limit": works, "rates": interrupted})
    assert bench.bench([]) == 130
    captured = capsys.readouterr()
    assert "this / that" in captured.out
    assert "interrupted" in captured.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--only", "limt"], 'unknown part "limt"; did you mean "limit"'),
        (["--repetitions", "0"], "repetitions is 0"),
        (["--case", "Hopper"], "--case is for --only environments, robots, workers"),
        (["--only", "robots", "paths", "--case", "Hopper"], "name such parts alone"),
        (["--json", "/no/such/place/b.json"], "its directory does not exist"),
        (["--peers-python", "/no/such/python"], "not an interpreter"),
        (["--join"], "name that file"),
        (["--join", "--json", "nowhere.json"], 'cannot read "nowhere.json"'),
        (["--join", "--json", __file__], "is no result of mppo bench"),
    ],
)
def test_misuse(words, message):
    with pytest.raises(BadRequest, match=message):
        bench.bench(words)


def test_unknown_option():
    with pytest.raises(BadRequest, match=r'"--quik"; did you mean "--quick"'):
        bench.bench(["--quik"])


def test_the_command_that_measures_the_same_again():
    usual = session.Options().parts
    assert session.Options().command == "mppo bench"
    assert session.Options(parts=(*usual, "peers")).command == "mppo bench --peers"
    options = session.Options(quick=True, parts=("limit", "paths"), repetitions=7)
    assert options.command == "mppo bench --quick --repetitions 7 --only limit paths"
    inside = session.Options(parts=("environments",), with_peers=True)
    assert inside.command == "mppo bench --only environments --peers"
    one = session.Options(parts=("robots",), case="Hopper-v5")
    assert one.command == 'mppo bench --only robots --case "Hopper-v5"'


def test_peers_of_environments_are_measured_there():
    given = lambda *words: bench._options(bench.parser().parse_args(words))
    inside = given("--only", "environments", "--peers")
    assert (inside.parts, inside.with_peers) == (("environments",), True)
    assert given("--only", "limit", "--peers").parts == ("limit", "peers")
    assert not given("--only", "environments").with_peers
    assert given("--peers").parts == tuple(session.PARTS)


def test_one_core_takes_turns(tmp_path):
    two = Session(2, False, [3, 5], tmp_path)
    assert [two.pinned("one", r) for r in range(3)] == [[3], [5], [3]]
    assert two.pinned("all") == [3, 5]
    assert Session(2, False, [], tmp_path).pinned("one", 1) == []
