"""Worker processes of whole programs: what is printed there, and scripts without a guard."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def ended(script):
    """A program that has ended, with its last words."""
    path = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    return subprocess.run(
        [sys.executable, script],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=200,
    )


TRAIN = """
from functools import partial
import mppo
from tests.rollouts.odd_worlds import Pier

{pier}


def train():
    small = {{"batch_size": 128, "envs": 2, "network.hidden": (4,)}}
    mppo.train("trpo", {env}, steps=256, workers=2, step_timeout=2.0, eval_every=0,
               overrides=small)


{call}
"""
GUARDED = 'if __name__ == "__main__":\n    train()'
OWN = "class Own(Pier):\n    pass"


def program(tmp_path, **parts):
    script = tmp_path / "program.py"
    script.write_text(TRAIN.format(**parts))
    return script


def test_an_environment_that_prints_without_end_does_not_block(tmp_path):
    """Nobody need read its lines: it is named after the time that a step may take."""
    env = 'partial(Pier, "prints", 65)'
    found = ended(program(tmp_path, pier="", env=env, call=GUARDED))
    assert found.returncode == 1
    assert "hangs: environment" in found.stderr.splitlines()[-1]


def test_a_script_without_a_guard_is_not_run_again_where_nothing_of_it_is_needed(tmp_path):
    found = ended(program(tmp_path, pier="", env="Pier", call="train()"))
    assert found.returncode == 0, found.stderr


def test_an_environment_of_the_script_needs_the_guard(tmp_path):
    found = ended(program(tmp_path, pier=OWN, env="Own", call=GUARDED))
    assert found.returncode == 0, found.stderr
    found = ended(program(tmp_path, pier=OWN, env="Own", call="train()"))
    assert found.returncode == 1
    assert 'under `if __name__ == "__main__":`' in found.stderr.splitlines()[-1]
