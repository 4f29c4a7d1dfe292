"""Runs of paths that differ: the race, exact resumption, evaluations with a path's own noise."""

import shutil

import gymnasium
import jax
import numpy as np
import pytest

from mppo.acting.actor import Actor
from mppo.algorithm.contest import Contest
from mppo.algorithm.methods import METHODS, Method
from mppo.algorithm.population import member
from mppo.algorithm.styles import Style
from mppo.envs.source import env_source
from mppo.files import checkpoints
from mppo.files.evaluation import Evaluation
from mppo.files.reader import rows
from mppo.files.run_directory import RunDirectory
from mppo.files.settings import overridden
from mppo.machine.seeding import Role, generator
from mppo.training.evaluating import persistent, style_of
from mppo.training.opening import load
from mppo.training.options import Options
from mppo.training.run import Run
from mppo.training.start import begin
from tests.runs import outcome

PERSISTENT = Style(persistence=0.8, choice_persistence=0.9)
APART = Style(output_scale=1.0, sigma=0.3, filter="none", persistence=0.5)
STYLED = overridden(
    METHODS["trpo"],
    {
        "paths": 4,
        "styles": (Style(bonus=0.5), APART, PERSISTENT, Style(filter="folded", sigma=0.5)),
        "picking": Contest(
            caution=1.0, ahead=10.0, patience=2, share=2, looks_back=3, races_again=True
        ),
        "value": "independent",
        "estimator": "window",
        "estimator.episodes": 6,
        "exploration": "curiosity",
        "exploration.size": 4,
        "sharing": "successes",
        "sharing.memory": 50,
        "sharing.samples": 20,
        "race": 2,
        "envs": 2,
        "batch_size": 80,
        "network.hidden": (4,),
        "critic.network.hidden": (4,),
        "critic.epochs": 1,
        "optimiser.cg_iterations": 2,
    },
)
ITERATIONS = 7
NATIVE = "mppo/SparseDoublePendulum-v0"


class Paid(gymnasium.Wrapper):
    """Every step is paid what is seen first."""

    def step(self, action):
        seen, _, terminated, truncated, info = self.env.step(action)
        return seen, float(seen[0]), terminated, truncated, info


def paid():
    """The same spaces, stepped by Python, in episodes of 20 steps."""
    return Paid(gymnasium.make(NATIVE, max_episode_steps=20))


def prepared(env, iterations=ITERATIONS):
    """One shape for all, so that it compiles once; on the native task no episode ends."""
    steps = iterations * STYLED.batch_size
    evaluation = Evaluation(240, 2, 1)
    return Run(STYLED, env_source(env), steps, 3, evaluation, workers=1, unfinished="drop")


def to_the_end(path, run, copies=None):
    """Train in a directory; `copies` of it are taken before a checkpoint follows an iteration."""
    directory = RunDirectory(path)

    def copy(event, row):
        if event == "iteration" and row["iteration"] and copies is not None:
            shutil.copytree(path, copies / str(row["iteration"]))

    try:
        begin(run, directory, "trpo", Options(checkpoint_every=1)).to_the_end(copy)
    finally:
        directory.close()
        run.close()


@pytest.mark.parametrize(
    ("env", "killed"), [(paid, (2, 5)), (NATIVE, (1, 2, 3, 5))], ids=["python", "native"]
)
def test_a_run_with_all_of_it_resumes_from_any_checkpoint_with_the_same_bits(tmp_path, env, killed):
    to_the_end(tmp_path / "whole", prepared(env), tmp_path)
    wanted, found = outcome(tmp_path / "whole"), rows(tmp_path / "whole", "metrics.jsonl")
    assert [len(row["style"]) for row in found] == [4] * ITERATIONS
    assert all(row["theorem_bound"] is None for row in found)  # it says nothing of this rule
    races = [(row["picked"], row["kl"]) for row in found[1:3]]
    assert races == [(1, 0.0)] * 2  # one path is apart
    assert found[0]["kl"] != 0
    # nothing is paid on the native task, and the race goes on: 3 = 1 + 2, 6 = 1 + 2 + 3
    later = [row["iteration"] for row in found[3:] if row["kl"] == 0.0]
    assert later == ([3, 6] if env == NATIVE else [])
    styles = [tuple(row["style"]) for row in found]
    assert (len(set(styles)) > 1) == (env == NATIVE)  # where nothing is paid, some are drawn anew
    for iteration in killed:
        copy = tmp_path / str(iteration)
        assert checkpoints.numbers(copy / "checkpoints")[0] == iteration
        to_the_end(copy, prepared(env))
        assert outcome(copy) == wanted, iteration


def test_every_round_of_a_race_starts_new_episodes():
    """Each environment has another policy than in the round before."""
    run = prepared(NATIVE)
    run.collector._continues = True  # as with episodes="continue", whose programs are the same
    length = []
    for _ in range(5):
        run.iterate()
        assert run.trajectories is not None
        length.append(run.trajectories.earlier.length.tolist())
        assert not (run.trajectories.terminated | run.trajectories.truncated).any()
    run.close()
    assert length[1:3] == [[0, 0], [0, 0]]


def test_in_a_race_each_environment_has_a_policy_of_its_own():
    run = prepared(NATIVE)
    run.iterate()
    before = run.state
    ran = jax.device_get(run.programs.runners(before, run.envs))
    row = run.iterate()
    seen = run.trajectories
    assert seen is not None
    for e in range(2):
        policy, style = member(ran.policy, e), run.method.styles[int(ran.style[e])]
        assert style == APART
        actor = Actor(run.architecture, policy, style)
        noise = actor.noise(generator(3, Role.ACTIONS, 1, e), 40)
        wanted = actor.outputs(seen.observations[e]) + noise
        np.testing.assert_allclose(seen.actions[e], wanted, rtol=1e-5, atol=1e-6)
    assert np.abs(seen.actions[0] - seen.actions[1]).mean() > 0.1
    assert row["picks"][1] == 0
    run.close()


def lead(run, path):
    """Let the rule report that path."""
    record = run.state.population.record
    performance = run.state.population.performance
    population = run.state.population._replace(
        record=record._replace(picks=record.picks.at[:].set(1)),
        performance=performance.at[:].set(0).at[path].set(1e6),
    )
    run.state = run.state._replace(population=population)


@pytest.mark.parametrize("path", [0, 2])
def test_evaluations_show_white_noise_the_path_s_own_and_the_mean(path):
    run = prepared(paid, 1)
    lead(run, path)
    row = run.evaluate()
    assert row["path"] == path
    play = lambda style, **how: run.evaluator.play(
        Actor(run.architecture, run.programs.report(run.state)[1], style), 0, 2, **how
    ).returns.mean()
    assert row["mean_return"] == pytest.approx(play(Style()))
    own = play(style_of(run.method, run.state, path))
    assert row["mean_return_own_noise"] == pytest.approx(own)
    assert (own == play(Style())) == (path == 0)  # the first path's noise is white
    silent = run.evaluator.play(
        Actor(run.architecture, run.programs.report(run.state)[1]), 0, 1, True
    ).returns.mean()
    assert row["mean_return_deterministic"] == pytest.approx(silent)
    run.close()


def test_where_all_noise_is_white_there_is_no_other_number():
    persists = lambda *styles: persistent(Method(paths=2, styles=styles))
    assert not persists()
    assert not persists(Style(), Style(output_scale=1.0, sigma=0.3))
    assert persists(Style(), PERSISTENT)


def test_the_agent_of_a_run_has_the_style_of_its_path_and_keeps_it_when_loaded(tmp_path):
    run = prepared(paid, 1)
    to_the_end(tmp_path / "run", run)
    agent = run.agent()
    assert agent.style == run.method.styles[agent.path]
    for path in range(4):
        assert load(tmp_path / "run", path=path, env=paid).style == run.method.styles[path]
    assert load(tmp_path / "run", env=paid).style == agent.style
    persistent = load(tmp_path / "run", path=2, env=paid)
    _, state = persistent.predict(np.zeros((2, run.task.spaces.observation_size)), own_noise=True)
    assert state.shape == (2, 1)
