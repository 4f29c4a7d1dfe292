"""Runs whose batches cannot hold whole episodes: J moves all the same (decision 0036)."""

import json
import warnings
from dataclasses import replace

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers import TimeLimit

import mppo
from mppo.algorithm.iteration import pick
from mppo.cli import main
from mppo.errors import BadRequest, SettingsWarning
from mppo.files.reader import rows
from mppo.rollouts import evaluator
from mppo.training.programs import programs
from tests.worlds import (
    CHOOSING,
    ENVS,
    SMALL,
    STEPS,
    ByAction,
    ledge,
    random_trajectories,
    small,
    with_rewards,
)

BATCH = ENVS * STEPS
LINEAR = {"network.hidden": (), "critic.network.hidden": (), "optimiser.epochs": 2}  # compiles fast
METHOD = small("mp-ppo", **LINEAR, **{"paths": 4, "picking.start": "evaluate"})
"""The first four iterations only measure J, which compiles much faster than learning."""


CHOOSING_LINEAR = replace(CHOOSING, network=METHOD.network)


class Endless(ByAction):
    """Action 1 pays 1, action 0 costs 1, and it never ends."""

    length = 10**9


def limited():
    """The same, with a time limit that no batch of SMALL reaches."""
    return TimeLimit(Endless(), STEPS + 1)


def measured(row):
    """J of the picked path before the gain."""
    return float(row["performance"][int(row["slot"])]) - float(row["gain"])


def settings_warnings(said):
    return [str(one.message) for one in said if issubclass(one.category, SettingsWarning)]


def test_too_many_environments_are_refused():
    with pytest.raises(BadRequest, match=r"64 each.* may take 65: .*Use --envs 2, a --batch-size"):
        mppo.train(METHOD, limited, steps=BATCH)


def test_a_vector_environment_that_is_as_it_is_gets_a_j_that_moves(tmp_path):
    vector = lambda: SyncVectorEnv([limited] * ENVS)
    with pytest.warns(SettingsWarning) as said:
        agent = mppo.train(METHOD, vector, steps=4 * BATCH, eval_every=0, out=tmp_path / "run")
    assert len(settings_warnings(said)) == 1
    assert f"gives each environment {STEPS} steps" in settings_warnings(said)[0]
    assert json.loads((tmp_path / "run" / "run.json").read_text())["unfinished"] == "bootstrap"
    assert [row["episodes"] for row in agent.metrics] == [0] * 4
    assert [row["return_mean"] for row in agent.metrics] == [None] * 4
    assert len({measured(row) for row in agent.metrics} - {0.0}) == 4


def test_without_a_limit_j_is_the_discounted_return_with_v_and_nothing_is_said(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error", SettingsWarning)
        model = mppo.MPPO(Endless, METHOD, eval_every=0, workers=1)
        model.learn(4 * BATCH)
    assert model.run.unfinished == "window"
    assert len({measured(row) for row in model.metrics} - {0.0}) == 4
    again = mppo.MPPO.load(model.save(tmp_path / "model"), Endless)
    assert again.run.unfinished == "window"
    moved = mppo.MPPO.load(tmp_path / "model", ledge)  # whole episodes there
    assert moved.run.unfinished == "drop"
    model.set_env(ledge)
    assert model.run.unfinished == "drop"
    assert model.run.programs is programs(METHOD, CHOOSING_LINEAR)


def test_cart_pole_with_more_environments_than_its_batches_allow():
    """The J of a batch in which nothing ended is not that of the batch before."""
    settings = {"batch_size": 256, "envs": 32, **LINEAR}
    with pytest.warns(SettingsWarning, match=r"gives each environment 8 steps.*may take 500"):
        agent = mppo.train("mp-ppo", "CartPole-v1", steps=8 * 256, eval_every=0, overrides=settings)
    idle = [n for n, row in enumerate(agent.metrics) if int(row["episodes"]) == 0]
    assert len(idle) >= 4
    assert len({measured(row) for row in agent.metrics}) == 8
    assert min(map(measured, agent.metrics)) > 7.5  # 8 steps paid by 1, and a V of about 0


@pytest.mark.parametrize(("unfinished", "picked"), [("drop", 1), ("bootstrap", 0)])
def test_a_path_that_does_not_fail_beats_one_that_does(unfinished, picked):
    """Path 0 goes on to the end of the batch, path 1 fails every four steps; each step pays 1."""
    compiled = programs(SMALL["mp-trpo"], CHOOSING, unfinished)
    state = compiled.init(jax.random.key(0))
    lasting = with_rewards(random_trajectories(0, ends=0.0), 1.0)
    failing = lasting.terminated.copy()
    failing[:, 3::4] = True
    state, _ = compiled.measure_only(state, jnp.asarray(0, jnp.int32), lasting)
    seen = lasting._replace(terminated=failing)
    state, _ = compiled.measure_only(state, jnp.asarray(1, jnp.int32), seen)
    J = np.asarray(state.population.performance)
    if unfinished == "bootstrap":
        assert J[0] > 50
        assert J[1] == pytest.approx(sum(METHOD.gamma**t for t in range(4)), rel=1e-5)
    else:  # what was wrong where no batch holds a whole episode
        assert J.tolist() == [0.0, 4.0]
    assert int(pick(SMALL["mp-trpo"], state)[0]) == picked


def test_evaluations_that_are_cut_say_so_once(tmp_path, monkeypatch):
    monkeypatch.setattr(evaluator, "LONGEST", 6)
    monkeypatch.setattr("mppo.training.evaluating.LONGEST", 6)
    with pytest.warns(SettingsWarning) as said:
        agent = mppo.train(
            METHOD,
            ledge,
            steps=2 * BATCH,
            eval_every=BATCH,
            eval_episodes=3,
            eval_deterministic_episodes=3,
            out=tmp_path / "run",
        )
    found = rows(tmp_path / "run", "evaluations.jsonl")
    assert found == agent.evaluations
    assert all(0 < row["cut"] <= 6 for row in found)
    assert settings_warnings(said) == [
        f'{found[0]["cut"]} of 6 evaluation episodes on "Ledge" were stopped after 6 steps: their '
        "returns are those of that many steps; a time limit (gymnasium.wrappers.TimeLimit) gives "
        "whole episodes"
    ]


def test_evaluate_says_what_was_cut(tiny_run, monkeypatch, capsys):
    assert main(["evaluate", str(tiny_run), "--episodes", "2"]) == 0
    whole = capsys.readouterr().out
    assert "stopped" not in whole
    monkeypatch.setattr(evaluator, "LONGEST", 10)
    assert main(["evaluate", str(tiny_run), "--episodes", "2"]) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[-1] == "2 had no end after 10 steps and were stopped there"
    assert main(["evaluate", str(tiny_run), "--episodes", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cut"] == 2
    model = mppo.MPPO.load(tiny_run)
    with pytest.warns(SettingsWarning, match='3 of 3 evaluation episodes on "mppo/Maze-v0"'):
        model.evaluate(3)
    model.close()


def test_the_command_line_says_it_in_one_line(tmp_path, capsys):
    tiny = ["--batch-size", "200", "--network.hidden", "4", "--critic.network.hidden", "4"]
    words = ["train", "mp-trpo", "mppo/Maze-v0", *tiny, "--paths", "2", "--steps", "200"]
    words += ["--eval-every", "0", "--out", str(tmp_path / "run")]
    assert main(words) == 0
    said = capsys.readouterr()
    assert said.err == (
        'mppo: note: a batch gives each environment 200 steps, and an episode of "mppo/Maze-v0" '
        "may take 1000: J counts unfinished episodes by their return so far plus V; use "
        "--batch-size 1000 or more for whole episodes\n"
    )
    assert " J 0." in said.out or " J -0." in said.out  # the line at the end, where none has ended
    assert "return" not in said.out
    assert main([*words[:-1], str(tmp_path / "quiet"), "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_the_time_limit_of_a_vector_environment_is_found():
    env = SyncVectorEnv([lambda: TimeLimit(Endless(), 7)] * 2)
    assert mppo.envs.source.env_source(env).horizon == 7
    assert mppo.envs.source.env_source(SyncVectorEnv([Endless] * 2)).horizon is None
    known = gymnasium.make_vec("CartPole-v1", num_envs=2)
    assert mppo.envs.source.env_source(known).horizon == 500
