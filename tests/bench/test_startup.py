"""Start-up: which commands are timed, and against what."""

import sys

import pytest

from mppo.bench import startup
from mppo.bench.measure import MeasurementFailed
from tests.bench.pretended import Pretended


def test_ratios_are_of_the_same_round(tmp_path, monkeypatch):
    commands = []

    def seconds(command, environment=None):
        commands.append(command)
        return {"--help": 0.3, "import argparse": 0.1, "import mppo": 0.2}.get(command[-1], 4.0)

    monkeypatch.setattr(startup, "_seconds", seconds)
    part = startup.startup(Pretended(tmp_path))
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
        startup._seconds([sys.executable, "-c", "raise ValueError('no')"])
