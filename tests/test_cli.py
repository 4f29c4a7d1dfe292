"""The command line, called as a user calls it (in this process, to save start-up time)."""

import json
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from mppo.cli import COMMANDS, main
from mppo.methods import METHODS
from mppo.store import rows
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
    image = spaces.Box(0, 255, (8, 8, 3), np.uint8)
    gymnasium.register("tests/Image-v0", lambda: Anything(image, spaces.Discrete(2)))
    try:
        assert run("train", "trpo", "tests/Image-v0", "--out", str(tmp_path / "run")) == 2
    finally:
        del gymnasium.registry["tests/Image-v0"]
    said = capsys.readouterr().err
    assert '"tests/Image-v0" shows images (Box(0, 255, (8, 8, 3), uint8))' in said
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
    (["train", "mp-trpo", "mppo/Maze-v0", "--envs", "3"], "3 environments"),
    (
        ["train", "ppo", "mppo/Maze-v0", "--envs", "64", "--steps", "8192"],
        "64 environments share a batch of 2048 steps, 32 each, and an episode of "
        '"mppo/Maze-v0" may take 1000: no batch would hold a whole one. Use --envs 2,',
    ),
    (["train", "mp-trpo", "mppo/Maze-v0", "--out", "/dev/null"], "/dev/null"),
    (["train", "mp-trpo"], "ENV"),
    (["train"], "which method?"),
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
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "examples"))
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
