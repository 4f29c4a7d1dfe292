"""`mppo search`: the file, the trials of several processes, what is left of them."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mppo.cli.grids import _publish
from mppo.cli.train import parsed
from mppo.errors import BadRequest, LearningFault
from mppo.experiments.search import Choices, Numbers, read
from mppo.experiments.trials import Trials
from mppo.files.atomic import locked
from mppo.files.reader import rows
from mppo.machine.signals import Interrupts
from tests.cli.test_cli import run

FILE = """\
method = "ppo"
env = "CartPole-v1"
steps = 400
trials = 3
[set]
batch_size = 200
envs = 2
network.hidden = [4]
critic.network.hidden = [4]
[evaluation]
every = 100
episodes = 1
[space]
"optimiser.learning_rate" = {low = 1e-5, high = 1e-2, log = true}
optimiser.epochs = {low = 1, high = 4}
optimiser.minibatch = {choices = [32, 64]}
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "s.toml").write_text(FILE)
    return tmp_path / "s.toml"


def search_of(file, text=FILE):
    file.write_text(text)
    return read(file, lambda env, arguments, wrappers: env)


def test_the_file_is_read(file):
    found = search_of(file)
    assert (found.steps, found.seeds, found.trials, found.pruning) == (400, 1, 3, True)
    assert found.space == {
        "optimiser.learning_rate": Numbers(1e-5, 1e-2, log=True),
        "optimiser.epochs": Numbers(1, 4, whole=True),
        "optimiser.minibatch": Choices((32, 64)),
    }
    method = found.with_fields({"optimiser.epochs": 2})
    assert (method.optimiser.epochs, method.network.hidden, method.batch_size) == (2, (4,), 200)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("trials = 3", "trails = 3", 'unknown key "trails" in the file; did you mean "trials"?'),
        ("low = 1,", "lo = 1,", 'unknown key "lo" in space.optimiser.epochs; did you mean "low"?'),
        ("every = 100", "evry = 100", 'unknown key "evry" in evaluation; did you mean "every"?'),
        ('"optimiser.learning_rate"', "optimiser.learnin_rate", 'did you mean "learning_rate"?'),
        ("optimiser.epochs", "optimizer.epochs", 'did you mean "optimiser"?'),
        ('"ppo"', '"pp"', 'unknown method "pp"; did you mean "ppo"?'),
        ("low = 1e-5", "low = -1.0", "learning_rate"),
        ("high = 4", "high = 1", "low must be below high"),
        ("high = 4", "high = 4.5", "must be a whole number"),
        ("[32, 64]", "[]", "choices are a list"),
        ("[32, 64]", '["a"]', "minibatch is 'a'; it must be a int"),
        ("steps = 400", "steps = 100", "below one batch of 200"),
        ("trials = 3", "trials = 0", '"trials" is 0; it must be a whole number of at least 1'),
        ("trials = 3", 'sampler = "grid"', 'it must be one of "tpe", "random"'),
        ("[space]", "[spice]", 'unknown key "spice"'),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(old, new, said, file, tmp_path, capsys):
    pytest.importorskip("optuna")
    assert FILE.count(old) == 1
    file.write_text(FILE.replace(old, new))
    assert run("search", str(file), "--out", str(tmp_path / "out")) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_without_optuna_the_way_out_is_said(file, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert run("search", str(file), "--out", str(tmp_path / "out")) == 2
    assert 'mppo search needs Optuna: pip install "mppo[search]"' in capsys.readouterr().err


def played(trials, method, seed, folder, reports):
    """In the place of a training: three evaluations of a return that grows with the epochs."""
    found = []
    for step in (100, 200, 300):
        value = 100.0 * method.optimiser.epochs + step / 100 + seed
        found.append({"steps": step, "mean_return": value})
        if reports.on_evaluation(found[-1]) is False:
            break
    return found


@pytest.fixture
def made_up(monkeypatch):
    pytest.importorskip("optuna")
    monkeypatch.setattr(Trials, "_train", played)


def test_a_search_finds_the_best_and_asks_the_same_again(made_up, file, tmp_path):
    search = search_of(file)._replace(trials=12, seeds=2)
    first, second = (Trials(search, tmp_path / name, publish=_publish) for name in "ab")
    first.work()
    second.work()
    assert first.all() == second.all()
    best = first.best()
    assert (best.value, best.values["optimiser.epochs"]) == (403.5, 4)  # 403 and 404
    assert {one.state for one in first.all()} <= {"complete", "pruned"}
    assert len(first.all()) == 12
    text = (tmp_path / "a" / "search.html").read_text()
    assert text.count("<circle") == 12 * 4
    assert "Importances" in text
    assert "<td>403.50</td>" in text
    options, method, _ = parsed([f"--config={tmp_path / 'a' / 'best.toml'}"])
    assert method == search.with_fields(best.values)
    assert (options.steps, options.seed, options.eval_every) == (400, 0, 100)


def test_bad_trials_are_pruned(made_up, file, tmp_path):
    """Of 20 trials with a handful of values, those with one epoch are worse than the median."""
    trials = Trials(search_of(file)._replace(trials=20, sampler="random"), tmp_path / "out")
    trials.work()
    pruned = [one for one in trials.all() if one.state == "pruned"]
    assert pruned
    assert min(one.values["optimiser.epochs"] for one in pruned) == 1
    assert all(one.values["optimiser.epochs"] < 4 for one in pruned)
    never = Trials(
        search_of(file)._replace(trials=20, sampler="random", pruning=False), tmp_path / "b"
    )
    never.work()
    assert {one.state for one in never.all()} == {"complete"}


def test_a_lost_trial_is_repeated_once_and_counted_once(made_up, file, tmp_path):
    whole, cut = (Trials(search_of(file), tmp_path / name) for name in ("whole", "cut"))
    whole.work()
    cut._try(*cut._take())
    trial, lock = cut._take()
    lock.release()  # as the kernel does when the process dies
    again = Trials(search_of(file), tmp_path / "cut")
    again.work()
    states = [one.state for one in again.all()]
    assert states == ["complete", "lost", "complete", "complete"]
    lost, repeated = again.all()[1:3]
    assert (
        (repeated.values, repeated.folder) == (lost.values, lost.folder) == (trial.params, "0001")
    )
    told = lambda trials: [(one.value, one.values) for one in trials.counted()]
    assert told(again) == told(whole)  # and what was asked later is what would have been asked
    again.work()
    assert len(again.all()) == 4


def test_a_trial_is_held_until_it_is_told(made_up, file, tmp_path, monkeypatch):
    """Another process that looks between the two would take it for lost."""
    folder, seen, tell = tmp_path / "out" / "trials" / "0000", [], Trials._tell

    def looking(trials, *said):
        seen.append(locked(folder))
        tell(trials, *said)

    monkeypatch.setattr(Trials, "_tell", looking)
    trials = Trials(search_of(file)._replace(trials=1), tmp_path / "out")
    trials.work()
    assert seen == [True]
    assert not locked(folder)


def test_a_signal_gives_the_trial_back(made_up, file, tmp_path, monkeypatch):
    interrupts = Interrupts()

    def stopped(trials, method, seed, folder, reports):
        interrupts.received = signal.SIGTERM
        return []

    monkeypatch.setattr(Trials, "_train", stopped)
    trials = Trials(search_of(file), tmp_path / "out", interrupts)
    trials.work()
    assert [one.state for one in trials.all()] == ["lost", "waiting"]
    monkeypatch.setattr(Trials, "_train", played)
    again = Trials(search_of(file), tmp_path / "out")
    again.work()
    assert [one.state for one in again.counted()] == ["complete"] * 3


def test_more_trials_go_on_and_another_search_is_refused(made_up, file, tmp_path):
    Trials(search_of(file), tmp_path / "out").work()
    more = Trials(search_of(file)._replace(trials=5), tmp_path / "out")
    more.work()
    assert len(more.counted()) == 5
    with pytest.raises(BadRequest, match="holds a search in which steps was 400, now 600"):
        Trials(search_of(file)._replace(steps=600), tmp_path / "out")


def test_a_trial_that_fails_is_told_and_counted(made_up, file, tmp_path, monkeypatch, capsys):
    def failing(trials, method, seed, folder, reports):
        raise LearningFault("not finite")

    monkeypatch.setattr(Trials, "_train", failing)
    assert run("search", str(file), "--out", str(tmp_path / "out")) == 2
    error = capsys.readouterr().err
    assert "none of 3 trials came to its end; the last one failed: not finite" in error
    assert "not finite" in (tmp_path / "out" / "search.html").read_text()


def test_choices_may_be_lists(made_up, file, tmp_path):
    text = FILE.replace("[32, 64]", "[32, 64]}\nnetwork.hidden = {choices = [[4], [4, 4]]")
    trials = Trials(search_of(file, text), tmp_path / "out", publish=_publish)
    trials.work()
    assert {one.values["network.hidden"] for one in trials.all()} <= {(4,), (4, 4)}
    assert "hidden = [4" in (tmp_path / "out" / "best.toml").read_text()


SLOW = """
import sys, time
from pathlib import Path
from mppo.experiments.search import read
from mppo.experiments.trials import Trials
from tests.cli.test_search import played

def slow(trials, method, seed, folder, reports):
    time.sleep(0.1)
    return played(trials, method, seed, folder, reports)

Trials._train = slow
search = read(Path(sys.argv[1]), lambda env, arguments, wrappers: env)
Trials(search._replace(trials=30), Path(sys.argv[2])).work()
"""


def test_two_processes_of_which_one_is_killed(file, tmp_path):
    pytest.importorskip("optuna")
    out, root = tmp_path / "out", Path(__file__).parents[2]
    words = [sys.executable, "-c", SLOW, str(file), str(out)]
    here = {**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"}
    first, second = (subprocess.Popen(words, env=here) for _ in range(2))
    done, until = 0, time.monotonic() + 120
    while done < 4 and time.monotonic() < until:
        time.sleep(0.02)
        with contextlib.suppress(OSError):
            done = len(list((out / "trials").iterdir()))
    first.send_signal(signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL
    assert second.wait(120) == 0
    trials = Trials(search_of(file)._replace(trials=30), out)
    assert [one.state in ("complete", "pruned") for one in trials.counted()] == [True] * 30
    lost = [one for one in trials.all() if one.state == "lost"]
    assert len(lost) <= 1
    folders = [one.folder for one in trials.counted()]
    assert len(set(folders)) == 30


def test_the_best_setting_is_reproduced_by_its_file(file, tmp_path, capsys):
    """Real trainings: the run of best.toml has the evaluations of the trial's own."""
    pytest.importorskip("optuna")
    file.write_text(FILE.replace("trials = 3", "trials = 1"))
    out = tmp_path / "out"
    assert run("search", str(file), "--out", str(out)) == 0
    assert "train with it: mppo train --config" in capsys.readouterr().out
    again = ["--out", str(tmp_path / "again"), "--quiet"]
    assert run("train", "--config", str(out / "best.toml"), *again) == 0
    trial = rows(out / "trials" / "0000" / "seed-0", "evaluations.jsonl")
    assert len(trial) == 2
    assert trial == rows(tmp_path / "again", "evaluations.jsonl")
    final = json.loads((out / "trials" / "0000" / "seed-0" / "final.json").read_text())
    assert final["steps"] == 400
    assert run("search", str(file), "--out", str(out), "--quiet") == 0  # there is nothing to do
    assert capsys.readouterr().out == ""
