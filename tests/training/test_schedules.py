"""Runs whose settings follow schedules: the same bits after any interruption."""

import json

import jax
import numpy as np
import pytest

import mppo
from mppo.algorithm.schedules import rates
from mppo.cli import main
from mppo.errors import BadRequest
from mppo.files.reader import rows
from tests.runs import leave, outcome
from tests.training.test_model import BATCH, model
from tests.worlds import ledge, small

LINE = {"optimiser.learning_rate": "linear:1e-2", "optimiser.clip": "cosine:0.2:0.1"}
LINE |= {"optimiser.entropy_coefficient": "linear:0.01", "critic.learning_rate": "linear:1e-2"}


def test_a_run_that_is_stopped_after_every_iteration_ends_with_the_same_bits(tmp_path):
    leave(tmp_path / "whole", method="ppo", **LINE)
    for stop_after in range(1, 6):
        leave(tmp_path / "parts", method="ppo", stop_after=stop_after, **LINE)
    leave(tmp_path / "parts", method="ppo", **LINE)
    assert outcome(tmp_path / "parts") == outcome(tmp_path / "whole")
    found = [row["optimiser.learning_rate"] for row in rows(tmp_path / "whole", "metrics.jsonl")]
    assert found == pytest.approx([0.01 * (1 - n / 6) for n in range(6)])
    clips = [row["optimiser.clip"] for row in rows(tmp_path / "whole", "metrics.jsonl")]
    assert (clips[0], clips[3]) == pytest.approx((0.2, 0.15))


@pytest.mark.parametrize("name", ["ppo", "trpo"])
def test_a_value_enters_the_program_as_the_number_would(name):
    """A schedule that stays at the number gives what the number gives, and compiles once."""
    field = {"ppo": "optimiser.learning_rate", "trpo": "optimiser.max_kl"}[name]
    plain = model(method=small(name, **{field: 0.02})).learn(3 * BATCH)
    agent = model(method=small(name, **{field: "linear:0.02:0.02"})).learn(3 * BATCH)
    for key, array in plain.get_parameters().items():
        found = agent.get_parameters()[key]
        if array.dtype.kind == "f":
            np.testing.assert_allclose(found, array, atol=2e-4, err_msg=key)
    assert agent.run.programs.learn._cache_size() == 1


def test_the_schedule_decides_how_far_a_policy_moves():
    moved = []
    for rate in ("linear:1e-2:1e-2", "linear:0:0"):
        agent = model(method=small("ppo", **{"optimiser.learning_rate": rate}))
        before = agent.get_parameters()
        after = agent.learn(BATCH).get_parameters()
        names = [name for name in before if "parameters.network" in name]
        moved.append(max(np.abs(after[name] - before[name]).max() for name in names))
    assert moved[0] > 1e-3
    assert moved[1] == 0


def test_a_longer_run_has_another_fraction_left(tmp_path):
    """The fraction is of the budget that a run has at that time."""
    method = small("ppo", **{"optimiser.learning_rate": "linear:1e-2"})
    agent = model(method=method, out=tmp_path / "run").learn(2 * BATCH).learn(2 * BATCH)
    found = [row["optimiser.learning_rate"] for row in agent.metrics]
    assert found == pytest.approx([1e-2, 0.5e-2, 0.5e-2, 0.25e-2])
    again = model(method=method, out=tmp_path / "run").learn(2 * BATCH).learn(2 * BATCH)
    assert again.run.digest() == agent.run.digest()
    assert rates(method, 0.25) == {"optimiser.learning_rate": 0.25e-2}


def test_a_callable_is_called_and_asked_for_again(tmp_path):
    given = []

    def rate(progress_remaining):
        given.append(progress_remaining)
        return 1e-2 if progress_remaining > 0.6 else 1e-3

    agent = model(method=small("ppo"), optimiser__learning_rate=rate, out=tmp_path / "run")
    agent.learn(2 * BATCH)
    assert given[-2:] == [1.0, 0.5]
    assert [row["optimiser.learning_rate"] for row in agent.metrics] == [1e-2, 1e-3]
    written = json.loads((tmp_path / "run" / "run.json").read_text())
    assert written["method"]["optimiser"]["learning_rate"]["function"] == ""
    opened = mppo.MPPO.load(tmp_path / "run", ledge)
    grid = np.zeros((3, 1), np.float32)
    expected = agent.predict(grid, deterministic=True)[0]
    np.testing.assert_array_equal(opened.predict(grid, deterministic=True)[0], expected)
    with pytest.raises(BadRequest, match="which is not in its files: give it again from Python"):
        opened.learn(BATCH)
    assert opened.num_timesteps == 2 * BATCH
    other = {"optimiser__learning_rate": lambda left: left}
    with pytest.raises(BadRequest, match="holds another run"):
        model(method=small("ppo"), out=tmp_path / "run", **other).learn(3 * BATCH)
    again = model(method=small("ppo"), optimiser__learning_rate=rate, out=tmp_path / "run")
    assert len(again.learn(2 * BATCH).learn(BATCH).metrics) == 3


def test_the_command_line_takes_schedules(tmp_path, capsys):
    out, start = str(tmp_path / "run"), ["train", "ppo", "mppo/Maze-v0", "--eval-every", "0"]
    tiny = ["--batch-size", "200", "--network.hidden", "4", "--critic.network.hidden", "4"]
    words = ["--optimiser.learning-rate", "linear:3e-4", "--steps", "400", "--quiet"]
    assert main([*start, *tiny, *words, "--out", out]) == 0
    found = [row["optimiser.learning_rate"] for row in rows(out, "metrics.jsonl")]
    assert found == pytest.approx([3e-4, 1.5e-4])
    changes = json.loads((tmp_path / "run" / "run.json").read_text())["changes"]
    assert ["optimiser.learning-rate", "linear:0.0003"] in changes
    capsys.readouterr()
    for bad, said in (("linear:1e-3:-1", "goes below zero"), ("linear", "nor a schedule")):
        assert main([*start, "--optimiser.learning-rate", bad]) == 2
        printed = capsys.readouterr().err
        assert said in printed
        assert printed.count("\n") == 1
    assert main([*start, "--optimiser.clip", "linear:0.1", "--print-config"]) == 0
    assert 'clip = "linear:0.1"' in capsys.readouterr().out


def test_without_schedules_the_program_takes_no_more_than_before():
    agent = model(method=small("ppo"))
    agent.learn(BATCH)
    state, i = agent.run.state, jax.numpy.asarray(0)
    lowered = agent.run.programs.learn.lower(state, i, agent.run.trajectories)
    leaves = jax.tree.leaves((state, i, agent.run.trajectories))
    assert len(jax.tree.leaves(lowered.in_avals)) == len(leaves)
