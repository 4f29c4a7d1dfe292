"""Short forms of the campaign: each part through its own functions, on a handful of cases."""

import json
import shutil
import signal
import types

import pytest

from campaign import (
    failpoints,
    faults,
    fuzz,
    opening,
    overhead,
    races,
    refusals,
    report,
    same_seed,
    soak,
    stops,
)
from campaign.ledger import Ledger
from campaign.mutate import KINDS
from campaign.small import Small, outcome, state_of, unreadable
from mppo.files.reader import rows

RUN = Small("mp-trpo", "mppo/Maze-v0", iterations=40)


def called_here(words, folder, limit=0):
    """`call` without a process of its own."""
    code, said = refusals.in_process(words)
    return types.SimpleNamespace(returncode=code, stderr=said)


def test_stopped_in_three_ways_and_then_the_same_bits(tmp_path, monkeypatch):
    """kill -9, SIGTERM and SIGINT one after the other; the reference is made by Python."""
    same_seed.by_python(RUN, tmp_path / "whole")
    out, reference = tmp_path / "parts", outcome(tmp_path / "whole")
    for n, (number, code) in enumerate(
        ((signal.SIGKILL, -9), (signal.SIGTERM, 143), (signal.SIGINT, 130)), 1
    ):
        due = lambda seconds, n=n: len(rows(out, "metrics.jsonl")) >= 4 * n or seconds > 100
        found, took = stops.stopped_when(RUN, out, due, number)
        assert found == code
        assert took < stops.LONGEST_STOP
        assert state_of(out) == "mid-run"
        assert unreadable(out) == []
    monkeypatch.setattr(stops, "call", called_here)
    copy = shutil.copytree(out, tmp_path / "damaged")
    assert stops._without_checkpoints("mp-trpo 0 damaged", copy, reference) == []
    monkeypatch.undo()
    assert stops.taken_up(RUN, out, True, reference) == []
    assert same_seed.hash_of(out) == same_seed.hash_of(tmp_path / "whole")


def test_moments_are_spread_over_the_run_and_always_the_same():
    moments = [stops.moment(case) for case in stops.kill_cases(50)]
    assert len(set(moments)) == 220
    assert [sum(n / 4 <= m < (n + 1) / 4 for m in moments) > 30 for n in range(4)] == [True] * 4
    assert stops.moment("trpo 0") == stops.moment("trpo 0") != stops.moment("trpo 0", 1)


def test_calls_that_go_wrong(tmp_path, capsys):
    """Every 71st of some 1,100 cases: all ways, all parts of a run, all beginnings."""
    prepared = failpoints.Prepared(tmp_path)
    cases = [case for case in prepared.cases() if not case.endswith("exit")]
    assert len(cases) > 1000
    assert len(prepared.one_save()) >= 11
    moves = [
        f"{name} {calls.index('rename')} {way}"
        for name, calls in prepared.begun.items()
        for way in ("crash", "EIO")
    ]
    for case in (*cases[::71], *moves):
        row = prepared.run(case)
        assert row["ok"], (case, row)
    capsys.readouterr()


@pytest.mark.parametrize("kind", refusals.KINDS)
def test_runs_without_a_good_checkpoint(kind):
    assert refusals.try_all(kind, 2) == {"counts": {"runs": 2, f"refused: {kind}": 2}, "wrong": []}
    assert kind in fuzz.cases()


def test_the_campaign_sees_a_refusal_that_is_none(tmp_path):
    """A resume that starts over, or changes a byte, is not taken for a refusal."""
    refusals.interrupted(tmp_path / "run")

    def wipe(words):
        (tmp_path / "run" / "metrics.jsonl").write_bytes(b"")
        return 0, "passed over a checkpoint"

    assert refusals.refused(tmp_path / "run", wipe) == [
        "resuming exits 0",
        "no way out in: passed over a checkpoint",
        "metrics.jsonl was changed",
    ]


def test_damaged_files():
    """Each is refused in words, but for those whose content stays valid."""
    found = opening.open_all(range(250))
    assert found["wrong"] == []
    counts = found["counts"]
    assert counts["refused"] + counts["loaded"] == 250
    assert 0 < counts["loaded"] < 30
    assert sum(counts.get(f"refused: {kind}", 0) > 0 for kind in KINDS) >= len(KINDS) - 1


def test_the_guard_hears_what_it_must(tmp_path, monkeypatch):
    heard = []
    guard = opening.Guard(tmp_path)
    monkeypatch.setattr(guard, "_stop", lambda event, arguments: heard.append(event))
    guard.armed = True
    try:
        (tmp_path / "inside").write_text("may be written")
        exec(compile("1", "<foreign>", "exec"))  # noqa: S102  (to be heard)
        (tmp_path.parent / "outside").write_text("must be heard")
    finally:
        guard.armed = False
    assert heard == ["compile", "exec", "open"]


def test_environment_faults(tmp_path):
    """All kinds, in the second batch of a run with one path."""
    for kind in faults.KINDS:
        row = faults.meet(f"1 {faults.BATCH + 7} {kind}", tmp_path)
        assert row["ok"], (kind, row)
    assert len(faults.cases()) == 52


def test_races(tmp_path):
    race = races.Race(tmp_path, racers=2)
    try:
        assert [race.round(str(n)) for n in range(3)] == [{"ok": True}] * 3
    finally:
        race.close()


def test_soak(tmp_path):
    """A second of it: nothing is compiled after the second iteration, no file stays open."""
    watch = soak.Watch(minutes=0.02, least=4)
    soak.train_watched(watch, tmp_path / "run")
    found = watch.found()
    assert found["iterations"] > 3
    assert found["compilations after iteration 2"] == 0
    assert found["files"][0] == found["files"][1]


def test_overhead(tmp_path):
    small = Small("trpo", "Hopper-v5").overrides
    for variant in overhead.VARIANTS:
        assert overhead.rate(variant, str(tmp_path), iterations=1, overrides=small) > 0
    assert list(tmp_path.iterdir()) == []


def test_the_ledger_goes_on_where_it_was_left(tmp_path):
    first = Ledger("part", folder=tmp_path)
    first.add("a", {"ok": True})
    first.add("b", {"ok": False})
    with first.path.open("ab") as file:
        file.write(b'{"case":"torn"')
    second = Ledger("part", folder=tmp_path)
    assert list(second.rows) == ["a", "b"]
    second.add("c", {"ok": True})
    assert list(Ledger("part", folder=tmp_path).rows) == ["a", "b", "c"]
    assert len(first.path.read_text().splitlines()) == 4
    assert Ledger("part", fresh=True, folder=tmp_path).rows == {}


def test_the_report_says_what_the_rows_say(tmp_path):
    row = {"env": "Hopper-v5", "state": "mid-run", "unreadable": [], "different": [], "ok": True}
    kills = Ledger("kills", folder=tmp_path)
    for n in range(200):
        kills.add(f"trpo {n}", row)
    for n in range(20):
        kills.add(f"trpo {n} damaged", {**row, "wrong": []})
    races_ = Ledger("races", folder=tmp_path)
    races_.add("0", {"ok": True})
    races_.add("1", {"ok": False, "codes": [73, 143, 143]})
    page = tmp_path / "page.md"
    assert report.write(page, tmp_path) == "page.md: 1 of 10 held"
    text = page.read_text()
    assert (
        "220 of 220 bit-identical; 0 unreadable. Hit: 220 mid-run. All checkpoints damaged: 20 of "
        "20 refused unchanged, then anew | held |"
    ) in text
    assert "1 of 2 rounds: 1 winner, 7 exit 73 with the winner named | **broken** |" in text
    assert text.count("not run yet") == 8
    assert "races, 1: `{'codes': [73, 143, 143]" in text
    kills.add("trpo 0", {**row, "ok": False, "different": ["metrics.jsonl"]})
    assert report.write(page, tmp_path) == "page.md: 0 of 10 held"
    assert json.loads(kills.path.read_text().splitlines()[-1])["different"] == ["metrics.jsonl"]
