"""What run.json says is checked before anything is made of it, and imports nothing."""

import copy
import sys

import pytest

from mppo.algorithm.methods import METHODS
from mppo.errors import BadRequest
from mppo.files.description import described
from mppo.files.evaluation import Evaluation
from mppo.files.settings import to_json

GOOD = {
    "format": 1,
    "method_name": "mp-trpo",
    "method": to_json(METHODS["mp-trpo"]),
    "env": "Hopper-v5",
    "env_kwargs": {},
    "steps": 5000,
    "seed": 0,
    "evaluation": to_json(Evaluation()),
    "clip_actions": True,
}


def changed(path, value):
    found = copy.deepcopy(GOOD)
    parent = found
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = value
    return found


@pytest.mark.parametrize("name", METHODS)
def test_every_method_comes_back(name):
    assert described(changed(["method"], to_json(METHODS[name]))).method == METHODS[name]


def test_what_j_made_of_cut_episodes_before_there_was_a_choice():
    assert described(GOOD).unfinished == "drop"
    assert described(changed(["unfinished"], "window")).unfinished == "window"


@pytest.mark.parametrize("name", GOOD)
def test_nothing_may_be_missing(name):
    found = {key: value for key, value in GOOD.items() if key != name}
    with pytest.raises(BadRequest, match=name):
        described(found)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["steps"], 0, "steps 0"),
        (["steps"], True, "steps"),
        (["seed"], -1, "seed -1"),
        (["method", "gamma"], "0.9", 'field "gamma" of "method"'),
        (["method", "gamma"], 1.5, "gamma is 1.5"),
        (["method", "paths"], 2.0, 'field "paths"'),
        (["method", "paths"], 2**70, 'field "paths"'),
        (["method", "value"], "sharde", 'field "value"'),
        (["method", "network", "hidden"], [8, "8"], 'field "hidden" of "mlp"'),
        (["method", "network", "hidden"], [8, -8], "at least 1 unit"),
        (["method", "critic"], None, 'field "critic"'),
        (["method", "picking", "kind"], "trpo", '"trpo" has no field'),
        (["method", "picking"], to_json(METHODS["ppo"].optimiser), 'field "picking"'),
        (["method", "picking", "kind"], ["weighted"], "must be a word"),
        (["method", "kind"], "evaluation", '"evaluation" has no field'),
        (["method", "extra"], 1, 'no field "extra"'),
        (["unfinished"], "bootstarp", "no valid \"unfinished\": 'bootstarp'"),
        (["unfinished"], ["drop"], 'no valid "unfinished"'),
    ],
)
def test_wrong_values_are_named(path, value, words):
    with pytest.raises(BadRequest) as caught:
        described(changed(path, value))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["env"], "this_module:Evil-v0"),
        (["env"], "GymV26Environment-v0"),
        (["method", "picking", "kind"], "this_module:Evil"),
        (["method", "network", "kind"], "this_module:Evil"),
        (["evaluation", "kind"], "this_module:Evil"),
    ],
)
def test_nothing_is_imported_because_a_file_says_so(path, value, tmp_path, monkeypatch):
    (tmp_path / "this_module.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BadRequest, match="--allow-imports"):
        described(changed(path, value))
    assert "this_module" not in sys.modules


def test_deep_nesting_is_refused():
    deep = 1
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(BadRequest, match="nested too deeply"):
        described({**GOOD, "method": {**GOOD["method"], "gamma": deep}})


def test_a_name_must_be_true_of_the_settings():
    """The method named, with the changes, is the method that is there; files without them pass."""
    ppo = to_json(METHODS["ppo"])
    assert described({**GOOD, "method": ppo}).method == METHODS["ppo"]  # of an older version
    assert described({**GOOD, "changes": []}).method_name == "mp-trpo"
    assert described({**GOOD, "method": ppo, "method_name": "ppo", "changes": []})
    four = {**GOOD["method"], "paths": 4}
    assert described({**GOOD, "method": four, "changes": [["paths", "4"]]}).method.paths == 4
    for method, changes in ((ppo, []), (four, []), (four, [["paths", "3"]]), (four, "paths 4")):
        found = described({**GOOD, "method": method, "changes": changes})
        assert found.method_name == "custom"
        assert to_json(found.method) == method  # the settings are what is run
    custom = {**GOOD, "method_name": "custom", "method": four}
    assert described({**custom, "changes": [["paths", "4"]]}).method.paths == 4
