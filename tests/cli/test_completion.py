"""The completion scripts, used as a shell uses them."""

import shutil
import subprocess
import sys

import pytest

from mppo.algorithm.methods import METHODS
from mppo.cli import COMMANDS, main
from mppo.cli.vocabulary import of_commands, of_methods, read_help, tasks

ASK = """
source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_mppo; printf "%s\\n" "${COMPREPLY[@]}"
"""
MAKE = """
import sys; from mppo.cli import main
main(["completion", "bash"]); sys.exit("jax" in sys.modules)
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    file = tmp_path_factory.mktemp("completion") / "mppo.bash"
    made = subprocess.run([sys.executable, "-c", MAKE], capture_output=True, text=True, check=True)
    file.write_text(made.stdout)
    return file


def completed(script, *words, cwd=None):
    """What TAB offers after these words, the last of which is being written."""
    if shutil.which("bash") is None:
        pytest.skip("no bash")
    ask = ["bash", "-c", ASK, "bash", str(script), "mppo", *words]
    answer = subprocess.run(ask, capture_output=True, text=True, check=True, cwd=cwd)
    return answer.stdout.split()


ASKED = [
    ([""], list(COMMANDS)),
    (["ev"], ["evaluate"]),
    (["train", "mp-p"], ["mp-ppo", "mp-ppo-replace-worst"]),
    (["train", "mp-ppo", "mppo/M"], ["mppo/Maze-v0"]),
    (["train", "trpo", "Hopper-v5", "--optimiser.max"], ["--optimiser.max-kl"]),
    (["train", "ppo", "Hopper-v5", "--optimiser.max"], ["--optimiser.max-gradient-norm"]),
    (["train", "ppo", "Hopper-v5", "--critic.net"], [
        "--critic.network.activation", "--critic.network.hidden", "--critic.network.weights"]),
    (["train", "ppo", "Hopper-v5", "--value", ""], ["shared", "independent"]),
    (["train", "ppo", "Hopper-v5", "--picking", "m"], ["max-entropy"]),
    (["train", "ppo", "Hopper-v5", "--steps", ""], []),
    (["evaluate", "runs", "--det"], ["--deterministic"]),
    (["evaluate", "runs", "--path", ""], []),
    (["completion", ""], ["bash", "zsh", "fish"]),
]  # fmt: skip


@pytest.mark.parametrize(("words", "wanted"), ASKED, ids=[" ".join(words) for words, _ in ASKED])
def test_what_bash_offers(script, words, wanted):
    assert completed(script, *words) == wanted


def test_directories_and_files(script, tmp_path):
    (tmp_path / "runs").mkdir()
    assert completed(script, "evaluate", "ru", cwd=tmp_path) == ["runs"]
    assert completed(script, "export", "runs", "--out", "r", cwd=tmp_path) == ["runs"]


def test_all_words_are_known():
    methods = of_methods()
    assert list(methods) == list(METHODS)
    trpo, ppo = methods["mp-trpo"].flags, methods["ppo"].flags
    assert trpo["--picking.ties"] == ["least-picked", "first", "random"]
    assert "--optimiser.max-kl" in trpo
    assert "--optimiser.max-kl" not in ppo
    assert "--exploration.scale" not in ppo
    assert trpo["--out"] is None  # a file
    assert methods["ppo"].switches >= {"--quiet", "--help", "--critic.filtered"}
    assert set(of_commands()) == set(COMMANDS) - {"train"}
    assert of_commands()["evaluate"].switches == {
        "--help", "--allow-imports", "--deterministic", "--json"}  # fmt: skip
    assert len(tasks()) == 9


def test_flags_of_a_help_text():
    text = "usage: x [--json]\n\n  -h, --help  show\n  --only PART [PART ...]  of a, b\n  --n N\n"
    words = read_help(text)
    assert words.flags == {"--help": [], "--only": [], "--n": []}
    assert words.switches == {"--help"}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells(shell, capsys, tmp_path):
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in (*COMMANDS, *METHODS, "mppo/Maze-v0", "picking.alpha"))
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} to check its grammar")
    (tmp_path / "script").write_text(text)
    subprocess.run([shell, "-n", str(tmp_path / "script")], check=True)


def test_an_unknown_shell_is_named(capsys):
    assert main(["completion", "bsh"]) == 2
    assert 'did you mean "bash"?' in capsys.readouterr().err
