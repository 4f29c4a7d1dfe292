"""The parts about speed: which runs they make, and the ratios of neighbours in time."""

import sys

import pytest

from mppo.bench import speed
from mppo.bench.measure import MeasurementFailed, Skipped
from mppo.bench.speed import FURTHER_LIMITS, LIMITS, PATHS
from tests.bench.pretended import Pretended


def by_name(part):
    return {ratio.name: ratio for ratio in part.ratios}


def test_the_limit_is_that_of_the_same_process(tmp_path):
    session = Pretended(tmp_path)
    ratios = by_name(speed.limit(session))
    assert ratios["limit-trpo-Hopper-v5"].values == (0.5, 0.5, 0.5)
    assert ratios["limit-trpo-Hopper-v5"].target == 0.75
    assert ratios["limit-trpo-Ant-v5"].values == (0.5, 0.5)  # no target: two rounds
    assert ratios["limit-trpo-Ant-v5"].target is None
    # the sixth run of a round on the Maze, over bare physics of the first
    assert ratios["limit-maze"].values == (600 / 200, 1200 / 1400, 1500 / 2600)
    assert len(session.calls) == 3 * (len(LIMITS) + 1) + 2 * len(FURTHER_LIMITS)
    assert all(call[-1].get("replay") for call in session.calls if "Maze" not in call[1])


def test_rates_on_one_core_and_on_all(tmp_path):
    part = speed.rates(Pretended(tmp_path))
    assert len(part.tables[0].rows) == 21
    assert part.tables[0].columns[-1] == "2 cores"
    ratios = by_name(part)
    assert "cores-trpo-Hopper-v5" not in ratios  # measured in turn by the part "cores"
    assert ratios["cores-ppo-Hopper-v5"].values == (4 / 3, 46 / 45)
    alone = speed.rates(Pretended(tmp_path, cores=[0], quick=True))
    assert alone.ratios == []
    assert alone.tables[0].rows[0][-1] is None


def test_cores_are_compared_in_one_process(tmp_path):
    session = Pretended(tmp_path)
    ratios = by_name(speed.cores(session))
    assert ratios["cores-trpo-Ant-v5"].values == (1.5, 1.5, 1.5)
    assert ratios["cores-trpo-Ant-v5"].target == 1.6
    assert ratios["cores-bare-Ant-v5"].values == (2.0, 2.0, 2.0)
    assert {call[2] for call in session.calls} == {"all"}
    more = by_name(speed.cores(Pretended(tmp_path, cores=[0, 1, 2])))
    assert more["cores-trpo-Ant-v5"].target is None  # it speaks of two cores


def test_two_runs_are_added_up(tmp_path):
    session = Pretended(tmp_path)
    (ratio,) = speed.two_runs(session).ratios
    assert ratio.values == pytest.approx((600 / 100, 1200 / 400, 1800 / 700))
    assert [call[3] for call in session.calls] == [0, 0, 1, 1, 1, 2, 2, 2, 3]


@pytest.mark.parametrize("part", [speed.cores, speed.two_runs])
def test_one_core_is_not_enough(part, tmp_path):
    with pytest.raises(Skipped, match="two cores to pin"):
        part(Pretended(tmp_path, cores=[0]))


def test_paths_are_compared_with_one_path(tmp_path):
    session = Pretended(tmp_path)
    ratios = by_name(speed.paths(session))
    n = len(PATHS)
    assert ratios["paths-64-memory"].values == tuple(
        (500 + n * r + n) / (500 + n * r + 1) for r in (1, 2, 3)
    )
    assert (ratios["paths-64-time"].target, ratios["paths-64-memory"].target) == (1.03, 1.02)
    assert ratios["paths-16-time"].target is None
    assert [call[-1]["iterations"] for call in session.calls[n - 1 : n + 1]] == [1, 20]
    assert all(call[-1]["steady_memory"] for call in session.calls)


def test_ratios_are_of_the_same_round(tmp_path, monkeypatch):
    commands = []

    def seconds(command, environment=None):
        commands.append(command)
        return {"--help": 0.3, "import argparse": 0.1, "import mppo": 0.2}.get(command[-1], 4.0)

    monkeypatch.setattr(speed, "_seconds", seconds)
    part = speed.startup(Pretended(tmp_path))
    values = {ratio.name: ratio.values for ratio in part.ratios}
    assert values["startup-help"] == pytest.approx((3.0, 3.0, 3.0))
    assert values["startup-import"] == pytest.approx((2.0, 2.0, 2.0))
    assert values["startup-cache"] == (1.0, 1.0, 1.0)
    assert len(commands) == 3 + 3 * (3 * 5 + 2)
    assert [row[0] for row in part.tables[0].rows] == [
        "mppo --help",
        'python -c "import argparse"',
        'python -c "import mppo"',
        "first iteration, empty cache",
        "first iteration, filled cache",
    ]


def test_a_command_that_fails_says_why():
    with pytest.raises(MeasurementFailed, match="ValueError: no"):
        speed._seconds([sys.executable, "-c", "raise ValueError('no')"])
