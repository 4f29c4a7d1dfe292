"""Methods as JSON and back, and overrides that say what is wrong with them."""

import json
from pathlib import Path

import pytest

from mppo.algorithm.contest import Contest
from mppo.algorithm.exploration.curiosity import Curiosity
from mppo.algorithm.methods import COMPONENTS, METHODS, Method
from mppo.algorithm.networks import Mlp
from mppo.algorithm.performance import Window
from mppo.algorithm.picking import Best, RoundRobin
from mppo.algorithm.sharing import NoSharing, Successes
from mppo.algorithm.styles import Style
from mppo.errors import BadRequest
from mppo.files import settings
from mppo.files.changes import changes_that_hold
from mppo.paper.make import figure, table


@pytest.mark.parametrize("name", METHODS)
def test_json_round_trip(name):
    method = METHODS[name]
    text = json.dumps(settings.to_json(method), allow_nan=False)
    back = settings.from_json(json.loads(text))
    assert back == method
    assert hash(back) == hash(method)
    assert settings.name_of(back) == name


def test_every_component_survives_with_its_kind():
    for axis, kinds in COMPONENTS.items():
        for kind, component in kinds.items():
            data = json.loads(json.dumps(settings.to_json(component())))
            assert data["kind"] == kind
            assert settings.from_json(data) == component(), axis
    assert settings.to_json(Mlp((3, 4)))["hidden"] == [3, 4]
    assert settings.from_json(settings.to_json(Mlp((3, 4)))) == Mlp((3, 4))


def test_kinds_are_distinct():
    kinds = [kind for axis in COMPONENTS.values() for kind in axis]
    assert len(kinds) == len(set(kinds))


def test_a_file_cannot_import():
    """Opening a file must never run code because the file says so."""
    for kind in ("os:system", "subprocess:Popen", "tests.worlds:Probe"):
        with pytest.raises(BadRequest, match=r"not imported|unknown kind"):
            settings.from_json({"kind": kind})


def test_unknown_fields_and_kinds_are_named():
    data = settings.to_json(METHODS["trpo"]) | {"gama": 0.9}
    with pytest.raises(BadRequest, match='"method" has no field "gama"; did you mean "gamma"'):
        settings.from_json(data)
    with pytest.raises(BadRequest, match='unknown kind "wieghted"; did you mean "weighted"'):
        settings.from_json({"kind": "wieghted"})


def test_unknown_method_with_suggestion():
    with pytest.raises(BadRequest, match='unknown method "mp-trp"; did you mean "mp-trpo"'):
        settings.method_named("mp-trp")


def test_messages_have_a_stop_where_there_is_no_suggestion():
    with pytest.raises(BadRequest, match=r'unknown method "zzzzzz"\. The methods are: trpo, '):
        settings.method_named("zzzzzz")
    with pytest.raises(BadRequest, match=r'unknown kind "zzzzzz"\. Known: batch-mean, '):
        settings.from_json({"kind": "zzzzzz"})
    for make, known in ((table, "table-1"), (figure, "figure-2")):
        with pytest.raises(
            BadRequest, match=rf'unknown table or figure "zzzzzz"\. There are: {known}'
        ):
            make("zzzzzz", Path(), Path())


def test_overrides_reach_in_and_swap():
    changed = settings.overridden(
        METHODS["mp-trpo"],
        {"picking": "best", "picking.ties": "first", "optimiser.max_kl": 0.02, "paths": 3},
    )
    assert changed.picking == Best(ties="first")
    assert (changed.optimiser.max_kl, changed.paths) == (0.02, 3)
    assert METHODS["mp-trpo"].optimiser.max_kl == 0.01  # nothing mutates a method
    swapped = settings.overridden(METHODS["trpo"], {"picking": RoundRobin()})
    assert swapped.picking == RoundRobin()
    assert settings.name_of(changed) == "custom"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pahts": 3}, 'has no field "pahts"; did you mean "paths"'),
        ({"optimiser.maxkl": 3}, 'has no field "maxkl"; did you mean "max_kl"'),
        ({"optimizer.max_kl": 3}, 'has no field "optimizer"; did you mean "optimiser"'),
        ({"picking": "wieghted"}, 'did you mean "weighted"'),
        ({"value": "seperate"}, "Allowed: shared, independent"),
        ({"paths": 2.5}, "must be a int"),
        ({"paths": True}, "must be a int"),
        ({"paths": 0}, "at least 1"),
        ({"gamma": "high"}, "must be a float"),
        ({"gamma": 1.5}, "0 ... 1"),
        ({"tsallis_index": 0.0}, "positive"),
        ({"batch_size": 1}, "at least 2"),
        ({"gamma": float("nan")}, "gamma is nan; it must be finite"),
        ({"gamma": lambda left: left}, "a float, and schedules are not supported"),
        ({"critic.learning_rate": "linaer:1"}, 'nor a schedule; did you mean "linear"?'),
        ({"critic.learning_rate": True}, "it must be a number or a schedule"),
        ({"critic.learning_rate": float("nan")}, "learning_rate is nan; it must be finite"),
        ({"zzzzzz": 1}, 'has no field "zzzzzz". Fields: action_masks, '),
        ({"value": "zzzzzz"}, "value is 'zzzzzz'. Allowed: shared, independent"),
        ({"picking": "zzzzzz"}, 'unknown kind "zzzzzz". Known: best, contest, '),
        ({"picking": ":"}, 'cannot load ":": ValueError: Empty module name'),
        ({"picking": "..:x"}, 'cannot load "..:x": TypeError: '),
        ({"target_kl": 0.1, "optimiser": "ppo"}, 'no "target_kl"; here it is optimiser__target_kl'),
        ({"policy_kwargs": {}}, 'no "policy_kwargs"; here the networks are network__hidden'),
    ],
)
def test_bad_overrides_say_what_is_wrong(change, message):
    with pytest.raises(BadRequest) as caught:
        settings.overridden(METHODS["mp-trpo"], change)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"picking.alpha": 1.5},
        {"picking.alpha": -0.1},
        {"optimiser.max_kl": -1.0},
        {"optimiser.cg_iterations": -1},
        {"critic.minibatch": 0},
        {"critic.epochs": 0},
        {"optimiser.shrink": 1.5},
        {"network.hidden": [8]},
    ],
)
def test_components_refuse_what_makes_no_sense(change):
    """A value outside a component's range is a request to change, not a crash or NaN later."""
    try:
        method = settings.overridden(METHODS["mp-trpo"], change)
    except BadRequest:
        return
    (value,) = change.values()  # or it is accepted in a form that works
    assert isinstance(value, list), f"{change} was accepted"
    assert hash(method)


STYLED = Method(
    paths=3,
    styles=("alike:bonus=1", Style(output_scale=1.0, sigma=0.3, filter="none"), "alike"),
    exploration=Curiosity(),
    picking=Contest(looks_back=5),
    race=2,
    sharing=Successes(weight=0.25),
)


def test_styles_survive_the_way_through_a_file():
    text = json.dumps(settings.to_json(STYLED), allow_nan=False)
    back = settings.from_json(json.loads(text))
    assert back == STYLED
    assert hash(back) == hash(STYLED)
    assert back.styles[1].sigma == 0.3
    assert settings.completed(json.loads(text)) == json.loads(text)  # it lacks nothing


def test_styles_of_a_file_are_checked():
    data = settings.to_json(STYLED)
    data["styles"][0]["sigma"] = "wide"
    with pytest.raises(BadRequest, match='field "sigma" of "style" cannot be \'wide\''):
        settings.from_json(data)
    data["styles"][0]["sigma"] = -1.0
    with pytest.raises(BadRequest, match=r'"style": sigma is -1\.0; it must lie in'):
        settings.from_json(data)
    data["styles"] = [3]
    with pytest.raises(BadRequest, match='field "styles" of "method" cannot be'):
        settings.from_json(data)


@pytest.mark.parametrize("name", METHODS)
def test_settings_of_an_older_version_are_completed(name):
    """A run that was begun before a field came is the same run."""
    whole = json.loads(json.dumps(settings.to_json(METHODS[name])))
    if METHODS[name].styles:
        return
    older = {field: whole[field] for field in whole if field not in ("styles", "race", "sharing")}
    assert settings.completed(older) == whole
    assert settings.from_json(older) == METHODS[name]
    inner = json.loads(json.dumps(older))
    del inner["critic"]["filtered"], inner["network"]["weights"]  # fields of components as well
    assert settings.completed(inner) == whole


def test_what_is_known_is_never_overwritten_and_what_is_not_known_is_left():
    data = {"kind": "window", "episodes": 7}
    wanted = settings.to_json(Window(7))
    assert settings.completed(data) == wanted
    assert data == {"kind": "window", "episodes": 7}
    theirs = {"kind": "other:Thing", "inner": [data, 3, None]}
    assert settings.completed(theirs) == {"kind": "other:Thing", "inner": [wanted, 3, None]}
    more = {"kind": "window", "to_come": 1}
    assert settings.completed(more)["to_come"] == 1


@pytest.mark.parametrize("data", [None, 3, "x", [], {}, {"kind": None}, {"kind": ["window"]}])
def test_what_is_no_component_is_handed_back(data):
    assert settings.completed(data) == data


def test_fields_that_need_each_other_may_come_in_any_order():
    """A bonus without a taker, a race without a contest: only the whole must fit."""
    changes = {
        "styles": ("alike:bonus=1", "apart:sigma=0.3,bonus=0,output_scale=1", "alike"),
        "paths": 3,
        "race": 1,
        "exploration": "curiosity",
        "picking": "contest",
        "picking.looks_back": 5,
        "exploration.size": 8,
        "sharing": "successes",
        "sharing.weight": 0.5,
    }
    found = [
        settings.overridden(METHODS["trpo"], dict(order))
        for order in (changes.items(), reversed(changes.items()))
    ]
    assert found[0] == found[1]
    assert found[0].exploration == Curiosity(size=8)
    assert found[0].sharing == Successes(weight=0.5)
    assert (found[0].picking.looks_back, found[0].styles[1].sigma) == (5, 0.3)
    back = {"styles": (), "race": 0, "exploration": "none", "sharing": "no-sharing"}
    plain = settings.overridden(found[0], back)
    assert (plain.styles, plain.sharing) == ((), NoSharing())
    with pytest.raises(BadRequest, match="a style takes a bonus, and the method has none"):
        settings.overridden(found[0], {"exploration": "none"})
    with pytest.raises(BadRequest, match='unknown style "apartt"; did you mean "apart"'):
        settings.overridden(METHODS["trpo"], {"styles": ("apartt",)})


def test_what_a_method_with_styles_changes_can_be_told():
    found = dict(changes_that_hold("mp-trpo", STYLED))
    assert (found["race"], found["paths"]) == ("2", "3")
    words = found["styles"].split(" ")
    assert (
        settings.overridden(
            METHODS["mp-trpo"],
            {"styles": tuple(words), "paths": 3, "exploration": "curiosity"},
        ).styles
        == STYLED.styles
    )
