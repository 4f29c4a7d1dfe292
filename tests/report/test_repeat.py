"""The command to repeat a run is that run to the last type, or there is none."""

import dataclasses
import json
import re
import shlex
import typing
from functools import partial

import gymnasium
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from mppo.algorithm.critic import Critic
from mppo.algorithm.methods import COMPONENTS, METHODS, Method
from mppo.algorithm.networks import Mlp
from mppo.algorithm.schedules import Rate, Schedule
from mppo.algorithm.styles import STYLES, Style
from mppo.cli.train import parsed
from mppo.envs.source import env_source
from mppo.files import settings
from mppo.files.evaluation import Evaluation
from mppo.report import html
from mppo.report.read import RunRecord, read
from mppo.report.repeat import NoCommand, command, command_or_reason
from mppo.training.loop import describe
from mppo.training.run import Run
from tests.report.made import described, write
from tests.report.parsed import Parsed
from tests.report.payloads import PAYLOADS
from tests.worlds import SMALL, Ledge, ledge


def record(run):
    """A run as a report reads it: run.json went through a file."""
    return RunRecord("run", json.loads(json.dumps(run)), [], [], [], [], None, None, ())


def read_all(tmp_path, runs):
    return [read(write(tmp_path / str(place), run), str(place)) for place, run in enumerate(runs)]


def repeated(run):
    """What `mppo train` would run: method, environment, its arguments, wrappers, and the rest."""
    words = shlex.split(command(record(run)))
    assert words[:2] == ["mppo", "train"]
    options, method, env_kwargs = parsed(words[2:])
    beside = options.eval_deterministic_episodes
    beside = options.eval_episodes if beside is None else beside
    evaluation = Evaluation(options.eval_every, options.eval_episodes, beside)
    rest = (options.steps, options.seed, evaluation, list(options.wrappers))
    return method, options.env, env_kwargs, rest


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("mp-trpo", {}),
        ("trpo", {"batch_size": 256, "network.hidden": (32, 16), "critic.filtered": False}),
        ("mp-ppo", {"optimiser.learning_rate": 1e-3, "picking": "best"}),
        ("mp-trpo", {"picking": "uniform", "estimator": "window", "gain": "centred"}),
        ("trpo", {"exploration": "curiosity", "optimiser": "ppo", "gamma": 0.9}),
        ("curiosity-trpo", {"exploration.size": 8, "picking.alpha": 0.25}),
        ("ppo", {"optimiser.learning_rate": "linear:1e-3:1e-5", "optimiser.clip": "cosine:0.2"}),
        ("sp-trpo", {"optimiser.max_kl": 0.01}),  # in place of a schedule
        ("ppo", {"action_masks": True, "reward_scaling": "returns", "critic.clip": 0.2}),
    ],
)
def test_the_command_repeats_the_run(tmp_path, name, changes):
    """What the command line makes of it is the method that the run had."""
    method = settings.overridden(METHODS[name], changes)
    evaluation = {"kind": "evaluation", "every": 500, "episodes": 3, "deterministic_episodes": 0}
    run = described(
        name,
        7,
        method=settings.to_json(method),
        env_kwargs={"layout": "one-wall"},
        evaluation=evaluation,
    )
    (read_back,) = read_all(tmp_path, [run])
    words = shlex.split(command(read_back))
    assert words[:4] == ["mppo", "train", name, "mppo/Maze-v0"]
    options, parsed_method, env = parsed(words[2:])
    assert env == {"layout": "one-wall"}
    assert parsed_method == method
    assert (options.seed, options.steps) == (7, 20_000)
    found = (options.eval_every, options.eval_episodes, options.eval_deterministic_episodes)
    assert found == (500, 3, 0)


def test_a_shell_reads_the_command_as_one(tmp_path):
    run = described(env="x; rm -rf $HOME `id` 'q'")
    (read_back,) = read_all(tmp_path, [run])
    assert shlex.split(command(read_back))[3] == "x; rm -rf $HOME `id` 'q'"


TEXTS = st.one_of(
    st.text(st.characters(codec=None), max_size=30),  # lone surrogates, controls and all
    st.text(max_size=8).map(lambda text: f" {text}'\"`$\\\n"),
    st.sampled_from(
        ["1", "1.0", "-1", "1e3", "0x10", "1_0", "True", "true", "None", "none", "NaN"]
    ),
    st.sampled_from(
        ["", " ", "-", "--", "--help", "--env.x", "a b", "'", '"', "[1]", "b'x'", "()"]
    ),
    st.sampled_from(
        ["inf", "one-wall", "v1.0", "a:b", "ö", "日本", "\u202e", "\x00", "\n", "x" * 999]
    ),
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True).filter(str.isidentifier)
WRAPPERS = st.sampled_from(
    ["gymnasium.wrappers:FlattenObservation", "my_own.wraps:Outer.inner", "größe:Maß"]
)


@given(
    kwargs=st.dictionaries(NAMES, VALUES, max_size=4),
    steps=st.integers(1, 2**63 - 1),
    seed=st.integers(0, 2**63 - 1),
    evaluation=st.builds(Evaluation, *[st.integers(0, 10**9)] * 3),
    wrappers=st.lists(WRAPPERS, max_size=3),
    env=st.sampled_from(["CartPole-v1", "mppo/Maze-v0", "mine:Pole-v0", "it's a $HOME; `id`", "ö"]),
    name=st.sampled_from(list(METHODS)),
)
@hypothesis_settings(max_examples=80)
def test_a_command_gives_the_same_run(kwargs, steps, seed, evaluation, wrappers, env, name):
    run = described(name, seed, steps=steps, env=env, env_kwargs=kwargs, wrappers=wrappers)
    run["evaluation"] = settings.to_json(evaluation)
    method, found_env, found_kwargs, rest = repeated(run)
    assert (method, found_env) == (METHODS[name], env)
    assert repr(found_kwargs) == repr(kwargs)  # the string "1" is no number, True is not 1
    assert rest == (steps, seed, evaluation, wrappers)
    # as it stands, whole, nothing in it hidden
    assert command_or_reason(record(run)) == (command(record(run)), "")


def of_type(kind):
    """Values of a field."""
    if typing.get_origin(kind) is typing.Literal:
        return st.sampled_from(typing.get_args(kind))
    if kind == tuple[Style, ...]:
        return st.lists(st.sampled_from([*STYLES.values(), Style(sigma=0.5)]), max_size=2).map(
            tuple
        )
    if typing.get_origin(kind) is tuple:
        return st.lists(st.integers(1, 999), max_size=3).map(tuple)
    numbers = {
        int: st.integers(-(2**60), 2**60),
        float: st.floats(allow_nan=False, allow_infinity=False, width=32) | st.floats(-1, 1),
        bool: st.booleans(),
    }
    positive = st.floats(0, allow_infinity=False)
    if kind == Rate:
        shapes = st.sampled_from(["linear", "cosine", "late"])
        return numbers[float] | st.builds(Schedule, shapes, positive, positive)
    return numbers[kind]


def valid(cls, **inside):
    """Any instance of a component that its own checks accept."""
    hints = typing.get_type_hints(cls)
    free = {name: of_type(hints[name]) for name in hints if name not in inside}

    @st.composite
    def build(draw):
        made = cls(**{name: draw(part) for name, part in inside.items()})
        for name, values in free.items():
            if draw(st.booleans()):
                try:
                    made = dataclasses.replace(made, **{name: draw(values)})
                except ValueError:
                    continue
        return made

    return build()


AXES = {axis: st.one_of(*map(valid, kinds.values())) for axis, kinds in COMPONENTS.items()}
ANY_METHOD = valid(Method, **AXES, styles=st.just(()), critic=valid(Critic, network=valid(Mlp)))


@given(method=ANY_METHOD, name=st.sampled_from(["custom", "mp-trpo", "ppo"]))
@hypothesis_settings(max_examples=50)
def test_any_method_can_be_said(method, name):
    assert (
        repeated(described("trpo", method=settings.to_json(method), method_name=name))[0] == method
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"env_from_python": True}, "its environment was given from Python"),
        ({"env": "-v1"}, 'its environment is called "-v1"'),
        ({"env": "__main__:Pole-v0"}, "defined in the script that ran it"),
        ({"env_kwargs": {"a-b": 1}}, 'its environment has an argument "a-b"'),
        ({"env_kwargs": {"x": float("inf")}}, 'argument "x" cannot be written down'),
        ({"env_kwargs": {"x": "y" * 100_000}}, "100,115 characters, more than a shell takes"),
        ({"wrappers": ["gymnasium.wrappers.common:TimeLimit(max_episode_steps=9)"]}, "TimeLimit("),
        ({"wrappers": ["mine:<lambda>"]}, 'the wrapper "mine:<lambda>" cannot be imported'),
        ({"wrappers": ["mine:make.<locals>.Wrap"]}, "cannot be imported as module:callable"),
        ({"wrappers": ["mine:Times object"]}, "cannot be imported as module:callable"),
        ({"wrappers": ["__main__:Wrap"]}, "defined in the script that ran it"),
        ({"seed": "1"}, 'seed is "1"'),
        ({"steps": None}, 'steps is "None"'),
        ({"evaluation": {"every": 1.5}}, 'evaluation.every is "1.5"'),
        ({"method": {}}, "does not say which method"),
    ],
)
def test_what_no_command_can_say_is_said(tmp_path, changes, reason):
    with pytest.raises(NoCommand, match=re.escape(reason)):
        command(record(described(**changes)))
    page = Parsed(html([write(tmp_path / "run", described(**changes))]))
    assert "No command repeats this run: " in page.text
    assert reason in page.text
    assert "mppo train" not in page.text


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        ("picking", {"kind": "mine:make.<locals>.Rule"}, '--picking cannot be "mine:make.<locals>'),
        ("picking", {"kind": "__main__:Rule"}, "defined in the script that ran it"),
        ("picking", {"kind": "mine:Rule", "text": "a b"}, '--picking.text cannot be "a b"'),
        ("picking", {"kind": "mine:Rule", "text": "none"}, '--picking.text cannot be "none"'),
        ("picking", {"kind": "mine:Rule", "table": [[1]]}, '--picking.table cannot be "[1]"'),
        ("critic", {"kind": "critic", "network": {"kind": "mine:Net"}}, "--critic.network cannot"),
        ("pathz", 3, 'this version has no setting "pathz"'),
        ("picking", "best", 'this version has no setting "picking"'),
        ("gain", [["x"]], "--gain cannot be"),
    ],
)
def test_components_that_no_command_can_say_are_said(place, value, reason):
    run = described()
    run["method"][place] = value
    with pytest.raises(NoCommand, match=re.escape(reason)):
        command(record(run))


def test_components_of_others_are_named_with_all_their_fields():
    run = described()
    fields = {"spread": -1e-05, "turns": 3, "mode": "soft", "sizes": [8, 8], "top": None}
    run["method"]["picking"] = {"kind": "my_rules:Patient", **fields, "on": True, "off": False}
    said = command(record(run))
    assert "--picking my_rules:Patient --picking.spread -0.00001 --picking.turns 3" in said
    assert "--picking.mode soft --picking.sizes 8 8 --picking.top none" in said
    assert "--picking.on --picking.no-off" in said


def test_arguments_are_written_as_people_write_them():
    kwargs = {"layout": "one-wall", "gap": 3, "version": "1", "walls": [[1, 2], ["a b", None]]}
    said = command(record(described(env_kwargs=kwargs)))
    assert "--env.layout one-wall --env.gap 3" in said
    assert """--env.version '"1"' --env.walls '[[1, 2], ["a b", None]]'""" in said


@pytest.mark.parametrize("part", range(4))
def test_hostile_words_are_one_word_each_or_not_said(part):
    for value in PAYLOADS[part::4]:
        run = described(env_kwargs={"x": value})
        assert repeated(run)[2] == {"x": value}
        assert repeated({**run, "env_kwargs": {"x": [value]}})[2] == {"x": [value]}
        for changes in ({"env": value}, {"wrappers": [value]}):
            try:
                _, env, _, rest = repeated({**run, **changes})
            except NoCommand:
                continue
            assert (env, rest[-1]) == (changes.get("env", run["env"]), changes.get("wrappers", []))


def test_runs_say_themselves_what_a_command_cannot(tmp_path):
    """From what training writes to run.json to the page."""
    short = partial(gymnasium.wrappers.TimeLimit, max_episode_steps=9)
    flat = gymnasium.wrappers.FlattenObservation
    given = "No command repeats this run: its environment was given from Python"
    gymnasium.register("tests/Ledge-v0", Ledge, max_episode_steps=16)
    try:
        for name, on, says in (
            ("callable", env_source(ledge), given),
            ("named", env_source(lambda: gymnasium.make("tests/Ledge-v0")), given),
            ("object", env_source(ledge()), given),
            ("partial", env_source("tests/Ledge-v0", wrappers=[short]), "this run: the wrapper"),
            (
                "wrapped",
                env_source("tests/Ledge-v0", wrappers=[flat]),
                f"{flat.__module__}:Flatten",
            ),
        ):
            run = describe(Run(SMALL["trpo"], on, 256, 0, Evaluation(0, 0, 0)), "custom")
            page = Parsed(html([write(tmp_path / name, json.loads(json.dumps(run)))]))
            assert says in page.text, name
            assert ("mppo train" in page.text) == (name == "wrapped")
    finally:
        del gymnasium.registry["tests/Ledge-v0"]
