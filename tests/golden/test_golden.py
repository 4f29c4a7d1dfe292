"""Three iterations of every method, numbers on file.

A change of numbers needs a line in CHANGELOG that says why; then `pytest tests/golden
--golden-update` writes the files anew.
"""

import json
from pathlib import Path

import jax
import numpy as np
import pytest

import mppo
from mppo.methods import METHODS
from mppo.store import plain
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


def trace(name):
    agent = mppo.train(SMALL[name], ledge, steps=3 * ENVS * STEPS, seed=0, eval_every=0, workers=1)
    rows = [{key: row[key] for key in SHOWN} for row in agent.metrics]
    leaves = jax.tree.leaves(agent.policy.parameters)
    norm = float(np.sqrt(sum(np.sum(np.square(leaf, dtype=np.float64)) for leaf in leaves)))
    return plain({"rows": rows, "path": agent.path, "parameter_norm": norm})


@pytest.mark.parametrize("name", METHODS)
def test_numbers_are_those_on_file(name, request):
    """Another processor may round otherwise: 1e-4 relative, whole numbers exactly."""
    found, file = trace(name), HERE / f"{name}.json"
    if request.config.getoption("--golden-update"):
        file.write_text(json.dumps(found, indent=1) + "\n")
        return
    wanted = json.loads(file.read_text())
    assert found["path"] == wanted["path"]
    assert found["parameter_norm"] == pytest.approx(wanted["parameter_norm"], rel=1e-4)
    assert len(found["rows"]) == len(wanted["rows"]) == 3
    for n, (row, on_file) in enumerate(zip(found["rows"], wanted["rows"], strict=True)):
        for key in SHOWN:
            if isinstance(on_file[key], int):
                assert row[key] == on_file[key], (n, key)
            else:
                assert row[key] == pytest.approx(on_file[key], rel=1e-4, abs=1e-6), (n, key)
