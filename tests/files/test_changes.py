"""A method told as the name of another and what was changed: the name is true with them."""

from dataclasses import dataclass, replace

import pytest

from mppo.algorithm.methods import METHODS, Method
from mppo.algorithm.picking import RoundRobin
from mppo.cli.train import parsed
from mppo.envs.source import env_source
from mppo.errors import BadRequest
from mppo.files.changes import (
    MISSING,
    Change,
    changes,
    changes_that_hold,
    compare,
    differences,
    flags,
    nearest,
)
from mppo.files.description import described
from mppo.files.evaluation import Evaluation
from mppo.files.run_directory import plain
from mppo.files.settings import completed, kind_of, overridden, to_json
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
    monkeypatch.setattr("mppo.files.changes.compare", lambda *_: {"paths": Change(1, 2)})
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


def test_files_and_components_differ_in_the_same():
    """What two methods differ in does not depend on whether they were read from files."""
    for one in METHODS.values():
        for other in METHODS.values():
            for afresh in (True, False):
                found = compare(one, other, afresh)
                read = compare(to_json(one), to_json(other), afresh)
                assert {name: to_json(c.value) for name, c in found.items()} == {
                    name: c.value for name, c in read.items()
                }


def test_a_swapped_component_is_compared_with_its_defaults_or_with_the_old_one():
    base = {"paths": 8, "estimator": {"kind": "mean", "unit": "undiscounted"}}
    new = {"paths": 8, "estimator": {"kind": "window", "unit": "undiscounted", "episodes": 40}}
    assert differences(base, new) == {"estimator": "window"}
    told = {name: (c.before, c.value) for name, c in compare(base, new, afresh=False).items()}
    assert told == {"estimator": ("mean", "window"), "estimator.episodes": (MISSING, 40)}
    assert differences({"a": 1}, {"a": True}) == {
        "a": True
    }  # no run with one is one with the other


def test_the_nearest_method_has_the_fewest_other_settings():
    assert [nearest(to_json(method)) for method in METHODS.values()] == list(METHODS)
    assert nearest(to_json(replace(METHODS["multi-ppo"], paths=5))) == "multi-ppo"


def test_flags_are_read_back_as_they_are_meant():
    """By the parser of the command that they are written for."""
    method = overridden(
        METHODS["ppo"],
        {"critic.filtered": False, "network.hidden": (8, 4), "picking": "best", "gamma": 1e-05},
    )
    words = flags(differences(METHODS["ppo"], method))
    assert "--critic.no-filtered" in words
    assert parsed(["ppo", "CartPole-v1", *words])[1] == method
    assert flags({"own.spread": -1e-05, "own.top": None}) == [
        *("--own.spread", "-0.00001"),
        *("--own.top", "none"),
    ]


def test_schedules_are_told_by_the_words_of_the_command_line():
    """From components and from what a file has of them alike."""
    given = {"optimiser.learning_rate": "linear:3e-4", "optimiser.clip": "cosine:0.2:0.1"}
    method = overridden(METHODS["ppo"], given)
    told = {"optimiser.clip": "cosine:0.2:0.1", "optimiser.learning_rate": "linear:0.0003"}
    assert differences(METHODS["ppo"], method) == told
    assert differences(to_json(METHODS["ppo"]), to_json(method)) == told
    back = compare(to_json(method), to_json(METHODS["ppo"]))
    assert (back["optimiser.clip"].before, back["optimiser.clip"].value) == ("cosine:0.2:0.1", 0.2)
    assert not back["optimiser.clip"].swaps
    assert parsed(["ppo", "CartPole-v1", *flags(told)])[1] == method
    assert completed(to_json(method)) == to_json(method)
    nameless = overridden(METHODS["ppo"], {"optimiser.clip": lambda left: 0.1 * left})
    found = differences(METHODS["ppo"], nameless)
    assert overridden(METHODS["ppo"], found) == nameless
    with pytest.raises(BadRequest, match="given from Python has no words on a command line"):
        flags(found)
