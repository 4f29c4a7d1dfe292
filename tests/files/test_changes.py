"""A method told as the name of another and what was changed: the name is true with them."""

from dataclasses import dataclass, replace

import pytest

from mppo.algorithm.methods import METHODS, Method
from mppo.algorithm.picking import RoundRobin
from mppo.envs.source import env_source
from mppo.errors import BadRequest
from mppo.files.changes import changes, changes_that_hold, differences
from mppo.files.description import described
from mppo.files.evaluation import Evaluation
from mppo.files.run_directory import plain
from mppo.files.settings import kind_of, overridden
from mppo.training.loop import describe
from mppo.training.run import Run
from tests.worlds import ENVS, SMALL, STEPS, ledge


@dataclass(frozen=True)
class Needy(RoundRobin):
    """A rule of somebody else's, without a default for every field."""

    turns: int = 0
    mode: str | None = None

    def __post_init__(self) -> None:
        if not self.turns:
            raise TypeError("turns is missing")


@pytest.mark.parametrize("name", [*METHODS, "custom"])
@pytest.mark.parametrize("other", METHODS)
def test_every_method_is_any_other_with_changes(name, other):
    base = METHODS.get(name, Method())
    assert overridden(base, differences(base, METHODS[other])) == METHODS[other]
    assert changes_that_hold(name, METHODS[other]) == changes(name, METHODS[other])
    assert (changes(name, METHODS[other]) == []) is (METHODS[other] == base)


def test_components_of_others_are_told_in_full():
    method = replace(METHODS["mp-trpo"], picking=Needy(turns=3, mode="slow"))
    assert changes_that_hold("mp-trpo", method) == [
        ("picking", kind_of(method.picking)),
        ("picking.turns", "3"),
        ("picking.mode", "slow"),
    ]


def test_what_cannot_be_told_is_refused(monkeypatch):
    """JSON has no NaN: such a run could not be taken up."""
    with pytest.raises(BadRequest, match="tsallis_index is nan; it must be finite"):
        changes_that_hold("mp-trpo", replace(METHODS["mp-trpo"], tsallis_index=float("nan")))
    monkeypatch.setattr("mppo.files.changes.differences", lambda base, changed: {"paths": 2})
    with pytest.raises(
        BadRequest, match=r'of the method "mp-trpo": these do not lead to them, \[\('
    ):
        changes_that_hold("mp-trpo", METHODS["multi-trpo"])


def test_run_json_cannot_name_what_it_does_not_hold():
    """Whatever name a caller gives, the changes are those of the method that is trained."""
    run = Run(SMALL["trpo"], env_source(ledge), ENVS * STEPS, 0, Evaluation(0, 0, 0))
    run.close()
    for name, written in (("ppo", "ppo"), ("trpo", "trpo"), ("my-own", "custom")):
        told = plain(describe(run, name))
        assert told["method_name"] == written
        assert told["changes"] == [list(pair) for pair in changes(written, SMALL["trpo"])]
        assert (["optimiser", "trpo"] in told["changes"]) is (name == "ppo")
        assert described(told).method == SMALL["trpo"]
