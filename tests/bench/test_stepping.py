"""Training, collecting and bare steps of one environment in turn."""

import io
import json

import pytest

from mppo.bench import catalogue, stepping
from mppo.bench.measure import answer
from mppo.bench.stepping import Stepping, measure_in_turn

BLACKJACK = Stepping("Blackjack-v1", "Blackjack-v1", "", 60, 2)


def test_bare_steps_are_those_of_collecting():
    sample = measure_in_turn(BLACKJACK)
    assert set(sample["seconds"]) == {"training", "collecting", "again", "random"}
    assert all(len(took) == 2 and min(took) > 0 for took in sample["seconds"].values())
    assert sample["steps"] == {"training": 2048, "collecting": 60, "again": 60, "random": 60}
    assert (sample["native"], sample["envs"]) == (False, 1)


def test_other_steps_are_refused():
    env = catalogue.make("Blackjack-v1")
    with pytest.raises(RuntimeError, match="not the same"):
        stepping._again(env, 0, [0] * 20, 99.0, lambda: 0.0)


def test_bare_steps_wait_for_the_start(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("go\n"))
    task = {"env": "", "id": "Blackjack-v1", "package": "", "steps": 50, "repetitions": 2}
    answer(Stepping, stepping.measured, ["[]", json.dumps(task | {"together": True})])
    ready, line = capsys.readouterr().out.splitlines()
    sample = json.loads(line)
    assert ready == "ready"
    assert sample["rate"] == pytest.approx(100 / sum(sample["seconds"]))
