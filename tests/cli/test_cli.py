"""The command line, called as a user calls it (in this process, to save start-up time)."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from mppo.algorithm.methods import METHODS
from mppo.algorithm.picking import Best
from mppo.algorithm.styles import ALIKE
from mppo.cli import COMMANDS, main
from mppo.cli.parser import NotReadable, whole_number
from mppo.cli.train import parsed
from mppo.errors import BadRequest
from mppo.files.reader import rows
from mppo.report.read import read
from mppo.report.repeat import command
from tests.worlds import Anything

TINY = ["--batch-size", "200", "--network.hidden", "4", "--critic.network.hidden", "4"]


def run(*words: str) -> int:
    """The exit code of `mppo WORDS`."""
    try:
        return main(list(words))
    except SystemExit as error:  # argparse leaves by this door
        return int(error.code or 0)


def train(out: Path, *words: str) -> int:
    where = ["--out", str(out), "--steps", "400", "--eval-every", "0", "--quiet"]
    return run("train", "mp-trpo", "mppo/Maze-v0", *TINY, *where, "--paths", "2", *words)


def test_help_names_every_command(capsys):
    assert run("--help") == 0
    text = capsys.readouterr().out
    assert all(f"\n  {name} " in text for name in COMMANDS)
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert run(command, "--help") == 0
    text = capsys.readouterr().out
    assert "example:" in text
    assert f"mppo {command}" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "exit codes:\n  0 done; " in text


def test_the_help_of_a_method_shows_its_own_fields_and_defaults(capsys):
    assert run("train", "ppo", "--help") == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "--optimiser.clip X Probability ratios are clipped to 1 - clip ... 1 + clip" in text
    assert "--batch-size N Environment steps of one iteration. [2048]" in text
    assert "--optimiser.max-kl" not in text


def test_spaces_that_cannot_be_served_are_named_in_one_line(tmp_path, capsys):
    image = spaces.Box(0, 255, (84, 84, 3), np.uint8)
    gymnasium.register("tests/Image-v0", lambda: Anything(image, spaces.Discrete(2)))
    try:
        assert run("train", "trpo", "tests/Image-v0", "--out", str(tmp_path / "run")) == 2
    finally:
        del gymnasium.registry["tests/Image-v0"]
    said = capsys.readouterr().err
    assert '"tests/Image-v0" shows images (Box(0, 255, (84, 84, 3), uint8))' in said
    assert said.count("\n") == 1


def test_help_does_not_load_jax():
    code = (
        "import sys; from mppo.cli import main; main(['--help']); "
        "sys.exit('jax' in sys.modules or 'numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL).returncode == 0


def test_train_help_does_not_load_jax():
    code = (
        "import sys\nfrom mppo.cli import main\n"
        "try: main(['train', '--help'])\nexcept SystemExit: pass\n"
        "sys.exit('jax' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL).returncode == 0


def test_methods_and_envs_as_json(capsys):
    assert run("methods", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in listed] == list(METHODS)
    assert listed[3]["method"]["picking"] == {
        "kind": "weighted",
        "alpha": 0.1,
        "start": "unvisited-first",
        "ties": "least-picked",
        "min_range": 0.0,
    }
    assert run("envs", "--json") == 0
    ids = [row["id"] for row in json.loads(capsys.readouterr().out)]
    assert len(ids) == 9
    assert "mppo/Maze-v0" in ids
    assert "Hopper-v5" in ids


def test_lists_fit_into_eighty_columns(capsys):
    assert run("methods") == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_flags_reach_every_level_of_a_method(tmp_path):
    flags = ["--picking.alpha", "0.5", "--optimiser.max-kl", "0.02", "--gamma", "0.9"]
    assert train(tmp_path / "run", *flags) == 0
    method = json.loads((tmp_path / "run" / "run.json").read_text())["method"]
    assert method["picking"]["alpha"] == 0.5
    assert method["optimiser"]["max_kl"] == 0.02
    assert method["gamma"] == 0.9
    assert method["network"]["hidden"] == [4]
    assert [row["steps"] for row in rows(tmp_path / "run", "metrics.jsonl")] == [200, 400]


def test_components_are_swapped_by_name_and_steps_written_as_people_do(tmp_path):
    swaps = ["--picking", "best", "--estimator=window", "--estimator.episodes", "7"]
    assert train(tmp_path / "run", *swaps, "--steps", "4e2") == 0
    described = json.loads((tmp_path / "run" / "run.json").read_text())
    assert described["method"]["picking"]["kind"] == "best"
    assert described["method"]["estimator"] == {
        "kind": "window",
        "episodes": 7,
        "unit": "undiscounted",
    }
    assert described["steps"] == 400


def test_environment_arguments(tmp_path):
    assert train(tmp_path / "run", "--env.layout", "one-wall", "--env.gap=3") == 0
    described = json.loads((tmp_path / "run" / "run.json").read_text())
    assert described["env_kwargs"] == {"layout": "one-wall", "gap": 3}
    walls = json.loads((tmp_path / "run" / "visits.json").read_text())["walls"]
    assert sum(map(sum, walls)) == 18  # 21 rows less a gap of 3


def test_the_value_of_an_option_is_not_the_method(tmp_path, monkeypatch):
    """And `run.json` tells the method by its name and what was changed of it."""
    monkeypatch.chdir(tmp_path)
    words = ["mp-trpo", "mppo/Maze-v0", *TINY, "--steps", "400", "--eval-every", "0", "--quiet"]
    assert run("train", "--out", "ppo", *words, "--paths", "2") == 0
    described = json.loads((tmp_path / "ppo" / "run.json").read_text())
    assert described["method_name"] == "mp-trpo"
    assert described["method"]["optimiser"]["kind"] == "trpo"
    assert described["changes"] == [
        ["paths", "2"],
        ["critic.network.hidden", "4"],
        ["network.hidden", "4"],
        ["batch-size", "200"],
    ]


WHOLE = {
    "5000": 5000,
    "1_000_000": 10**6,
    "1e6": 10**6,
    "2.5e3": 2500,
    "3.0": 3,
    " 7 ": 7,
    "-2": -2,
    "9007199254740993": 2**53 + 1,
    "9223372036854775807": 2**63 - 1,
    "9.007199254740993e15": 2**53 + 1,
    "1e22": 10**22,
    "1e23": 10**23,
}


@pytest.mark.parametrize("text", WHOLE)
def test_whole_numbers_are_read_to_the_last_digit(text):
    assert whole_number(text) == WHOLE[text]


@pytest.mark.parametrize(
    "text", ["", "x", "1.5", "1e-3", "0x10", "1__0", "_1", "inf", "nan", "1e400", "1e999999999999"]
)
def test_what_is_no_whole_number_is_said(text):
    with pytest.raises(NotReadable, match="is not a whole number; write for example 5000"):
        whole_number(text)


def test_large_seeds_keep_every_digit(tmp_path, capsys):
    """From the command line to run.json, to resume, evaluate and the report, and back."""
    seeds, found = (2**53, 2**53 + 1, 2**63 - 1), {}
    for seed in seeds:
        out = tmp_path / str(seed)
        assert train(out, "--seed", str(seed)) == 0
        assert json.loads((out / "run.json").read_text())["seed"] == seed
        (out / "final.json").unlink()
        assert run("resume", str(out), "--quiet") == 0
        assert run("evaluate", str(out), "--episodes", "1", "--json") == 0
        assert json.loads(capsys.readouterr().out)["seed"] == seed
        words = shlex.split(command(read(out, "run")))
        assert words[words.index("--seed") + 1] == str(seed)
        assert parsed(words[2:])[0].seed == seed
        found[seed] = (out / "metrics.jsonl").read_bytes()
    assert len(set(found.values())) == len(seeds)


def test_a_run_is_made_longer_from_the_command_line(tmp_path, capsys):
    short, whole = tmp_path / "short", tmp_path / "whole"
    assert train(whole, "--steps", "800") == 0
    assert train(short) == 0
    assert train(short, "--steps", "800") == 2
    assert f"mppo resume {short} --steps N makes it longer" in capsys.readouterr().err
    assert run("resume", str(short), "--steps", "800", "--quiet") == 0
    for name in ("metrics.jsonl", "final.json"):
        assert (short / name).read_bytes() == (whole / name).read_bytes()
    assert json.loads((short / "run.json").read_text())["steps"] == 800
    assert run("resume", str(short), "--steps", "400") == 2
    assert "steps is 400, and the run was begun for 800" in capsys.readouterr().err
    assert run("resume", str(short), "--steps", "900", "--from-scratch") == 2
    assert "give one" in capsys.readouterr().err
    assert (short / "metrics.jsonl").read_bytes() == (whole / "metrics.jsonl").read_bytes()


BAD = [
    (["train", "mp-trp", "mppo/Maze-v0"], 'did you mean "mp-trpo"?'),
    (["train", "mp-trpo", "Maz-v0"], 'did you mean "Maze-v0"?'),
    (["train", "mp-trpo", "mppo/Maze-v0", "--steps", "100"], "below one batch of 5000"),
    (["train", "mp-trpo", "mppo/Maze-v0", "--steps", "soon"], '"soon" is not a whole number'),
    (["train", "mp-trpo", "mppo/Maze-v0", "--pathz", "3"], "--paths"),
    (["train", "mp-trpo", "mppo/Maze-v0", "--paths", "0"], "paths is 0"),
    (["train", "mp-trpo", "mppo/Maze-v0", "--paths", "many"], '"many" is not a whole number'),
    (["train", "mp-trpo", "mppo/Maze-v0", "--gamma", "high"], '--gamma: "high" is not a number'),
    (["train", "mp-trpo", "mppo/Maze-v0", "--value", "own"], "not one of shared, independent"),
    (["train", "mp-trpo", "mppo/Maze-v0", "--network.hidden", "x"], "--network.hidden"),
    (["train", "mp-trpo", "mppo/Maze-v0", "--picking", "bets"], 'did you mean "best"?'),
    (["train", "mp-trpo", "mppo/Maze-v0", "--env.layout", "round"], "two-walls"),
    (["train", "mp-trpo", "mppo/Maze-v0", "--seed", "-1"], "seed is -1"),
    (["train", "mp-trpo", "mppo/Maze-v0", "--seed", str(2**63)], "from 0 to 9223372036854775807"),
    (["train", "mp-trpo", "mppo/Maze-v0", "--envs", "3"], "3 environments"),
    (
        ["train", "ppo", "mppo/Maze-v0", "--envs", "64", "--steps", "8192"],
        "64 environments share a batch of 2048 steps, 32 each, and an episode of "
        '"mppo/Maze-v0" may take 1000: no batch would hold a whole one. Use --envs 2,',
    ),
    (["train", "mp-trpo", "mppo/Maze-v0", "--out", "/dev/null"], "/dev/null"),
    (["train", "mp-trpo"], "ENV"),
    (["train"], "which method?"),
    (["train", "--network.hidden", "8", "ppo", "CartPole-v1"], "put METHOD and ENV first: mppo"),
    (["train", "--wrappers", "a:b", "ppo", "X"], 'to the next option, "ppo" too; put METHOD and'),
    (["train", "--network.hidden", "8", "ppo", "--seed", "1", "X"], '"ppo" too; put METHOD and'),
    (["train", "--out", "ppo"], "which method?"),
    (["train", "--out", "ppo", "mppo/Maze-v0"], 'unknown method "mppo/Maze-v0"'),
    (["train", "ppo", "X", "Y"], '"Y" is one word too many'),
    (["train", "ppo", "X", "--env.gap", "--steps", "9"], "written --env.gap=VALUE"),
    (["train", "ppo", "X", "--env.wrappers", "a:b"], "wrapped with --wrappers module:callable"),
    (["train", "ppo", "X", "--picking"], "--picking needs a kind: weighted, "),
    (["train", "ppo", "X", "--picking", ":"], 'cannot load ":": ValueError: Empty module name'),
    (["train", "ppo", "X", "--network", "zzz"], 'unknown kind "zzz". Known: mlp (or module:Class'),
    (["train", "ppo", "X", "--gamma", "nan"], '"nan" is not a number'),
    (["train", "ppo", "CartPole-v1", "--wrappers", ":x"], 'wrapper ":x" has no module'),
    (["train", "ppo", "..:x"], 'cannot import ".." of "..:x"'),
    (["train", "ppo", "X", "--target-kl", "0.1"], "here it is --optimiser.target-kl"),
    (["train", "trpo", "X", "--target_kl=0.1"], '"--target-kl"; here it is --optimiser.max-kl'),
    (["train", "--target-kl", "0.1", "trpo", "X"], "here it is --optimiser.max-kl"),
    (["train", "trpo", "X", "--learning-rate", "1"], "none: --optimiser.max-kl sets the length"),
    (["train", "ppo", "X", "--learning-rate", "1"], "here it is --optimiser.learning-rate, and --"),
    (["trian"], 'did you mean "train"?'),
    (["resume", "no/such/run"], "holds no run"),
    (["demo", "--seeds", "0"], "--seeds 0"),
]


@pytest.mark.parametrize(("words", "says"), BAD, ids=[" ".join(words) for words, _ in BAD])
def test_bad_requests_are_answered_in_words_with_exit_code_2(words, says, capsys):
    assert run(*words) == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1


def test_a_directory_of_another_run_is_refused_and_left_alone(tmp_path, capsys):
    out = tmp_path / "run"
    assert train(out) == 0
    before = {file.name: file.read_bytes() for file in out.iterdir() if file.is_file()}
    assert train(out, "--seed", "1") == 2
    assert "holds another run" in capsys.readouterr().err
    assert before == {file.name: file.read_bytes() for file in out.iterdir() if file.is_file()}
    assert train(out) == 0  # the same run: finished, says so
    assert "finished already" in capsys.readouterr().out


def test_a_directory_with_other_files_is_refused_and_left_alone(tmp_path, capsys):
    (tmp_path / "thesis.tex").write_text("five years of work")
    assert train(tmp_path) == 2
    assert "not an empty directory" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_resume_of_code_from_elsewhere_needs_consent(tmp_path, capsys, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
    out = tmp_path / "run"
    assert train(out, "--picking", "own_picking_rule:Thompson") == 0
    kind = json.loads((out / "run.json").read_text())["method"]["picking"]["kind"]
    assert kind == "own_picking_rule:Thompson"
    assert run("resume", str(out)) == 2
    assert "--allow-imports" in capsys.readouterr().err
    assert run("resume", str(out), "--allow-imports") == 0


def test_quiet_prints_nothing_and_plain_output_has_no_colours(tmp_path, capsys):
    assert train(tmp_path / "quiet") == 0
    assert capsys.readouterr().out == ""
    where = ["--out", str(tmp_path / "loud"), "--steps", "400", "--eval-every", "200"]
    assert run("train", "ppo", "mppo/Maze-v0", *TINY, *where, "--eval-episodes", "1") == 0
    said = capsys.readouterr().out
    assert "400 steps" in said
    assert "\x1b" not in said


def test_components_and_fields_are_checked_together(tmp_path):
    """A race needs a contest: leaving out both at once is no contradiction on the way."""
    words = ["sp-trpo", "mppo/Maze-v0", "--picking", "best", "--race", "0"]
    _, method, _ = parsed(words)
    assert (method.race, method.picking) == (0, Best())
    _, method, _ = parsed([*words, "--exploration", "none", "--styles", "alike"])
    assert method.styles == (ALIKE,)
    with pytest.raises(BadRequest, match="race is 4, which needs --picking contest"):
        parsed(words[:-2])
