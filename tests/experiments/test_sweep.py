"""Sweep files: what they mean, and what is said about mistakes in them."""

from pathlib import Path

import pytest

from mppo.errors import BadRequest
from mppo.experiments.sweep import read

EXAMPLE = Path(__file__).parents[2] / "examples" / "sweep.toml"
GOOD = """
steps = 1e4
seeds = [3, 5]
tasks = ["Maze-v0", {env = "Maze-v0", arguments = {layout = "one-wall"}, steps = 20_000}]
methods = ["trpo", {name = "mp-trpo", set = {network.hidden = [8, 8]}, vary = {
  paths = [2, 4], picking.alpha = [0, 0.5, 1]}}]
""".replace("{\n ", "{")  # TOML wants inline tables on one line


def canonical(env, arguments):
    return f"mppo/{env.removeprefix('mppo/')}"


def sweep(tmp_path, text):
    file = tmp_path / "own.toml"
    file.write_text(text)
    return read(file, canonical)


def test_every_task_with_every_method_and_seed(tmp_path):
    name, runs = sweep(tmp_path, GOOD)
    assert name == "own"
    assert len(runs) == 2 * 2 * (1 + 2 * 3)
    assert {run.seed for run in runs} == {3, 5}
    assert {(run.steps, run.env_kwargs) for run in runs} == {
        (10_000, ()),
        (20_000, (("layout", "one-wall"),)),
    }
    varied = {(run.method.paths, run.method.picking.alpha) for run in runs if run.method.paths > 1}
    assert varied == {(k, alpha) for k in (2, 4) for alpha in (0.0, 0.5, 1.0)}
    assert all(run.method.network.hidden == (8, 8) for run in runs if run.method.paths > 1)
    assert all(run.evaluation.deterministic_episodes == 0 for run in runs)


def test_a_task_may_be_evaluated_otherwise(tmp_path):
    text = """
steps = 1e4
tasks = ["Maze-v0", {env = "Other-v0", evaluation = {every = 5e3}}]
methods = ["trpo"]
evaluation = {every = 2_000, episodes = 3}
"""
    maze, other = sweep(tmp_path, text).runs
    assert (maze.evaluation.every, other.evaluation.every) == (2_000, 5_000)
    assert maze.evaluation.episodes == other.evaluation.episodes == 3
    wrong = text.replace("every = 5e3", "evry = 5e3")
    with pytest.raises(BadRequest, match=r'unknown key "evry" in evaluation.*"every"'):
        sweep(tmp_path, wrong)


def test_a_run_that_is_asked_for_twice_is_run_once(tmp_path):
    twice = GOOD.replace('"trpo",', '"trpo", {name = "mp-trpo", set = {paths = 1}},')
    assert sweep(tmp_path, twice).runs == sweep(tmp_path, GOOD).runs


def test_more_seeds_add_runs_and_change_none(tmp_path):
    few, more = (sweep(tmp_path, GOOD.replace("[3, 5]", seeds)).runs for seeds in ("2", "3"))
    assert {run.run_id for run in few} < {run.run_id for run in more}
    assert len(more) == len(few) * 3 // 2


def test_large_seeds_keep_every_digit(tmp_path):
    seeds = [2**53, 2**53 + 1, 2**63 - 1]
    runs = sweep(tmp_path, GOOD.replace("[3, 5]", str(seeds))).runs
    assert sorted({run.seed for run in runs}) == seeds


def test_the_example_is_what_its_comments_say():
    name, runs = read(EXAMPLE, canonical)
    assert name == "alpha on the Maze"
    assert [run.label for run in runs] == [
        f"mp-trpo paths=2 {alpha}batch_size=500 on Maze-v0, seed {seed}"
        for seed in (0, 1)
        for alpha in ("", "picking.alpha=0.5 ")
    ]


BAD = [
    ("seeds = [3, 5]", "seed = 3", 'unknown key "seed" in the file; did you mean "seeds"?'),
    ("seeds = [3, 5]", "seeds = 0", '"seeds" is 0'),
    ("seeds = [3, 5]", "seeds = [0.5]", '"seeds" is 0.5'),
    ("seeds = [3, 5]", "seeds = [9007199254740993.0]", "from 2^53 on in digits alone"),
    ("seeds = [3, 5]", "seeds = [9223372036854775808]", "it must be from 0 to 9223372036854775807"),
    ("steps = 1e4", "", '"steps" is missing'),
    ("steps = 1e4", "steps = 1.5", '"steps" is 1.5'),
    ("steps = 1e4", "steps = 100", "below one batch"),
    ("steps = 1e4", "steps =", "not valid TOML"),
    ('"trpo",', '"trop",', 'unknown method "trop"; did you mean "trpo"?'),
    ('"trpo",', "3,", "a method is 3"),
    ('"trpo",', "{set = {paths = 2}},", "it needs a name"),
    ("set = {", "sets = {", 'unknown key "sets" in a method; did you mean "set"?'),
    ("paths = [2, 4]", "paths = 2", "paths is 2; give a list of values"),
    ("paths = [2, 4]", "path = [2]", 'has no field "path"; did you mean "paths"?'),
    ("picking.alpha", "picking.alfa", 'did you mean "alpha"?'),
    ("[0, 0.5, 1]", "[0, 3]", "alpha is 3"),
    ("arguments", "argument", 'did you mean "arguments"?'),
    ("tasks = [", "tasks = []\nx = [", 'unknown key "x"'),
    ("\nmethods", "\n[evaluation]\nevry = 3\nmethods", 'did you mean "every"?'),
]


@pytest.mark.parametrize(("old", "new", "says"), BAD, ids=[new or says for _, new, says in BAD])
def test_mistakes_are_named_with_the_way_out(tmp_path, old, new, says):
    with pytest.raises(BadRequest) as error:
        sweep(tmp_path, GOOD.replace(old, new))
    assert says in str(error.value)
    assert "own.toml" in str(error.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(BadRequest, match="cannot read"):
        read(tmp_path / "none.toml", canonical)


def test_a_batch_that_cannot_be_shared_is_refused_before_the_first_run(tmp_path):
    text = """
steps = 512
tasks = ["CartPole-v1"]
methods = [{name = "ppo", set = {batch_size = 100, envs = 3}}]
"""
    with pytest.raises(BadRequest, match="100 steps cannot be shared by 3 environments"):
        sweep(tmp_path, text)
