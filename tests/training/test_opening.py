"""Run directories, finished or not, as agents and as numbers."""

import json
import shutil

import gymnasium
import numpy as np
import pytest

from mppo.cli import main
from mppo.errors import BadRequest, CheckpointError
from mppo.files import checkpoints
from mppo.files.reader import rows
from mppo.training.opening import load, opened, play
from mppo.training.start import train
from tests.worlds import SMALL, Ledge, ledge


class Walk(Ledge):
    """A walk that pays 1 a step."""

    def reward(self, action):
        return 1


def said(capsys, *words):
    assert main(list(words)) == 0
    return capsys.readouterr().out


def test_the_agent_of_a_run_is_the_one_that_training_gave(tmp_path):
    trained = train(
        SMALL["mp-trpo"],
        ledge,
        steps=512,
        out=tmp_path / "run",
        eval_every=512,
        eval_episodes=10,
        eval_deterministic_episodes=10,
    )
    agent = load(tmp_path / "run", env=ledge)
    seen = np.linspace(-1, 1, 30, dtype=np.float32)[:, None]
    assert agent.path == trained.path
    np.testing.assert_array_equal(agent.predict(seen)[0], trained.predict(seen)[0])
    assert agent.evaluations == rows(tmp_path / "run", "evaluations.jsonl")
    there = opened(tmp_path / "run", env=ledge)
    assert (there.iteration, there.steps) == (2, 512)
    played = play(there, agent, 10, seed=0)
    assert played.returns.tolist() == agent.evaluations[-1]["returns"]
    fewer = play(there, agent, 3, seed=0)
    assert fewer.returns.tolist() == agent.evaluations[-1]["returns"][:3]
    certain = play(there, agent, 10, seed=0, deterministic=True)
    assert certain.returns.tolist() == agent.evaluations[-1]["returns_deterministic"]


def test_paths_are_chosen_by_number(tiny_run):
    seen = np.random.default_rng(0).uniform(-1, 1, (200, 2)).astype(np.float32)
    acts = [load(tiny_run, path=k).predict(seen)[0] for k in (0, 1)]
    assert not np.array_equal(*acts)
    reported = load(tiny_run)
    np.testing.assert_array_equal(reported.predict(seen)[0], acts[reported.path])
    with pytest.raises(BadRequest, match=r"path is 2; the run has the paths 0 \.\.\. 1"):
        load(tiny_run, path=2)


def test_the_newest_good_checkpoint_is_taken_and_nothing_written(tiny_run, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(tiny_run, copy)
    newest = max((copy / "checkpoints").glob("*.safetensors"))
    before = {file: file.read_bytes() for file in copy.rglob("*") if file.is_file()}
    load(copy)
    assert before == {file: file.read_bytes() for file in copy.rglob("*") if file.is_file()}
    newest.write_bytes(newest.read_bytes()[:-1] + b"?")
    with pytest.raises(CheckpointError, match=r"no good checkpoint.*does not match its hash"):
        load(copy)
    shutil.rmtree(copy / "checkpoints")
    with pytest.raises(BadRequest, match="no checkpoint yet"):
        load(copy)


def test_environments_made_by_callables_are_asked_for(tmp_path):
    train(SMALL["trpo"], Ledge, steps=256, out=tmp_path / "run", eval_every=0)
    with pytest.raises(BadRequest, match=r'was trained on "Ledge".*env=make_env'):
        load(tmp_path / "run")


def test_modules_named_in_a_file_are_not_imported(tiny_run, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(tiny_run, copy)
    described = json.loads((copy / "run.json").read_text())
    del described["sha256"]
    hostile = {**described, "env": "antigravity:Maze-v0"}
    hostile["sha256"] = checkpoints.hash_of(hostile)  # or the change would be noticed
    (copy / "run.json").write_text(json.dumps(hostile))
    with pytest.raises(BadRequest, match="--allow-imports"):
        load(copy)


def test_evaluate_gives_the_run_s_own_numbers_again(tiny_run, capsys):
    last = rows(tiny_run, "evaluations.jsonl")[-1]
    found = json.loads(said(capsys, "evaluate", str(tiny_run), "--episodes", "3", "--json"))
    assert found["returns"] == last["returns"]
    assert found["mean_return"] == last["mean_return"]
    assert (found["path"], found["steps"], found["seed"]) == (last["path"], 400, 0)
    assert found["lengths"] == [1000, 1000, 1000]


def test_evaluate_is_reproducible_and_seeds_matter(tmp_path, capsys):
    out = tmp_path / "run"
    gymnasium.register("tests/Walk-v0", Walk, max_episode_steps=16)
    train(SMALL["trpo"], "tests/Walk-v0", steps=256, out=out, eval_every=0)
    ask = ["evaluate", str(out), "--episodes", "30", "--json", "--seed"]
    first, again, other = (json.loads(said(capsys, *ask, seed)) for seed in ("6", "6", "7"))
    assert first == again
    assert first["returns"] != other["returns"]
    assert first["returns"] == first["lengths"]  # the walk pays 1 a step
    assert 5 <= min(first["lengths"]) < max(first["lengths"]) <= 16
    assert first["mean_return"] == pytest.approx(np.mean(first["returns"]))
    assert first["std_return"] == pytest.approx(np.std(first["returns"]))
    text = said(capsys, *ask[:-2], "--seed", "6")
    assert f"{'mean':>7} {first['mean_return']:>12.3f}" in text
    assert f"{29:>7} {first['returns'][29]:>12.3f} {first['lengths'][29]:>9}" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["no/such/run"], "holds no run"),
        ([], "DIR is missing; see mppo evaluate --help"),
        (["run", "--episodes", "0"], "--episodes is 0; give at least 1"),
        (["run", "--episodes", "few"], '--episodes: "few" is not a whole number'),
        (["run", "--seed", "-1"], "--seed is -1"),
        (["run", "--jason"], 'unknown option "--jason"; did you mean "--json"?'),
    ],
)
def test_bad_requests(words, says, capsys):
    assert main(["evaluate", *words]) == 2
    answer = capsys.readouterr().err
    assert says in answer
    assert answer.count("\n") == 1
