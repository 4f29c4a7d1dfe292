"""The part about environments: what is compared with what, and what is left out."""

import importlib.util

import pytest

from mppo.bench import environments, peers
from mppo.bench.catalogue import ENVIRONMENTS, ROBOTS
from mppo.bench.measure import MeasurementFailed, Skipped
from mppo.bench.session import PARTS, Options, empty_result
from mppo.bench.show import text
from tests.bench.pretended import Pretended


def by_name(part):
    return {ratio.name: ratio for ratio in part.ratios}


def without(monkeypatch, *packages):
    real = importlib.util.find_spec
    there = lambda name: None if name in packages else real(name)
    monkeypatch.setattr(environments.importlib.util, "find_spec", there)


def test_collecting_and_training_against_bare_steps(tmp_path):
    part = environments.environments(Pretended(tmp_path))
    ratios = by_name(part)
    assert [table.name for table in part.tables] == ["environments-one", "environments-all"]
    wrapped = ratios["collecting-Hopper-v4, 2 wrappers"]
    assert (wrapped.values, wrapped.target) == ((0.8, 0.8, 0.8), 0.85)
    assert ratios["training-CartPole-v1"].values == (0.512, 0.512, 0.512)  # 2048 / 4 over 1000
    assert "collecting-Ant-v5" not in ratios  # compiled code draws from streams of its own
    one, both = (table.rows[-1] for table in part.tables[:2])
    assert [cell["median"] for cell in one[2:]] == [512.0, 800.0, 1000.0]
    assert both[0] == "CartPole-v1"
    assert both[2]["median"] == 2000.0  # two processes
    assert both[3] is None


def test_compiled_robots_against_bare_physics(tmp_path):
    ratios = by_name(environments.robots(Pretended(tmp_path)))
    assert [ratio.target for ratio in ratios.values()].count(0.75) == len(ROBOTS) - 1 == 10
    assert ratios["robots-Hopper-v5"].target == 0.82
    assert ratios["robots-Hopper-v5"].values == (0.5, 0.5, 0.5)


def test_one_case_by_itself(tmp_path):
    session = Pretended(tmp_path)
    session.case = "CartPole"
    part = environments.environments(session)
    assert [row[0] for row in part.tables[0].rows] == ["CartPole-v1"]
    assert {call[1] for call in session.calls} == {"CartPole-v1"}
    with pytest.raises(Skipped, match='nothing here is called "CartPole"'):
        environments.robots(session)


def test_the_tables_fit_a_terminal(tmp_path):
    every = ("environments", "robots", "workers")
    measured = {name: PARTS[name](Pretended(tmp_path)).as_json() for name in every}
    parts = {name: part | {"reason": None} for name, part in measured.items()}
    result = empty_result(Options()) | {"parts": parts}
    result["machine"]["processor"] = "abacus"
    assert max(map(len, text(result).splitlines())) <= 80


def test_workers_against_one(tmp_path):
    ratios = by_name(environments.workers(Pretended(tmp_path, quick=True)))
    assert ratios["workers-1 ms of waiting"].target == 6.0
    assert ratios["workers-1 ms of arithmetic"].target == 1.8
    assert all(value > 1 for value in ratios["workers-1 ms of waiting"].values)


def test_what_is_not_installed_is_left_out_with_a_line(tmp_path, monkeypatch):
    without(monkeypatch, "gymnasium_robotics", "Box2D", "stable_baselines3")
    session = Pretended(tmp_path)
    session.with_peers = True
    part = environments.environments(session)
    assert "PointMaze_UMaze-v3 is left out: gymnasium_robotics is not installed." in part.notes
    assert "LunarLander-v3 is left out: Box2D is not installed." in part.notes
    assert any(note.startswith("Without SB3 PPO: the peers are not") for note in part.notes)
    assert len(part.tables[0].rows) <= len(ENVIRONMENTS) - 4


def test_what_fails_is_left_out_with_a_line(tmp_path):
    class Failing(Pretended):
        def finish(self, process):
            if self.calls[-1][1] == "CartPole-v1":
                raise MeasurementFailed("no luck")
            return super().finish(process)

    part = environments.environments(Failing(tmp_path, quick=True))
    assert "CartPole-v1 failed: no luck." in part.notes
    assert part.tables[0].rows == []


def test_a_peer_has_as_many_environments(tmp_path, monkeypatch):
    session, called = Pretended(tmp_path, quick=True), []
    session.with_peers, session.peers_python = True, "python"

    def call(python, words, label):
        called.append(words)
        session.calls.append(("peer", "", "", 0, {}))
        return session

    finish = session.finish
    theirs = {"steps": 2048, "seconds": [9.0, 4.0]}  # the first one warms up: 512 a second
    session.finish = lambda process: theirs if session.calls[-1][0] == "peer" else finish(process)
    monkeypatch.setattr(peers, "call", call)
    part = environments.environments(session)
    assert called[0] == ["SB3 PPO", "CartPole-v1", "2", "2"]
    ratio = by_name(part)["environments-SB3 PPO-CartPole-v1"]
    assert ratio.values[0] == 200.0 / 512  # ours was the second process of all
    assert ratio.target == round(0.75 * 2000 / 512, 2)  # less than 4 times
    assert part.tables[1].rows[0][-1]["median"] == 512.0
