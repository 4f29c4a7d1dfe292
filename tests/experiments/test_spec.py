"""What makes two runs the same run, and the command line that trains it."""

import random

import pytest

from mppo.algorithm.methods import METHODS
from mppo.cli.train import parsed
from mppo.errors import BadRequest
from mppo.experiments.spec import GRID_EVALUATION, spec
from mppo.files.changes import differences
from mppo.files.evaluation import Evaluation

MAZE = "mppo/Maze-v0"


def test_the_name_of_a_run_is_a_number_on_file():
    """Moving it makes every finished grid start anew: raise NUMBERS if that is meant."""
    assert spec("mp-trpo", MAZE, 0, 1_000_000).run_id == "66bde2c674f43a42"
    assert spec("mp-trpo", MAZE, 1, 1_000_000).run_id == "f3ef5acf08eb4f33"


def test_everything_that_decides_a_run_is_in_its_name():
    runs = [
        spec("mp-trpo", MAZE, 0, 10_000),
        spec("mp-trpo", MAZE, 1, 10_000),
        spec("mp-trpo", MAZE, 0, 20_000),
        spec("multi-trpo", MAZE, 0, 10_000),
        spec("mp-trpo", "Hopper-v5", 0, 10_000),
        spec("mp-trpo", MAZE, 0, 10_000, {"picking.alpha": 0.5}),
        spec("mp-trpo", MAZE, 0, 10_000, {"critic.learning_rate": 0.5}),
        spec("mp-trpo", MAZE, 0, 10_000, {}, {"layout": "one-wall"}),
        spec("mp-trpo", MAZE, 0, 10_000, evaluation=Evaluation(10_000, 10, 1)),
    ]
    assert len({run.run_id for run in runs}) == len(runs)


def test_how_a_run_was_written_down_does_not_matter():
    changes = {"paths": 4, "picking.alpha": 0, "network.hidden": [8, 8], "gamma": 0.9}
    names = set()
    for order in range(5):
        items = list(changes.items())
        random.Random(order).shuffle(items)
        kwargs = dict(reversed([("gap", 3), ("layout", "one-wall")][: order % 3]))
        run = spec("mp-trpo", MAZE, 0, 10_000, dict(items), kwargs)
        names.add((len(kwargs), run.run_id))
    assert len(names) == 3  # by environment alone
    assert spec("mp-trpo", MAZE, 0, 10_000, {"paths": 8}) == spec("mp-trpo", MAZE, 0, 10_000)
    assert spec("mp-trpo", MAZE, 0, 10_000, {"paths": 1}) == spec("trpo", MAZE, 0, 10_000)
    worst = spec("mp-trpo", MAZE, 0, 10_000, {"replacement": "worst"})
    assert worst.name == "mp-trpo-replace-worst"
    assert worst.overrides == {}


CHANGES = [
    ("trpo", {}),
    ("mp-trpo", {"picking.alpha": 0, "paths": 3}),
    ("mp-trpo", {"picking": "best"}),
    ("mp-ppo", {"picking": "weighted", "estimator": "window", "estimator.episodes": 7}),
    ("trpo", {"network.hidden": [32, 16], "critic.network.hidden": (8,)}),
    ("ppo", {"critic.filtered": False, "optimiser.learning_rate": 1e-4}),
    ("trpo", {"optimiser": "ppo", "optimiser.clip": 0.1, "advantages_from": "new-value"}),
    ("curiosity-trpo", {"exploration.size": 16}),
]


@pytest.mark.parametrize(("name", "overrides"), CHANGES, ids=str)
def test_the_command_line_trains_exactly_this_method(name, overrides):
    kwargs = {"layout": "one-wall", "gap": 3, "code": "7"}
    run = spec(name, MAZE, 4, 10_000, overrides, kwargs, Evaluation(500, 3, 2))
    words = run.arguments()[1:]
    options, method, env_kwargs = parsed(words)
    assert method == run.method
    assert env_kwargs == kwargs
    assert (options.env, options.seed, options.steps) == (MAZE, 4, 10_000)
    assert (options.eval_every, options.eval_episodes) == (500, 3)
    assert options.eval_deterministic_episodes == 2


@pytest.mark.parametrize("name", METHODS)
def test_differences_lead_from_any_method_to_any_other(name):
    for other, method in METHODS.items():
        changes = differences(METHODS[name], method)
        assert spec(name, MAZE, 0, 10_000, changes).name == other


def test_a_label_is_for_people():
    run = spec("mp-trpo", MAZE, 3, 10_000, {"network.hidden": (8, 8)}, {"layout": "one-wall"})
    assert run.label == "mp-trpo network.hidden=8x8 on Maze-v0 layout=one-wall, seed 3"


def test_the_paper_s_evaluation_is_the_grid_s():
    assert Evaluation(10_000, 10, 0) == GRID_EVALUATION


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("mp-trp", MAZE, 0, 10_000), 'did you mean "mp-trpo"?'),
        (("trpo", MAZE, 0, 100), "below one batch of 5000"),
        (("trpo", MAZE, -1, 10_000), "seed is -1"),
        (("trpo", MAZE, 2**63, 10_000), "seed is 9223372036854775808; it must be from 0 to"),
        (("trpo", MAZE, 0, 10_000, {"gama": 1}), 'did you mean "gamma"?'),
        (("trpo", MAZE, 0, 10_000, {"picking.alpha": 2}), "alpha is 2"),
    ],
)
def test_bad_settings_are_refused_in_words(arguments, says):
    with pytest.raises(BadRequest, match=says.replace("?", r"\?")):
        spec(*arguments)


def test_neighbouring_large_seeds_are_different_runs():
    runs = [spec("trpo", MAZE, seed, 10_000) for seed in (2**53, 2**53 + 1, 2**63 - 1)]
    assert len({run.run_id for run in runs}) == 3
    assert [parsed(run.arguments()[1:])[0].seed for run in runs] == [run.seed for run in runs]


def test_a_new_field_of_styles_renames_no_run():
    """Fields at their defaults are left out of the styles in a list, too."""
    given = {"styles": ["apart", "alike:sigma=0.3"]}
    one = spec("mp-trpo", MAZE, 0, 1_000_000, given)
    same = spec("mp-trpo", MAZE, 0, 1_000_000, {"styles": [*map(str, one.method.styles)]})
    assert one.run_id == same.run_id == "d999d1e7279f9f66"
    other = spec("mp-trpo", MAZE, 0, 1_000_000, {"styles": ["apart", "alike"]})
    assert other.run_id != one.run_id
