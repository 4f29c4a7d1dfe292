"""Three iterations of every method, numbers on file.

The tests let XLA optimise little, as no user does. So one method of each base optimiser also runs
as users run it, from the shell and with XLA's own settings; its numbers are in `users/`.

A change of numbers needs a line in CHANGELOG that says why; then `pytest tests/golden
--golden-update` writes the files anew.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import mppo
from mppo.algorithm.methods import METHODS
from mppo.files.run_directory import plain
from mppo.machine.threads import ONE_THREAD
from tests.worlds import ENVS, SMALL, STEPS, ledge

HERE = Path(__file__).parent
SHOWN = (
    "picked",
    "slot",
    "episodes",
    "return_mean",
    "length_mean",
    "performance",
    "entropy",
    "gain",
    "kl",
    "surrogate_gain",
    "value_loss",
    "advantage_mean",
    "advantage_std",
)

USERS = {"mp-trpo": "Hopper-v5", "mp-ppo": "Pendulum-v1"}
BRIEFLY = ("--steps", "3000", "--batch-size", "1000", "--paths", "2", "--eval-every", "0")
BRIEFLY += ("--network.hidden", "16", "--critic.network.hidden", "16", "--quiet")


def trace(name):
    agent = mppo.train(SMALL[name], ledge, steps=3 * ENVS * STEPS, seed=0, eval_every=0, workers=1)
    rows = [{key: row[key] for key in SHOWN} for row in agent.metrics]
    leaves = jax.tree.leaves(agent.policy.parameters)
    norm = float(np.sqrt(sum(np.sum(np.square(leaf, dtype=np.float64)) for leaf in leaves)))
    return plain({"rows": rows, "path": agent.path, "parameter_norm": norm})


def trace_of_a_user(name, out):
    """Rows of the run directory; none of what these tests set for XLA is handed on."""
    ours = {"XLA_FLAGS", *ONE_THREAD}
    env = {key: value for key, value in os.environ.items() if key not in ours}
    words = ["train", name, USERS[name], *BRIEFLY, "--out", str(out)]
    subprocess.run([sys.executable, "-m", "mppo", *words], env=env, check=True)
    rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return {"rows": [{key: row[key] for key in SHOWN} for row in rows]}


def agrees(rows, on_file):
    """Another processor may round otherwise: 1e-4 relative, whole numbers exactly."""
    assert len(rows) == len(on_file) == 3
    for n, (row, wanted) in enumerate(zip(rows, on_file, strict=True)):
        for key in SHOWN:
            if isinstance(wanted[key], int):
                assert row[key] == wanted[key], (n, key)
            else:
                assert row[key] == pytest.approx(wanted[key], rel=1e-4, abs=1e-6), (n, key)


def on_file(file, found, request):
    """What the file holds, after `--golden-update` what was found."""
    if request.config.getoption("--golden-update"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(found, indent=1) + "\n")
    return json.loads(file.read_text())


@pytest.mark.parametrize("name", METHODS)
def test_numbers_are_those_on_file(name, request):
    found = trace(name)
    wanted = on_file(HERE / f"{name}.json", found, request)
    assert found["path"] == wanted["path"]
    assert found["parameter_norm"] == pytest.approx(wanted["parameter_norm"], rel=1e-4)
    agrees(found["rows"], wanted["rows"])


@pytest.mark.parametrize("name", USERS)
def test_numbers_of_users_are_those_on_file(name, request, tmp_path):
    found = trace_of_a_user(name, tmp_path / "run")
    agrees(found["rows"], on_file(HERE / "users" / f"{name}.json", found, request)["rows"])
    assert all(row["kl"] > 0 for row in found["rows"])
