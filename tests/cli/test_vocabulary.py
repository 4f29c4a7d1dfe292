"""The completion scripts, used as a shell uses them."""

import shutil
import subprocess
import sys

import pytest

from mppo.algorithm.methods import METHODS
from mppo.cli import COMMANDS, main
from mppo.cli.vocabulary import FILES, options_by_command, parser_of
from mppo.envs import TASKS

ASK = {  # with the script and the words as arguments
    "bash": """
source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_mppo; printf "%s\\n" "${COMPREPLY[@]}"
""",
    "zsh": """
compdef() {}; _files() { print -l -- $PREFIX*(N) }
compadd() { shift; print -l -- ${(M)@:#$PREFIX*} }
source "$1"; shift; words=("$@"); CURRENT=$#; PREFIX=$words[-1]; _mppo
""",
    "fish": "source $argv[1]; complete -C (string join ' ' -- $argv[2..])",
}
MAKE = """
import sys; from mppo.cli import main
main(["completion", sys.argv[1]]); sys.exit("jax" in sys.modules)
"""


@pytest.fixture(scope="module", params=["bash", "zsh", "fish"])
def script(request, tmp_path_factory):
    file = tmp_path_factory.mktemp("completion") / f"mppo.{request.param}"
    make = [sys.executable, "-c", MAKE, request.param]
    file.write_text(subprocess.run(make, capture_output=True, text=True, check=True).stdout)
    return file


def completed(script, *words, cwd=None):
    """What TAB offers after these words, the last of which is being written."""
    shell = script.suffix[1:]
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell}")
    quiet = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    name = [] if shell == "fish" else [shell]
    ask = [shell, *quiet, "-c", ASK[shell], *name, str(script), "mppo", *words]
    answer = subprocess.run(ask, capture_output=True, text=True, check=True, cwd=cwd)
    return [line.split("\t")[0] for line in answer.stdout.split("\n") if line]


ASKED = [
    ([""], list(COMMANDS)),
    (["ev"], ["evaluate"]),
    (["train", "mp-p"], ["mp-ppo", "mp-ppo-replace-worst"]),
    (["train", "mp-ppo", "mppo/M"], ["mppo/Maze-v0"]),
    (["train", "trpo", "Hopper-v5", "--optimiser.max-k"], ["--optimiser.max-kl"]),
    (["train", "ppo", "Hopper-v5", "--optimiser.max-g"], ["--optimiser.max-gradient-norm"]),
    (["train", "ppo", "Hopper-v5", "--critic.net"], [
        "--critic.network.activation", "--critic.network.hidden", "--critic.network.weights"]),
    (["train", "ppo", "Hopper-v5", "--critic.no"], ["--critic.no-filtered"]),
    (["train", "ppo", "Hopper-v5", "--value", ""], ["shared", "independent"]),
    (["train", "ppo", "Hopper-v5", "--picking", "m"], ["max-entropy"]),
    (["train", "ppo", "Hopper-v5", "--steps", ""], []),
    (["evaluate", "runs", "--det"], ["--deterministic"]),
    (["evaluate", "runs", "--path", ""], []),
    (["paper", "fi"], ["figure"]),
    (["paper", "list", "--no"], ["--no-calibrate"]),
    (["completion", ""], ["bash", "zsh", "fish"]),
]  # fmt: skip


@pytest.mark.parametrize(("words", "wanted"), ASKED, ids=[" ".join(words) for words, _ in ASKED])
def test_what_a_shell_offers(script, words, wanted):
    found = completed(script, *words)
    if script.suffix == ".fish":  # which sorts what it offers
        found, wanted = sorted(found), sorted(wanted)
    assert found == wanted


def test_options_are_those_of_the_method(script):
    if script.suffix == ".fish":
        pytest.skip("it offers the options of all methods")
    for method, wanted in (("trpo", "max-kl"), ("ppo", "max-gradient-norm")):
        found = completed(script, "train", method, "Hopper-v5", "--optimiser.max")
        assert found == [f"--optimiser.{wanted}"]


def test_directories_and_files(script, tmp_path):
    (tmp_path / "runs").mkdir()
    for words in (["evaluate", "ru"], ["export", "runs", "--out", "r"]):
        assert [found.rstrip("/") for found in completed(script, *words, cwd=tmp_path)] == ["runs"]


def test_all_words_are_known():
    options = options_by_command()
    methods = {f"train {name}" for name in METHODS}
    assert set(COMMANDS) | methods < set(options)
    shared, trpo, ppo = options["train"], options["train mp-trpo"], options["train ppo"]
    assert trpo["--picking.ties"] == "least-picked first random"
    assert "--optimiser.max-kl" in trpo
    assert "--optimiser.max-kl" not in ppo
    assert "--exploration.scale" not in ppo | shared
    assert shared["--out"] == FILES
    switches = {flag for flag, words in shared.items() if words is None}
    assert switches >= {"--quiet", "--help", "--critic.filtered", "--critic.no-filtered"}
    assert {flag for flag, words in options["evaluate"].items() if words is None} == {
        "--help", "--allow-imports", "--deterministic", "--json"}  # fmt: skip
    assert len(TASKS) == 9
    for command in COMMANDS:  # no option is left out
        if command != "train":
            flags = {flag for flag in parser_of(command).options if flag[:2] == "--"}
            assert flags == set(options[command])


def test_the_words_are_in_every_script(script):
    text = script.read_text()
    wanted = (*COMMANDS, *METHODS, "mppo/Maze-v0", "picking.alpha", "calibrate")
    assert [word for word in wanted if word not in text] == []
    shell = script.suffix[1:]
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} to check its grammar")
    subprocess.run([shell, "-n", str(script)], check=True)


def test_an_unknown_shell_is_named(capsys):
    assert main(["completion", "bsh"]) == 2
    assert 'did you mean "bash"?' in capsys.readouterr().err
