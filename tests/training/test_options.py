"""One list of options: whoever takes one takes it with the same default, and it is told once."""

import dataclasses
import inspect
import typing

import pytest

from mppo.cli import fields
from mppo.cli.naming import OWN, Shown
from mppo.cli.train import parsed
from mppo.experiments.spec import GRID_EVALUATION
from mppo.files.evaluation import Evaluation
from mppo.training.model import MPPO
from mppo.training.options import Options
from mppo.training.start import train

FIELDS = {field.name: field for field in dataclasses.fields(Options)}


@pytest.mark.parametrize(("function", "without"), [(train, set()), (MPPO.__init__, {"steps"})])
def test_python_takes_every_option_with_its_default(function, without):
    """Signatures are written out for editors and type checkers; here they cannot drift apart."""
    taken = inspect.signature(function).parameters
    assert set(FIELDS) - set(taken) == without
    for name in set(FIELDS) - without:
        assert taken[name].default == FIELDS[name].default, name
        assert taken[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert f"`{name}`" not in (function.__doc__ or "")  # it is told in Options


def test_every_option_says_what_it_means():
    for cls in (Options, Shown):
        assert set(fields.described(cls)) >= {field.name for field in dataclasses.fields(cls)}
        assert set(typing.get_type_hints(cls)) == {f.name for f in dataclasses.fields(cls)}


def test_the_command_line_gives_the_same_options():
    words, _, _ = parsed(["trpo", "CartPole-v1"])
    assert Options.among(vars(words)) == Options()
    known = {option.name: option for option in OWN}
    assert set(FIELDS) - set(known) == {"loggers"}  # there by their names
    given = ["--seed", "3", "--out", "runs/a", "--eval-episodes", "4", "--wrappers", "a:B", "c:D"]
    words, _, _ = parsed(["trpo", "CartPole-v1", *given])
    found = Options.among(vars(words) | {"loggers": ["x"]})
    assert found == Options(
        seed=3, out="runs/a", eval_episodes=4, wrappers=("a:B", "c:D"), loggers=("x",)
    )
    assert found.evaluation == Evaluation(10_000, 4, 1)
    beside = Options(eval_episodes=3, eval_deterministic_episodes=None)  # as many
    assert beside.evaluation == Evaluation(10_000, 3, 3)


def test_evaluations_are_cheaper_than_the_paper_s():
    """Three tenths of the samples at full length; the paper's grids keep the paper's."""
    usual = Options().evaluation
    assert usual == Evaluation(10_000, 2, 1)
    assert 1000 * (usual.episodes + usual.deterministic_episodes) / usual.every == 0.3
    assert (Evaluation().episodes, GRID_EVALUATION.episodes) == (10, 10)
