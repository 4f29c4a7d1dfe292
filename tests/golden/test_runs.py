"""What an older release wrote is read, or refused in words."""

import json
import shutil

import numpy as np
import pytest

from campaign.golden import RUNS, actions_of, agent_of
from mppo import __version__
from mppo.cli import main
from mppo.errors import BadRequest
from mppo.files import checkpoints
from mppo.files.reader import rows

RELEASES = sorted(path.name for path in RUNS.iterdir())


@pytest.fixture(params=RELEASES)
def run(request, tmp_path):
    """A copy of a golden run."""
    return shutil.copytree(RUNS / request.param, tmp_path / "run")


def test_every_release_has_its_run():
    assert __version__ in RELEASES
    for release in RELEASES:
        files = [file for file in (RUNS / release).rglob("*") if file.is_file()]
        assert sum(file.stat().st_size for file in files) < 200_000


def test_it_is_finished(run, capsys):
    before = {file: file.read_bytes() for file in run.rglob("*") if file.is_file()}
    assert main(["resume", str(run)]) == 0
    assert "is finished already" in capsys.readouterr().out
    assert before == {file: file.read_bytes() for file in run.rglob("*") if file.is_file()}


def test_its_policy_acts_as_recorded(run):
    recorded = json.loads((run / "actions.json").read_text())
    wanted = np.array(recorded["actions"], np.float32)
    found = actions_of(agent_of(run), np.array(recorded["observations"], np.float32))
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)  # rounding may change


def test_it_can_be_taken_up_at_its_last_checkpoint(run):
    final = (run / "final.json").read_text()
    metrics = (run / "metrics.jsonl").read_bytes()
    (run / "final.json").unlink()
    assert main(["resume", str(run), "--quiet"]) == 0
    assert (run / "final.json").read_text() == final
    assert (run / "metrics.jsonl").read_bytes() == metrics
    assert [row["event"] for row in rows(run, "events.jsonl")] == ["resume", "finished"]


def test_it_goes_on_counting_episodes_as_its_version_did(run, monkeypatch, capsys):
    """Its batches cut episodes: J stays the mean return of those that ended (decision 0036)."""
    asked = []

    def only_asked(method, architecture, unfinished="drop"):
        asked.append(unfinished)
        raise BadRequest("what is compiled is not run here")

    monkeypatch.setattr("mppo.training.run.programs", only_asked)
    assert main(["resume", str(run)]) == 2
    assert asked == [json.loads((run / "run.json").read_text()).get("unfinished", "drop")]
    assert capsys.readouterr().err == "mppo: what is compiled is not run here\n"


def test_another_format_is_refused_with_both_numbers(run, capsys):
    described = json.loads((run / "run.json").read_text()) | {"format": 2}
    (run / "run.json").write_text(json.dumps(described))
    assert main(["resume", str(run)]) == 74
    assert "written by format 2, this version reads format 1" in capsys.readouterr().err
    number = checkpoints.numbers(run / "checkpoints")[0]
    manifest = run / "checkpoints" / f"{number:09d}.json"
    manifest.write_text(json.dumps({"format": 7, "anything": "else"}))
    with pytest.raises(ValueError, match="written by format 7, this version reads format 1"):
        checkpoints.load(run / "checkpoints", number)
