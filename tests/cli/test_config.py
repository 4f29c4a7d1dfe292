"""`mppo train --config FILE` and `--print-config`: settings from a file."""

import json
import tomllib

import pytest

from mppo.cli.config import NOT_IN_FILES
from mppo.cli.naming import OWN
from mppo.cli.train import parsed
from tests.cli.test_cli import TINY, run, train

MAZE = ["mp-trpo", "mppo/Maze-v0"]


def told(file, text, *words):
    """The options, the method and the environment's arguments under a file of that text."""
    file.write_text(text)
    return parsed([f"--config={file}", *words])


@pytest.fixture
def file(tmp_path):
    return tmp_path / "run.toml"


@pytest.mark.parametrize(
    "words",
    [
        ["trpo", "CartPole-v1"],
        [*MAZE, "--env.layout", "one-wall", "--env.gap=3", "--seed", str(2**63 - 1)],
        [*MAZE, "--picking", "best", "--paths", "3", "--network.hidden", "8", "4"],
        ["ppo", "X-v0", "--exploration", "curiosity", "--styles", "curious:bonus=0.5,sigma=0.3"],
        ["ppo", "X-v0", "--critic.no-filtered", "--wrappers", "a:b", "c:d", "--out=-x y"],
        ["ppo", "X-v0", "--tensorboard", "--eval-every", "0", "--gamma", "1e-3", "--workers", "3"],
        [
            "ppo",
            "X-v0",
            "--network.hidden",
            "--env.text='\"1\" \\n é'",
            "--env.deep={'a': [1, 2.5]}",
        ],
    ],
)
def test_a_printed_config_leads_to_the_same_run(words, file, capsys):
    assert run("train", *words, "--print-config") == 0
    file.write_text(capsys.readouterr().out)
    here = parsed(words)
    there = parsed(["--config", str(file), "--allow-imports"])
    own = [option.name for option in OWN if option.name not in NOT_IN_FILES]
    for name in ("method", "env", *own):
        values = [getattr(found[0], name) for found in (here, there)]
        assert values[0] == values[1] or not any(values), name  # () or []
    assert there[1:] == here[1:]


def test_the_written_file_is_toml_with_a_format_and_every_field(capsys):
    assert run("train", "ppo", "CartPole-v1", "--paths", "2", "--print-config") == 0
    data = tomllib.loads(capsys.readouterr().out)
    assert (data["config"], data["method"], data["env"]) == (1, "ppo", "CartPole-v1")
    assert (data["paths"], data["steps"], data["optimiser"]["kind"]) == (2, 1_000_000, "ppo")
    assert data["critic"]["network"]["hidden"] == [64, 64]
    assert "quiet" not in data


def test_what_toml_has_no_word_for_is_refused(capsys):
    assert run("train", "ppo", "X-v0", "--env.key=None", "--print-config") == 2
    assert '"key" is None, which TOML cannot hold' in capsys.readouterr().err


def test_flags_stand_above_the_file(file):
    text = 'method = "mp-trpo"\nenv = "X-v0"\npaths = 3\nsteps = 1e4\nbatch-size = 200\nseed = 5\n'
    options, method, _ = told(file, text, "--paths", "4", "--seed=6")
    assert (options.env, options.steps, options.seed) == ("X-v0", 10_000, 6)
    assert (method.paths, method.batch_size) == (4, 200)


def test_a_swap_by_a_flag_takes_nothing_from_the_other_kind(file):
    text = 'method = "mp-trpo"\nenv = "X-v0"\n[picking]\nkind = "weighted"\nalpha = 0.5\n'
    assert told(file, text)[1].picking.alpha == 0.5
    assert told(file, text, "--picking=weighted")[1].picking.alpha == 0.5
    assert type(told(file, text, "--picking", "best")[1].picking).__name__ == "Best"


def test_method_and_env_may_come_from_either(file):
    both = 'method = "ppo"\nenv = "A-v0"\nnetwork.hidden = [8, 8]\n'
    place = lambda *found: (found[0].method, found[0].env, found[1].network.hidden)
    assert place(*told(file, both)) == ("ppo", "A-v0", (8, 8))
    assert place(*told(file, both, "B-v0")) == ("ppo", "B-v0", (8, 8))
    assert place(*told(file, both, "ppo")) == ("ppo", "A-v0", (8, 8))
    assert place(*told(file, both, "--network.hidden", "4", "--", "B-v0")) == ("ppo", "B-v0", (4,))
    assert place(*told(file, both, "ppo", "--network.hidden", "4")) == ("ppo", "A-v0", (4,))
    assert place(*told(file, "network.hidden = [8]", "trpo", "B-v0")) == ("trpo", "B-v0", (8,))
    assert place(*told(file, 'env = "A-v0"', "trpo")) == ("trpo", "A-v0", (64, 64))


MINE = 'method = "ppo"\nenv = "CartPole-v1"\n'


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("pathz = 4", [], 'unknown key "pathz"; did you mean "paths"?'),
        ("[optimiser]\nclipp = 0.1", [], 'unknown key "optimiser.clipp"; did you mean "optimiser.'),
        ("[optimiser]\nkind = 'trpo'\nclip = 0.1", [], 'unknown key "optimiser.clip"'),
        ("[optimiser]\nkind = 'trp'", [], 'unknown kind "trp"; did you mean "trpo"?'),
        ("learning_rate = 1e-3", [], "here it is optimiser.learning_rate"),
        ("config = 2", [], "it is of format 2, written by a newer version of mppo"),
        ("config = 'x'", [], "its format is 'x'"),
        ("paths = 'four'", [], 'paths: "four" is not a whole number'),
        ("paths = true", [], 'paths: "true" is not a whole number'),
        ("paths = 1.5", [], 'paths: "1.5" is not a whole number'),
        ("paths = [1]", [], "paths is [1]; it must be one value"),
        ("paths = 0", ["--steps=1"], "paths is 0; it must be at least 1"),
        ("tensorboard = 3", [], "tensorboard is 3; it must be true or false"),
        ("styles = ['apart', 'curious']", [], "a style takes a bonus, and the method has none"),
        ("eval-every = 1\neval_every = 2", [], '"eval_every" is there twice'),
        ("network.hidden = ['--out', 'x']", [], "looks like an option"),
        ("config_ = 1", [], 'unknown key "config_"'),
        ("allow_imports = true", [], '"allow_imports" cannot be set in a file'),
        ("help = true", [], '"help" cannot be set in a file'),
        ("styles = [3]", [], "styles holds 3; give names"),
        ("optimiser.learning_rate = 'linear:1e-3:-1'", [], "goes below zero, to -1.0"),
        ("optimiser.clip = 'cosine:-0.2'", [], "goes below zero, to -0.2"),
        ("optimiser.clip = 'linar:0.2'", [], 'did you mean "linear"?'),
        ("batch_size = 100\nenvs = 3", ["--steps=300"], "100"),
        ("optimiser = 3", [], 'unknown kind "3"'),
        ("gamma = inf", [], "gamma"),
        ("picking = 'os:system'", [], '"os:system" is code of another package'),
        ("optimiser.clip = 'os:system'", [], '"os:system" is code of another package'),
        ("optimiser.clip = 'os:path.join'", [], '"os:path.join" is code of another package'),
        ("wrappers = ['os:system']", [], '"os:system" is code of another package'),
        ("= 3", [], "it is not valid TOML"),
        ("env_kwargs = 3", [], '"env_kwargs" is 3; it must be a table'),
        ("", ["trpo"], 'METHOD is "trpo", and "'),
        ("", ["--pathz", "3"], 'unknown option "--pathz"; did you mean "--paths"?'),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_one_line(text, words, said, file, capsys):
    file.write_text(text if text.startswith("config = ") else MINE + text)
    assert run("train", "--config", str(file), *words) == 2
    printed = capsys.readouterr().err
    assert said in printed
    assert printed.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("method = 'ppoo'\nenv = 'X-v0'", 'unknown method "ppoo"; did you mean "ppo"?'),
        ("method = 'ppo'", "ENV is missing: neither the words nor"),
        ("env = 'X-v0'", "METHOD is missing: neither the words nor"),
        ("method = 3", '"method" is 3; it must be a word'),
    ],
)
def test_a_file_without_what_is_needed(text, said, file, capsys):
    file.write_text(text)
    assert run("train", "--config", str(file)) == 2
    assert said in capsys.readouterr().err


def test_a_file_that_is_not_there(tmp_path, capsys):
    assert run("train", "--config", str(tmp_path / "no.toml")) == 2
    assert "No such file" in capsys.readouterr().err
    assert run("train", "ppo", "CartPole-v1", "--config") == 2
    assert "--config needs a file" in capsys.readouterr().err


def test_an_earlier_run_is_repeated_from_its_description(tmp_path, capsys):
    changed = ["--picking.alpha", "0.5", "--env.gap", "3", "--seed", "7"]
    assert train(tmp_path / "first", *changed) == 0
    first = json.loads((tmp_path / "first" / "run.json").read_text())
    for n, where in enumerate((tmp_path / "first", tmp_path / "first" / "run.json")):
        out = tmp_path / f"again-{n}"
        assert run("train", "--config", str(where), "--out", str(out), "--quiet") == 0
        assert json.loads((out / "run.json").read_text()) == first
        ends = [json.loads((tmp_path / name / "final.json").read_text()) for name in ("first", out)]
        assert ends[0]["state_sha256"] == ends[1]["state_sha256"]


def test_a_run_json_that_was_changed_or_is_newer_is_refused(tiny_run, tmp_path, capsys):
    data = json.loads((tiny_run / "run.json").read_text())
    cases = [
        ({**data, "steps": 401}, "it does not match its hash"),
        ({**data, "format": data["format"] + 1}, "written by a newer version of mppo"),
        ({"a": 1}, "it is not the run.json of a run"),
    ]
    for content, said in cases:
        (tmp_path / "run.json").write_text(json.dumps(content))
        assert run("train", "--config", str(tmp_path)) == 2
        printed = capsys.readouterr().err
        assert said in printed
        assert printed.count("\n") == 1


def test_a_config_is_trained_with(file, tmp_path, capsys):
    words = ["--steps", "200", "--eval-every", "0", "--paths", "2"]
    assert run("train", *MAZE, *TINY, *words, "--print-config") == 0
    file.write_text(capsys.readouterr().out)
    assert run("train", "--config", str(file), "--out", str(tmp_path / "run"), "--quiet") == 0
    final = json.loads((tmp_path / "run" / "final.json").read_text())
    assert (final["iterations"], final["steps"]) == (1, 200)
