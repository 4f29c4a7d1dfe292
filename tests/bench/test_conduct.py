import json
import sys
from pathlib import Path

import pytest

from mppo.bench import conduct, machine, peers
from mppo.bench.measured import Measured, MeasurementFailed
from mppo.bench.parts import Part, Table
from mppo.bench.ratios import Ratio
from mppo.bench.sitting import Sitting, Skipped
from mppo.cli import bench
from mppo.errors import BadRequest


def works(sitting):
    sitting.say("working")
    table = Table("t", "A table", ["what", "ms"], [["x", 1.5]])
    return Part([Ratio("r", "this / that", (1.0, 2.0, 3.0), 1.5)], [table])


def breaks(sitting):
    raise RuntimeError("no luck")


def cannot(sitting):
    raise Skipped("needs two cores")


@pytest.fixture
def three_parts(monkeypatch):
    monkeypatch.setattr(
        conduct, "PARTS", {"limit": works, "rates": breaks, "two-runs": cannot}, raising=True
    )


@pytest.mark.usefixtures("three_parts")
def test_a_failing_part_does_not_stop_the_rest(tmp_path, capsys):
    files = ["--json", str(tmp_path / "b.json"), "--markdown", str(tmp_path / "b.md")]
    assert bench.main("bench", files) == 0
    out = capsys.readouterr().out
    assert "this / that" in out
    assert "rates failed: RuntimeError: no luck" in out
    assert "two-runs skipped: needs two cores" in out
    data = json.loads((tmp_path / "b.json").read_text())
    assert data["schema"] == conduct.SCHEMA
    assert data["parts"]["limit"]["ratios"][0]["values"] == [1.0, 2.0, 3.0]
    assert data["parts"]["rates"]["status"] == "failed"
    assert data["parts"]["two-runs"]["status"] == "skipped"
    assert str(Path.home()) not in (tmp_path / "b.json").read_text()
    assert "| this / that | 2.000 |" in (tmp_path / "b.md").read_text()


def test_interruption_shows_what_there_is(monkeypatch, capsys):
    def interrupted(sitting):
        raise KeyboardInterrupt

    monkeypatch.setattr(conduct, "PARTS", {"limit": works, "rates": interrupted})
    assert bench.main("bench", []) == 130
    captured = capsys.readouterr()
    assert "this / that" in captured.out
    assert "interrupted" in captured.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--only", "limt"], 'unknown part "limt"; did you mean "limit"'),
        (["--repetitions", "0"], "repetitions is 0"),
        (["--json", "/no/such/place/b.json"], "its directory does not exist"),
        (["--peers-python", "/no/such/python"], "not an interpreter"),
        (["--join"], "name that file"),
        (["--join", "--json", "nowhere.json"], 'cannot read "nowhere.json"'),
        (["--join", "--json", __file__], "is no result of mppo bench"),
    ],
)
def test_misuse(words, message):
    with pytest.raises(BadRequest, match=message):
        bench.main("bench", words)


def test_unknown_option():
    with pytest.raises(BadRequest, match=r'"--quik"; did you mean "--quick"'):
        bench.main("bench", ["--quik"])


def test_the_command_that_measures_the_same_again():
    usual = conduct.Options().parts
    assert conduct.Options().command == "mppo bench"
    assert conduct.Options(parts=(*usual, "peers")).command == "mppo bench --peers"
    options = conduct.Options(quick=True, parts=("limit", "paths"), repetitions=7)
    assert options.command == "mppo bench --quick --repetitions 7 --only limit paths"


def test_peers_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(peers.importlib.util, "find_spec", lambda name: None)
    sitting = Sitting(1, True, [0], tmp_path)
    with pytest.raises(Skipped, match=r"pip install mppo\[peers\]"):
        peers.peers(sitting)


def test_peers_get_their_own_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # as mppo sets it for itself
    monkeypatch.setenv("KEPT", "1")
    seen = {}

    def look(command, environment, label):
        seen.update(environment)

    monkeypatch.setattr(peers, "Measured", look)
    peers._call(sys.executable, ["--list"], {})
    assert "OMP_NUM_THREADS" not in seen
    assert seen["KEPT"] == "1"


def test_the_peer_script_says_what_is_installed():
    known = peers._call(sys.executable, ["--list"], {}).result()
    assert list(known["peers"]) == list(peers.OURS)
    assert known["libraries"]["numpy"]


def test_failure_of_a_process_carries_its_last_words():
    command = [sys.executable, "-c", "raise ValueError('no such task')"]
    with pytest.raises(MeasurementFailed, match="ValueError: no such task"):
        Measured(command, {}, {}).result()
    process = Measured(command, {}, {})
    with pytest.raises(MeasurementFailed, match="no such task"):
        process.wait_until_ready()


def test_one_core_takes_turns(tmp_path):
    sitting = Sitting(2, False, [3, 5], tmp_path)
    assert [sitting.pinned("one", r) for r in range(3)] == [[3], [5], [3]]
    assert sitting.pinned("all") == [3, 5]
    assert Sitting(2, False, [], tmp_path).pinned("one", 1) == []


def test_the_machine_without_names_or_paths():
    described = json.dumps(machine.description())
    assert "/" not in described.replace("n/a", "").replace(machine._processor(), "")
    assert machine.description()["cores"] >= 1


def test_parts_of_two_sittings_are_joined(tmp_path):
    before = conduct.begun(conduct.Options()) | {"date": "2026-01-01"}
    old, new = {"date": "2026-01-01", "ratios": []}, {"date": "2026-01-02", "ratios": []}
    before["parts"] = {"paths": old, "limit": old}
    now = conduct.begun(conduct.Options(parts=("limit",))) | {"parts": {"limit": new}}
    whole = conduct.joined(before, now)
    assert whole["parts"] == {"limit": new, "paths": old}
    assert list(whole["parts"]) == ["limit", "paths"]
    assert whole["command"] == "mppo bench --only limit paths"
    with pytest.raises(BadRequest, match="another machine"):
        conduct.joined(before | {"machine": {"processor": "abacus"}}, now)
    with pytest.raises(BadRequest, match="--quick"):
        conduct.joined(before | {"quick": True}, now)


def test_a_ratio_measured_again_in_another_part_is_not_kept_twice():
    before, now = conduct.begun(conduct.Options()), conduct.begun(conduct.Options())
    one, two, other = ({"name": name, "median": m} for name, m in (("a", 1), ("a", 2), ("b", 3)))
    before["parts"] = {"rates": {"ratios": [one, other]}}
    now["parts"] = {"cores": {"ratios": [two]}}
    parts = conduct.joined(before, now)["parts"]
    assert parts == {"rates": {"ratios": [other]}, "cores": {"ratios": [two]}}
