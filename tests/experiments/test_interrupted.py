"""The example sweep as a user runs it: killed in the middle, continued, the same bytes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import mppo
from mppo.cli import main
from mppo.experiments.grid import Grid
from mppo.experiments.sweep import read

EXAMPLE = Path(__file__).parents[2] / "examples" / "sweep.toml"
COMPARED = ("metrics.jsonl", "evaluations.jsonl", "visits.json", "final.json")


def outcome(directory):
    """What must not depend on engines and interruptions."""
    return [(directory / name).read_bytes() for name in COMPARED]


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """The example, with the driver killed as soon as its first run has written a row."""
    root = tmp_path_factory.mktemp("grid") / "sweep"
    words = [sys.executable, "-m", "mppo", "sweep", str(EXAMPLE), "--jobs", "2", "--out", str(root)]
    first = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not any(file.stat().st_size for file in root.glob("runs/*/metrics.jsonl")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert len(list(root.glob("runs/*/final.json"))) < 4
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "4 of 4 runs done" in done.stdout
    assert "\x1b" not in done.stdout
    return Grid(root)


def test_a_killed_and_continued_grid_has_the_bytes_of_plain_calls(grid, tmp_path):
    for run in read(EXAMPLE, lambda env, arguments: env).runs:
        mppo.train(
            run.name,
            run.env,
            steps=run.steps,
            seed=run.seed,
            out=tmp_path / run.run_id,
            eval_every=run.evaluation.every,
            eval_episodes=run.evaluation.episodes,
            eval_deterministic_episodes=run.evaluation.deterministic_episodes,
            overrides=run.overrides,
            workers=1,
        )
        assert outcome(grid.directory(run)) == outcome(tmp_path / run.run_id)
        described = json.loads((grid.directory(run) / "run.json").read_text())
        assert described["method"] == run.as_json()["method"]
        assert described["env_kwargs"] == {}


def test_status_and_a_compact_copy_that_is_left_alone(grid, tmp_path, capsys, monkeypatch):
    assert main(["paper", "status", str(grid.root), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["states"]["finished"] == 4
    assert found["steps_done"] == found["steps"] == 8_000
    copy = tmp_path / "copy"
    assert main(["paper", "compact", str(grid.root), "--out", str(copy)]) == 0
    assert "4 finished runs" in capsys.readouterr().out
    before = {file: file.read_bytes() for file in copy.rglob("*") if file.is_file()}
    assert sum(map(len, before.values())) < 60_000
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", str(EXAMPLE), "--out", "copy"]) == 0
    assert before == {file: file.read_bytes() for file in copy.rglob("*") if file.is_file()}
    assert os.listdir(tmp_path) == ["copy"]
    assert os.listdir(copy) == ["runs.jsonl.gz"]


def test_ray_gives_the_same_bytes(grid, tmp_path):
    """One of the runs again, as a task of a Ray cluster on this machine."""
    pytest.importorskip("ray")
    text = EXAMPLE.read_text().replace("seeds = 2", "seeds = [1]").replace("[0.1, 0.5]", "[0.1]")
    (tmp_path / "one.toml").write_text(text)
    words = ["sweep", str(tmp_path / "one.toml"), "--engine", "ray", "--jobs", "1"]
    words = [sys.executable, "-m", "mppo", *words, "--out", str(tmp_path / "ray")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (run,) = read(tmp_path / "one.toml", lambda env, arguments: env).runs
    assert outcome(Grid(tmp_path / "ray").directory(run)) == outcome(grid.directory(run))
