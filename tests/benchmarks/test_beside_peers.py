"""Our runs beside the peers' curves: numbers worked by hand."""

import json
from pathlib import Path

import pytest

from benchmarks import beside_peers
from mppo.experiments.collection import Record
from mppo.files import settings


def run(seed, returns, steps=1000, env="package:Task-v0", method="trpo"):
    own = settings.to_json(settings.method_named(method))
    found = Record(Path("x"), method, own, env, {}, seed, steps, True)
    at = [steps * (n + 1) // len(returns) for n in range(len(returns))]
    found.__dict__["_evaluations"] = [
        {"steps": step, "path": 0, "mean_return": value}
        for step, value in zip(at, returns, strict=True)
    ]
    return found


def curve(seed, last, steps=1000, env="Task-v0", algorithm="ppo"):
    points = [[steps // 2, 0.0], [steps, last]]
    return {"algorithm": algorithm, "env": env, "seed": seed, "curve": points}


@pytest.fixture
def peers(tmp_path):
    rows = [curve(0, 1.0), curve(1, 2.0), curve(2, 9.0, steps=500), curve(0, 5.0, env="Other-v0")]
    file = tmp_path / "peers.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return beside_peers.theirs([file], ("Task-v0", 1000))


def test_a_peer_counts_on_its_task_at_the_end_of_as_many_steps(peers):
    assert peers == {"ppo": [1.0, 2.0]}


def test_a_row_says_how_often_ours_beats_the_peer(peers):
    runs = [run(1, [0.0] * 9 + [3.0]), run(0, [7.0] * 9 + [1.0]), run(2, [1.0, 1.0])]
    runs[2].__dict__["_evaluations"].pop()  # it was cut: no score
    mine = beside_peers.ours(runs, "evaluations")
    assert mine == {("Task-v0", 1000): {"trpo": [1.0, 3.0]}}  # the last tenth, in order of seeds
    section = beside_peers.section(("Task-v0", 1000), mine["Task-v0", 1000], peers)
    assert section.heading == "Task-v0, 1,000 steps"
    first, second = (dict(zip(section.columns, row, strict=True)) for row in section.rows)
    chance = first["P against the peer [95 %]"]
    assert chance.startswith("Stable-Baselines3 PPO: 0.62 [")  # 1 = 1, 1 < 2, 3 > 1, 3 > 2
    assert first["of each seed"] == "1.00 3.00"
    assert second["method"] == "Stable-Baselines3 PPO"
    assert second["return [95 %]"].startswith("1.50 [")


def test_a_method_is_set_beside_the_peer_of_its_name(peers):
    both = {**peers, "trpo": [4.0]}
    section = beside_peers.section(("Task-v0", 1000), {"trpo": [5.0], "sp-trpo": [5.0]}, both)
    said = [row[section.columns.index("P against the peer [95 %]")] for row in section.rows]
    assert said[0].startswith("sb3-contrib TRPO: 1.00")
    assert "PPO" not in said[0]
    assert [line.split(":")[0] for line in said[1].split("\n")] == [
        "Stable-Baselines3 PPO",
        "sb3-contrib TRPO",
    ]
