"""What runs cost: worked by hand, and measured once."""

import json
import subprocess
from types import SimpleNamespace

import pytest

from mppo.experiments.spec import spec
from mppo.paper import costs
from mppo.paper.artefacts import MAZE, TASKS

MEASURED = {"step": dict.fromkeys(TASKS, 1e-5), "update": {"trpo": 0.1, "ppo": 0.4}}


def test_a_cost_worked_by_hand():
    # 1M steps and 10 episodes of 1,000 after every 10,000 of them; 200 or 489 updates
    assert costs.cost(spec("trpo", MAZE, 0, 1_000_000), MEASURED) == pytest.approx(20 + 20)
    ppo = costs.cost(spec("ppo", MAZE, 0, 1_000_000), MEASURED)
    assert ppo == pytest.approx(20 + 0.4 * 1_000_000 / 2048)


def test_this_machine_is_measured_once(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    calls = []

    def run(command, **options):
        calls.append(command[1:])
        return SimpleNamespace(stdout=json.dumps(MEASURED))

    monkeypatch.setattr(subprocess, "run", run)
    said = []
    assert costs.calibration(measure=False, say=said.append) is None
    first = costs.calibration(measure=True, say=said.append)
    assert costs.calibration(measure=False, say=said.append) == first
    assert calls == [["-m", "mppo.paper.costs"]]
    assert len(said) == 1
    kept = json.loads((tmp_path / "mppo" / "calibration.json").read_text())
    kept["machine"]["cores"] += 1  # another machine
    (tmp_path / "mppo" / "calibration.json").write_text(json.dumps(kept))
    assert costs.calibration(measure=False, say=said.append) is None
