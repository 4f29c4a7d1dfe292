"""An optimiser and a picking rule from outside the package, named by import path."""

import json
import sys
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from mppo.algorithm import estimates
from mppo.algorithm.optimisers.fisher import fisher_product
from mppo.algorithm.surrogate import ratios
from mppo.cli import main
from mppo.files.reader import rows
from mppo.training.programs import programs
from tests.worlds import CHOOSING, SMALL, random_trajectories

EXAMPLES = str(Path(__file__).parents[2] / "examples")


@pytest.fixture
def own(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    import own_optimiser

    yield own_optimiser
    sys.modules.pop("own_optimiser")


def test_the_step_is_the_natural_gradient(own):
    """Against the explicit Fisher matrix, solved by linear algebra."""
    method, trajectories = SMALL["trpo"], random_trajectories(0)
    state = programs(method, CHOOSING).init(jax.random.key(0))
    policy = jax.tree.map(lambda leaf: leaf[0], jax.device_get(state.population.policy))
    raw = jnp.asarray(np.random.default_rng(1).normal(size=(4, 64)).astype(np.float32))
    as_batch = jax.jit(partial(estimates.as_batch, method, CHOOSING))
    batch = as_batch(policy, trajectories, raw)
    optimiser = own.NaturalGradient(max_kl=1e-3)
    no_bonus = lambda policy, observations: jnp.asarray(0.0)
    update = lambda: optimiser.update(CHOOSING, (), policy, batch, no_bonus, jax.random.key(1))
    improved, _, log = jax.jit(update)()
    theta, unravel = ravel_pytree(policy.parameters)
    gain = lambda t: jnp.mean(
        ratios(CHOOSING, policy._replace(parameters=unravel(t)), batch) * batch.advantages
    )
    g = np.asarray(jax.jit(jax.grad(gain))(theta), np.float64)
    product = lambda v: fisher_product(CHOOSING, policy, batch.observations)(v)
    fisher = jax.jit(jax.vmap(product))(jnp.eye(len(theta)))
    matrix = np.asarray(fisher, np.float64) + 0.1 * np.eye(len(g))
    x = np.linalg.solve(matrix, g)
    wanted = np.sqrt(2 * 1e-3 / (g @ x)) * x
    found = np.asarray(ravel_pytree(improved.parameters)[0] - theta)
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)
    assert 0 < log["kl"] < 1e-3  # damping makes the step shorter than it aims at


def test_from_the_command_line(tmp_path, monkeypatch, capsys):
    """Found from the working directory, its fields as flags, its settings on disk."""
    monkeypatch.chdir(EXAMPLES)
    monkeypatch.setattr(sys, "path", [*sys.path])
    words = ["mppo/Maze-v0", "--steps", "600", "--batch-size", "200", "--paths", "2"]
    words += ["--network.hidden", "4", "--critic.network.hidden", "4", "--eval-every", "0"]
    words += ["--optimiser", "own_optimiser:NaturalGradient", "--optimiser.max-kl", "0.005"]
    words += ["--picking", "own_optimiser:UpperConfidence", "--out", str(tmp_path / "run")]
    assert main(["train", "mp-trpo", *words]) == 0
    assert "own_optimiser:NaturalGradient" in capsys.readouterr().out
    method = json.loads((tmp_path / "run" / "run.json").read_text())["method"]
    assert method["optimiser"] == {
        "kind": "own_optimiser:NaturalGradient", "max_kl": 0.005, "damping": 0.1}  # fmt: skip
    assert method["picking"] == {"kind": "own_optimiser:UpperConfidence", "width": 1.0}
    picked = [row["picked"] for row in rows(tmp_path / "run", "metrics.jsonl")]
    assert sorted(picked[:2]) == [0, 1]
    assert main(["evaluate", str(tmp_path / "run"), "--episodes", "1"]) == 2
    assert "--allow-imports" in capsys.readouterr().err
    assert main(["evaluate", str(tmp_path / "run"), "--episodes", "1", "--allow-imports"]) == 0
    sys.modules.pop("own_optimiser")


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("own_optimiser:Naturel", "has no attribute 'Naturel'"),
        ("no_such_module:Rule", "No module named 'no_such_module'"),
        ("json:JSONDecoder", "is not a frozen dataclass"),
        ("trop", 'did you mean "trpo"?'),
    ],
)
def test_what_cannot_be_used_is_said(kind, says, own, capsys):
    assert main(["train", "mp-trpo", "mppo/Maze-v0", "--optimiser", kind]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1
