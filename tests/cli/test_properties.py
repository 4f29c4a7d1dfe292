"""Whatever is typed: the method that was named, or help, or one line; never another method."""

import contextlib
import io
import sys
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mppo.algorithm.methods import COMPONENTS, METHODS
from mppo.cli import COMMANDS, fields, function_of, naming
from mppo.cli.naming import parser_for
from mppo.cli.paper import JOBS
from mppo.cli.parser import Parser
from mppo.cli.train import _with_dashes, parsed
from mppo.errors import BadRequest
from mppo.files import changes as telling
from mppo.files.changes import changes
from mppo.files.settings import component_class, overridden

OWN = """
from __future__ import annotations
from dataclasses import dataclass

@dataclass(frozen=True)
class Rule:
    alpha: bool = True
    turns: tuple[int, ...] = (3,)
    odd: Unknown = None

    def pick(self, population, iteration, key):
        return 0

@dataclass(frozen=True)
class Greedy:
    clip: bool = False
"""
ENVS = ["mppo/Maze-v0", "CartPole-v1", "own_words:Maze-v0"]
KINDS = [kind for kinds in COMPONENTS.values() for kind in kinds] + ["own_words:Rule"]
FREE = ["--out", "--wandb", "--trackio", "--env.layout", "--env.x_y"]  # take any word
NUMBERS = ["3", "-1", "0.5", "-1e-3", "1e6", "1_000", "nan", "-.5", "12345678901234567890"]
JUNK = [
    *(
        "",
        "-",
        "--",
        "---",
        "=",
        "--=",
        "-h=",
        "-hh",
        "-x",
        "x=1",
        "--env.",
        "--env.=",
        "--env.a b",
    ),
    *("--env.wrappers", "\0", "{[]:1}", "'\\d'", "((((", ":", "..:x", "os:path", "json:dumps"),
    *(
        "own_words:Nothing",
        "naïve",
        "方法",
        "\u202eppo",
        "ppo ",
        "\udcff",
        "--paths=",
        "--paths=ppo",
    ),
    *("--critic.no-filtered=1", "--picking=", "--optimiser=own_words:Greedy", "--quiet=1"),
    *("--target-kl", "--learning_rate=3", "--n-envs", "--verbose", "--batch_size", "-- ppo", "%s"),
]
NAMED = ["mp-trpo", "ppo", "div-ppo"]  # few: their parsers are kept
GOOD = [
    *(["--seed", "3"], ["--steps=1e4"], ["--quiet"], ["--paths", "2"], ["--batch_size", "200"]),
    *(["--critic.no-filtered"], ["--picking", "best"], ["--picking=own_words:Rule"]),
    *(["--network.hidden", "8", "8", "--tensorboard"], ["--gamma", "0.5"], ["--eval-every=0"]),
    *(["--env.x_y", "-1e-3"], ["--optimiser", "ppo"], ["--optimiser.clip=0.1"], ["--value=shared"]),
]


@pytest.fixture(scope="module", autouse=True)
def own_module(tmp_path_factory):
    """Components of a user's own, that are found by name."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "own_words.py").write_text(OWN)
    sys.path.insert(0, str(folder))
    yield
    sys.path.remove(str(folder))
    sys.modules.pop("own_words", None)


@pytest.fixture(scope="module")
def flags():
    """All options of all methods."""
    return sorted({flag for name in METHODS for flag in parser_for(METHODS[name], name).options})


class Accepted(Exception):
    """Raised in the place of what a command would do."""


def outcome(words, command=parsed):
    """What becomes of the words: what was parsed, the help, or the line that refuses them."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            return command(words)
    except SystemExit as left:
        return f"left with {left.code}: {said.getvalue()}"
    except (BadRequest, Accepted) as answer:
        return answer
    except Exception as error:
        error.add_note(f"after the words {words}")
        raise


def is_help(found):
    """Whether argparse has shown the help and left; it may leave for no other reason."""
    if isinstance(found, str):
        assert found.startswith("left with 0: usage: mppo "), found
    return isinstance(found, str)


def arguments_of(draw, name):
    """Some options of a method, each with what it must come to: words, and overrides."""
    method = METHODS[name]
    flag = lambda words: st.tuples(st.just(words), st.just({}))
    anything = st.sampled_from([*METHODS, *ENVS, "x y", "0"])
    free = st.tuples(st.sampled_from(FREE), anything, st.booleans()).map(
        lambda made: ([f"{made[0]}={made[1]}"] if made[2] else [made[0], made[1]], {})
    )
    number = st.integers(1, 9)
    options = [
        free,
        flag(["--quiet"]),
        flag(["--tensorboard"]),
        flag(["--seed", "7"]),
        st.just((["--critic.no-filtered"], {"critic.filtered": False})),
        number.map(lambda n: (["--paths", str(n)], {"paths": n})),
        number.map(lambda n: ([f"--batch_size={n + 1}"], {"batch_size": n + 1})),
        number.map(lambda n: (["--critic.epochs", str(n)], {"critic.epochs": n})),
        st.just((["--estimator", "window"], {"estimator": "window"})),
        st.just((["--value", "independent"], {"value": "independent"})),
    ]
    if hasattr(method.optimiser, "clip"):
        options.append(number.map(lambda n: (["--optimiser.clip", str(n)], {"optimiser.clip": n})))
    else:
        options.append(st.just((["--optimiser.max_kl=0.5"], {"optimiser.max_kl": 0.5})))
    return draw(st.lists(st.one_of(options), max_size=6))


@st.composite
def requests(draw):
    """METHOD, ENV and options in any order, and what they must come to."""
    name, env = draw(st.sampled_from(list(METHODS))), draw(st.sampled_from(ENVS))
    chosen = arguments_of(draw, name)
    sizes = draw(st.lists(st.integers(1, 64), max_size=3))
    several = ["--network.hidden", *map(str, sizes)]
    groups = [words for words, _ in chosen]
    first = draw(st.integers(0, len(groups)))
    second = draw(st.integers(first, len(groups)))
    groups = [*groups[:first], [name], *groups[first:second], [env], *groups[second:]]
    before = [place for place, words in enumerate(groups) if words[0].startswith("-")]
    place = draw(st.sampled_from([*before, len(groups)]))  # all words up to the next option are its
    groups.insert(place, several)
    wanted = {"network.hidden": tuple(sizes)}
    for _, override in chosen:
        wanted |= override
    return [word for words in groups for word in words], name, env, wanted


@given(requests())
@settings(max_examples=300)
def test_any_order_gives_the_method_that_was_named(request):
    words, name, env, wanted = request
    options, method, _ = parsed(words)
    assert (options.method, options.env) == (name, env)
    assert method == overridden(METHODS[name], wanted)


def random_words(random, flags):
    """A command line: nearly right, or anything at all."""
    one = lambda: random.choice(
        random.choice([list(METHODS), ENVS, flags, KINDS, NUMBERS, JUNK, [*FREE, "-h", "--help"]])
    )
    wild = [one() for _ in range(random.randrange(9))]
    wild += [f"{random.choice(flags)}={one()}"] * random.randrange(2)
    random.shuffle(wild)
    if random.random() < 0.5:
        return wild
    groups = [random.choice(GOOD) for _ in range(random.randrange(6))]
    groups += [[random.choice(FREE), random.choice(list(METHODS))]]
    groups += [wild[:1]] if random.random() < 0.3 else []
    random.shuffle(groups)
    place = random.randrange(len(groups) + 1)
    groups.insert(place, [random.choice(ENVS)])
    groups.insert(random.randrange(place + 1), [random.choice(NAMED)])
    return [word for words in groups for word in words]


def check_words(words):
    """The method is that of METHOD; every other setting is accounted for by an option."""
    found = outcome(words)
    if is_help(found):
        return "help"
    if isinstance(found, BadRequest):
        assert str(found).strip()
        return "refused"
    options, method, _ = found
    assert options.method in METHODS
    assert options.method in words
    given = {word.partition("=")[0] for word in _with_dashes(list(words))}
    for field, _ in changes(options.method, method):
        head, _, last = field.rpartition(".")
        flags = {f"--{field}", f"--{head}.no-{last}", f"--{field.split('.')[0]}"}
        flags |= {"--tuned", "--fast"}  # which stand for several
        assert flags & given, f"{field} was changed by none of {words}"
    return "parsed"


def test_10000_random_lists_are_parsed_or_refused_in_one_line(flags):
    """No traceback, and never a method that another word than METHOD named."""
    counts = Counter()

    @given(st.integers(0, 2**32))
    @settings(max_examples=100)
    def check(seed):
        random = Random(seed)
        counts.update(check_words(random_words(random, flags)) for _ in range(100))

    check()
    assert counts.total() >= 10_000
    assert min(counts[kind] for kind in ("help", "refused", "parsed")) >= 100, counts


@given(st.lists(st.sampled_from([*METHODS, *KINDS, *NUMBERS, *JUNK, *FREE]) | st.text(max_size=4)))
@settings(max_examples=200)
def test_any_text_is_parsed_or_refused_in_one_line(words):
    check_words(words)
    assert check_words(["mp-trpo", "CartPole-v1", *words]) in ("help", "refused", "parsed")


@given(st.data())
@settings(max_examples=200)
def test_changes_are_what_the_command_line_would_write(data):
    """A method, told as its name and changes, comes back from these words."""
    name = data.draw(st.sampled_from(list(METHODS)))
    other = data.draw(st.sampled_from(list(METHODS)))
    hidden = tuple(data.draw(st.lists(st.integers(1, 99), max_size=3)))
    number = data.draw(st.floats(1e-6, 1, allow_nan=False))
    method = overridden(
        METHODS[other], {"network.hidden": hidden, "gamma": number, "critic.epochs": 3}
    )
    words = []
    for field, value in changes(name, method):
        several = field.endswith(("hidden", "styles"))
        if value in ("True", "False"):
            words += telling.flags({field: value == "True"})
            continue
        words += [f"--{field}", *value.split(" ")] if several else [f"--{field}={value}"]
    words = [word for word in words if word]
    assert parsed([name, "CartPole-v1", *words])[1] == method


def test_every_known_option_takes_the_same_number_of_values_everywhere():
    """The first parser knows all options by these numbers: it and the second one must agree."""
    first = naming._knowing_all((), ())
    wanted = {flag: action.nargs for flag, action in first.options.items()}
    for name, method in METHODS.items():
        for axis, kinds in COMPONENTS.items():
            for kind in kinds:
                parser = parser_for(fields.swapped(method, [(axis, kind)]), name)
                for flag, action in parser.options.items():
                    assert action.nargs == wanted[flag], (name, kind, flag)


@pytest.mark.parametrize(
    ("words", "method"),
    [
        (["--picking", "own_words:Rule", "--picking.alpha", "mp-trpo", "ENV"], "mp-trpo"),
        (["--picking=own_words:Rule", "--picking.turns", "1", "--paths", "2", "ppo", "ENV"], "ppo"),
        (["--picking.no-alpha", "--picking", "own_words:Rule", "trpo", "ENV"], "trpo"),
        (["--picking.odd", "ppo", "--picking", "own_words:Rule", "trpo", "ENV"], "trpo"),
    ],
)
def test_components_of_one_s_own_say_how_many_values_their_options_take(words, method):
    """`--picking.alpha` of ours takes a number, that of this rule is a switch."""
    options, found, _ = parsed(words)
    assert (options.method, options.env) == (method, "ENV")
    assert type(found.picking) is component_class("own_words:Rule", allow_imports=True)


OF_OTHERS = [
    *("--out", "--seed", "--steps", "--json", "--episodes", "--seeds", "--size", "--format"),
    *("--jobs", "--engine", "--only", "--csv", "--path", "--follow", "--title", "--fps", "--join"),
    *("--tasks", "--methods", "--repetitions", "--quick", "--workers", "--allow-imports", "DIR"),
]
OTHERS = [[name] for name in COMMANDS if name not in ("train", "paper")]
OTHERS += [["paper"], *(["paper", job] for job in JOBS)]


@pytest.mark.parametrize("command", OTHERS, ids=" ".join)
def test_random_words_after_other_commands_are_parsed_or_refused(command, monkeypatch):
    really = Parser.parse_args

    def parse_args(self, *args, **kwargs):
        really(self, *args, **kwargs)
        raise Accepted

    monkeypatch.setattr(Parser, "parse_args", parse_args)
    more = (None,) if COMMANDS[command[0]].stops_at_boundaries else ()
    carry_out = lambda words: function_of(command[0])([*command[1:], *words], *more)
    found = set()

    @given(st.integers(0, 2**32))
    @settings(max_examples=5)
    def check(seed):
        random = Random(seed)
        for _ in range(100):
            words = random_words(random, OF_OTHERS)
            if command != ["paper"] or words[:1] not in [[job] for job in JOBS]:
                ended = outcome(words, carry_out)
                found.add("help" if is_help(ended) else type(ended).__name__)
                assert isinstance(ended, str | Accepted) or str(ended).strip()

    check()
    assert found >= {"BadRequest", "help"}
    assert found <= {"BadRequest", "help", "Accepted"}
