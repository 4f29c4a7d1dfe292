"""`mppo paper` and `mppo sweep` as a user calls them, up to where runs would start."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mppo.cli import main
from mppo.experiments.drive import Ended
from mppo.experiments.grid import Failure, Grid
from mppo.experiments.spec import spec
from mppo.experiments.workers import LocalWorkers
from mppo.paper import costs, memory
from mppo.paper.artefacts import ARTEFACTS, TASKS

JOBS = ("list", "run", "status", "table", "figure", "compact", "unpack")


def run(*words):
    """The exit code of `mppo WORDS`."""
    try:
        return main(list(words))
    except SystemExit as error:
        return int(error.code or 0)


@pytest.mark.parametrize("job", JOBS)
def test_every_job_explains_itself_with_an_example(job, capsys):
    assert run("paper", job, "--help") == 0
    assert f"example: mppo paper {job}" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("words", [["paper", "--help"], ["paper", "run", "-h"], ["sweep", "-h"]])
def test_help_loads_nothing_heavy(words):
    code = (
        f"import sys\nfrom mppo.cli import main\ntry: main({words})\nexcept SystemExit: pass\n"
        "sys.exit(any(m in sys.modules for m in ('jax', 'gymnasium', 'matplotlib', 'ray')))"
    )
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL).returncode == 0


def test_the_list_names_runs_steps_and_costs(capsys, monkeypatch):
    measured = {"step": dict.fromkeys(TASKS, 1e-5), "update": dict.fromkeys(costs.KINDS, 0.1)}
    monkeypatch.setattr(costs, "calibration", lambda measure, say: measured)
    assert run("paper", "list", "--json", "--jobs", "2") == 0
    listed = json.loads(capsys.readouterr().out)
    found = {row["id"]: row for row in listed["artefacts"]}
    assert list(found) == list(ARTEFACTS)
    assert (found["figure-2"]["runs"], found["figure-2"]["steps"]) == (18, 18_000_000)
    # of one run: 1M steps, as many again evaluated, 200 updates of 0.1 s; two runs side by side
    assert found["figure-2"]["seconds"] == 18 * (20 + 20) // 2
    assert listed["all"]["runs"] == 606
    assert run("paper", "list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert len([line for line in lines if line.startswith(("figure-", "table-"))]) == 12


def test_without_a_measurement_there_is_no_estimate(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert run("paper", "list", "--no-calibrate", "--json") == 0
    assert json.loads(capsys.readouterr().out)["all"]["seconds"] is None
    assert not list(tmp_path.iterdir())


@pytest.fixture
def started(monkeypatch):
    """Runs that would be started; each is done at once."""
    words, over = [], []

    def start(self, run, given):
        words.append(given)
        out = Path(given[given.index("--out") + 1])
        out.mkdir(parents=True)
        for name in ("run.json", "final.json"):
            (out / name).write_text("{}")
        over.append(run)

    def ended(self):
        done = [Ended(run, 0, "") for run in over]
        over.clear()
        return done

    monkeypatch.setattr(LocalWorkers, "start", start)
    monkeypatch.setattr(LocalWorkers, "ended", ended)
    return words


def test_running_figures_is_idempotent_and_more_seeds_add_what_is_missing(
    tmp_path, started, capsys
):
    out = str(tmp_path / "grid")
    assert run("paper", "run", "figure-2", "figure-9", "--seeds", "2", "--out", out) == 0
    assert len(started) == 6
    assert "--steps 1000000 --eval-every 10000 --eval-episodes 10" in " ".join(started[0])
    assert run("paper", "run", "figure-2", "--seeds", "2", "--out", out) == 0
    assert len(started) == 6
    assert run("paper", "run", "figure-2", "--seeds", "0-2", "--out", out) == 0
    assert len(started) == 9
    assert run("paper", "run", "figure-4", "figure-9", "--seeds", "1", "7", "--out", out) == 0
    assert len(started) == 10
    capsys.readouterr()
    assert run("paper", "status", out) == 0
    said = capsys.readouterr().out
    assert "10 runs: 10 finished" in said
    assert "figure-9" in said


def test_a_failed_run_is_in_the_status_and_its_exit_code(tmp_path, capsys):
    grid, failed = Grid(tmp_path), spec("trpo", "mppo/Maze-v0", 0, 10_000)
    grid.remember("figure-2", [failed])
    grid.note_failure(failed, Failure(65, "reward is nan"))
    assert run("paper", "status", str(tmp_path)) == 1
    assert "failed:  trpo on Maze-v0, seed 0: reward is nan" in capsys.readouterr().out


def test_memory_is_measured_once(tmp_path, monkeypatch):
    from mppo.bench import session

    calls = []

    def measured(options, result):
        calls.append(options.parts)
        result["parts"]["memory"] = {"status": "measured", "tables": []}
        yield "memory"

    monkeypatch.setattr(session, "measure_parts", measured)
    out = str(tmp_path / "grid")
    assert run("paper", "run", "table-memory-trpo", "table-memory-ppo", "--out", out) == 0
    assert run("paper", "run", "table-memory-ppo", "--out", out) == 0
    assert calls == [("memory",)]
    kept = json.loads((tmp_path / "grid" / memory.FILE).read_text())
    assert kept["parts"]["memory"]["status"] == "measured"


BAD = [
    (["paper", "run", "figure-22", "--out", "x"], 'did you mean "figure-2"?'),
    (["paper", "run", "figure-2", "--tasks", "Hopper", "--out", "x"], "has no runs of the task"),
    (["paper", "run", "figure-2", "--methods", "trop", "--out", "x"], 'did you mean "trpo"?'),
    (["paper", "run", "figure-2", "--seeds", "0", "--out", "x"], "--seeds is 0"),
    (["paper", "run", "figure-2", "--seeds", "a", "b", "--out", "x"], "--seeds is a b"),
    (["paper", "run", "figure-2", "--steps", "10", "--out", "x"], "below one batch of 5000"),
    (["paper", "run", "figure-2", "--steps", "some", "--out", "x"], "not a whole number"),
    (["paper", "run", "figure-2", "--jobs", "-1", "--out", "x"], "--jobs is -1"),
    (["paper", "run", "figure-2", "--address", "auto", "--out", "x"], "add --engine ray"),
    (
        ["paper", "run", "figure-2", "--engine", "ray", "--low-priority", "--out", "x"],
        "--low-priority is of the local engine",
    ),
    (["paper", "run", "figure-2"], "--out"),
    (["paper", "run", "figure-2", "--out", "/dev/null"], "not a directory"),
    (["paper", "status", "nowhere"], "holds no grid"),
    (["paper", "table", "figure-3", "."], "mppo paper figure figure-3"),
    (["paper", "table", "table-3", "."], "did you mean"),
    (["paper", "figure", "figure-2", "nowhere", "--out", "a.svg"], "is not a directory; give"),
    (["paper", "figure", "figure-2", ".", "--out", "a.pdf"], "must end in .svg or .png"),
    (["paper", "compact", "nowhere", "--out", "x"], "holds no grid"),
    (["paper", "compact", "nowhere", "x"], "holds no grid"),
    (["paper", "compact", "nowhere"], "give the folder of the copy once"),
    (["paper", "unpack", "nowhere", "--out", "x"], "holds no runs"),
    (["sweep", "none.toml", "--out", "x"], "cannot read"),
]


@pytest.mark.parametrize(("words", "says"), BAD, ids=[" ".join(words) for words, _ in BAD])
def test_bad_requests_are_answered_in_words(words, says, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(*words) == 2
    said = capsys.readouterr().err
    assert says in " ".join(said.split())
    assert "Traceback" not in said
    assert not list(tmp_path.iterdir())


def test_other_people_s_files_are_left_alone(tmp_path, capsys):
    (tmp_path / "thesis.tex").write_text("five years of work")
    assert run("paper", "run", "figure-2", "--out", str(tmp_path)) == 2
    assert "holds other files" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]
