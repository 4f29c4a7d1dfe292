"""What is called while a run goes on, and when it stops."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import mppo
from mppo.callbacks import (
    BestModel,
    Callback,
    Callbacks,
    EveryNSteps,
    ProgressBar,
    StopOnReturn,
    StopWithoutImprovement,
    as_callback,
)
from mppo.errors import BadRequest
from mppo.files import model_file
from mppo.files.evaluation import Evaluation
from tests.worlds import ENVS, SMALL, STEPS, Constant, ledge

BATCH = ENVS * STEPS
KINDS = ("iteration", "evaluation")


def model(**settings):
    usual = {"seed": 3, "eval_every": BATCH, "eval_episodes": 2, "workers": 1}
    return mppo.MPPO(ledge, SMALL["trpo"], **(usual | settings))


class Diary(Callback):
    """Notes everything."""

    def __init__(self):
        self.seen = []

    def on_training_start(self):
        self.seen.append(("start", self.num_timesteps))

    def on_iteration(self, row):
        self.seen.append(("iteration", row["steps"]))

    def on_evaluation(self, row):
        self.seen.append(("evaluation", row["steps"]))

    def on_training_end(self):
        self.seen.append(("end", self.num_timesteps))


def test_everything_is_told_in_order():
    diary, plain = Diary(), []
    model().learn(2 * BATCH, callback=[diary, lambda event, row: plain.append(event)])
    assert diary.seen == [
        ("start", 0),
        ("iteration", BATCH),
        ("evaluation", BATCH),
        ("iteration", 2 * BATCH),
        ("evaluation", 2 * BATCH),
        ("end", 2 * BATCH),
    ]
    assert plain == ["iteration", "evaluation"] * 2


def test_the_end_is_told_also_if_something_breaks():
    diary = Diary()

    def fail(event, row):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        model().learn(2 * BATCH, callback=[fail, diary])
    assert diary.seen == [("start", 0), ("end", BATCH)]


def test_any_of_several_stops_the_run_and_all_are_called():
    diary = Diary()
    agent = model().learn(9 * BATCH, callback=[lambda event, row: False, diary])
    assert agent.num_timesteps == BATCH
    assert ("evaluation", BATCH) in diary.seen


def test_train_takes_them_too():
    diary = Diary()
    mppo.train(SMALL["trpo"], ledge, steps=BATCH, eval_every=0, callback=diary)
    assert diary.seen == [("start", 0), ("iteration", BATCH), ("end", BATCH)]


def test_what_is_no_callback_is_refused():
    with pytest.raises(BadRequest, match="callback is 3"):
        as_callback(3)


def told(callback, returns):
    """Answers of a callback to evaluations with these returns."""

    callback.training = SimpleNamespace(evaluations=[])
    answers = []
    for value in returns:
        callback.training.evaluations.append({"mean_return": value})
        answers.append(callback.on_evaluation({"mean_return": value}))
    return answers


def test_stop_on_return():
    assert told(StopOnReturn(2.0), [1.0, 1.99, 2.0]) == [True, True, False]
    assert told(StopOnReturn(2.0), [None]) == [True]


def test_stop_without_improvement():
    """Two evaluations in a row without a new best; equal is not better."""
    answers = told(StopWithoutImprovement(2), [1.0, 3.0, 3.0, 4.0, 2.0, 3.9])
    assert answers == [True, True, True, True, True, False]
    assert told(StopWithoutImprovement(2), [1.0, float("nan"), None]) == [True, True, False]
    answers = told(StopWithoutImprovement(1, min_evaluations=4), [3.0, 2.0, 1.0, 1.0, 1.0])
    assert answers == [True, True, True, True, False]


def test_every_n_steps():
    rows = []
    model(eval_every=0).learn(
        5 * BATCH, callback=EveryNSteps(2 * BATCH - 1, lambda row: rows.append(row["steps"]))
    )
    assert rows == [2 * BATCH, 4 * BATCH]
    with pytest.raises(BadRequest, match="n is 0"):
        EveryNSteps(0, print)


def test_the_best_model_is_kept(tmp_path):
    agent = model(out=tmp_path / "run")
    agent.learn(4 * BATCH, callback=BestModel())
    returns = [row["mean_return"] for row in agent.evaluations]
    best = mppo.MPPO.load(tmp_path / "run" / "best", ledge)
    assert best.num_timesteps == BATCH * (1 + int(np.argmax(returns)))
    assert best.evaluate(2)[0] == max(returns)

    again = BestModel()
    agent.learn(BATCH, callback=again)
    assert again.best == max(row["mean_return"] for row in agent.evaluations)


def test_the_best_by_episodes_that_nobody_plays_is_refused(tmp_path):
    best = BestModel(tmp_path / "best", deterministic=True)
    run = SimpleNamespace(evaluation=Evaluation(deterministic_episodes=0))
    best.training = SimpleNamespace(run=run, evaluations=[])
    with pytest.raises(BadRequest, match="eval_deterministic_episodes=10"):
        best.on_training_start()


def test_a_mean_that_is_no_number_is_never_the_best(tmp_path, monkeypatch):
    """NaN compares as false with everything: it must neither be saved nor block what is."""
    written = []
    monkeypatch.setattr(model_file, "save", lambda path, *rest: written.append(path))
    best = BestModel(tmp_path / "best")
    run = SimpleNamespace(snapshot=lambda: ({}, {}), evaluation=Evaluation())
    before = [{"mean_return": float("nan")}, {"mean_return": None}, {"mean_return": 1.0}]
    best.training = SimpleNamespace(run=run, evaluations=before, description=dict)
    best.on_training_start()
    assert best.best == 1.0
    for value in (float("nan"), np.float64("nan"), None, 0.5, 1.0):
        best.on_evaluation({"mean_return": value})
    assert (written, best.best) == ([], 1.0)
    best.on_evaluation({"mean_return": 1.5})
    assert (written, best.best) == ([tmp_path / "best.safetensors"], 1.5)


def test_the_best_model_needs_a_place():
    with pytest.raises(BadRequest, match="needs a path"):
        model().learn(BATCH, callback=BestModel())


def test_a_progress_bar_and_lines(capsys):
    model(verbose=1).learn(2 * BATCH, progress_bar=True, log_interval=2)
    said = capsys.readouterr().out
    assert f"{2 * BATCH} steps  path 0  return" in said
    assert f"{BATCH} steps  path 0" not in said.replace(f"{2 * BATCH} steps", "")
    assert f"{BATCH} steps  evaluation" in said


def test_the_bar_is_put_away_when_something_breaks():
    bar = ProgressBar()
    with pytest.raises(ZeroDivisionError):
        model().learn(BATCH, callback=Callbacks([bar, lambda event, row: 1 / 0]))
    assert not bar._progress.live.is_started


class Endless(Constant):
    """No episode ends: there is no return to speak of."""

    length = 10**9


def is_plain(value):
    if type(value) in (dict, list):
        return all(map(is_plain, value.values() if type(value) is dict else value))
    return value is None or type(value) in (bool, int, float, str)


@pytest.mark.parametrize("env", [ledge, Endless])
def test_rows_are_the_same_plain_values_with_and_without_a_directory(env, tmp_path):
    """Those of the files: what a callback is told, what the agent keeps, what is read back."""
    settings = {"steps": 3 * BATCH, "seed": 3, "workers": 1, "eval_every": BATCH}
    settings |= {"eval_episodes": 2} if env is ledge else {"eval_every": 0}
    found = []
    for out in (None, tmp_path / "run"):
        told = []
        note = lambda event, row, told=told: told.append((event, row))
        agent = mppo.train(SMALL["mp-trpo"], env, out=out, callback=note, **settings)
        rows = [[row for event, row in told if event == kind] for kind in KINDS]
        assert rows == [agent.metrics, agent.evaluations]
        assert is_plain(rows)
        found.append(json.dumps(rows))
    assert found[0] == found[1]
    files = [tmp_path / "run" / name for name in ("metrics.jsonl", "evaluations.jsonl")]
    assert found[0] == json.dumps(
        [[json.loads(line) for line in file.read_text().splitlines()] for file in files]
    )
    row = json.loads(found[0])[0][0]
    assert round(row["kl"], 3) >= 0
    assert (row["return_mean"] is None) == (env is Endless)


def test_what_a_callback_does_to_its_row_stays_there():
    agent = mppo.train(
        SMALL["trpo"], ledge, steps=BATCH, callback=lambda event, row: row.clear() or True
    )
    assert (agent.metrics[0]["steps"], agent.evaluations[0]["steps"]) == (BATCH, BATCH)


def test_samples_and_seconds_are_at_hand():
    class Looks(Callback):
        def on_iteration(self, row):
            self.seen, self.took = self.training.run.trajectories, self.training.took

    looks = Looks()
    mppo.train(SMALL["trpo"], ledge, steps=BATCH, eval_every=0, callback=looks)
    assert looks.seen.rewards.shape == (ENVS, STEPS)
    assert looks.took["steps"] == BATCH
    assert looks.took["simulation"] > 0


def test_returns_that_are_not_known_are_shown_and_waited_for(capsys):
    agent = mppo.MPPO(Endless, SMALL["trpo"], verbose=1, eval_every=0, workers=1)
    agent.learn(BATCH, progress_bar=True)
    said = capsys.readouterr().out
    assert f"{BATCH} steps  path 0  return -  kl 0." in said
    assert told(StopWithoutImprovement(2), [None, 1.0, None, None]) == [True, True, True, False]
    patient = StopWithoutImprovement(1)
    patient.training = SimpleNamespace(evaluations=[{"mean_return": None}, {"mean_return": 1.0}])
    patient.on_training_start()
    assert patient.on_evaluation({"mean_return": 0.5}) is False
