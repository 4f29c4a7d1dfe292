"""README and examples do what they say."""

import importlib.util
import os
import re
import runpy
import shlex
import subprocess
import sys
import types
from pathlib import Path

import pytest

from mppo.cli import COMMANDS, function_of, main
from mppo.cli.paper import JOBS
from mppo.cli.parser import Parser
from mppo.cli.train import parsed
from mppo.cli.vocabulary import options_by_command
from mppo.errors import BadRequest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def blocks(document):
    """The Python of a document, in order."""
    return re.findall(r"```python\n(.*?)```", document.read_text(), re.S)


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FRONT = blocks(ROOT / "README.md")  # the site's first page shows the same
DOCUMENTS = [path for path in PAGES if blocks(path) and (path == PAGES[0] or blocks(path) != FRONT)]
RULE = """
from mppo.algorithm.picking import RoundRobin
from dataclasses import dataclass

@dataclass(frozen=True)
class {name}(RoundRobin):
    turns: int = 3
"""
STANDS_FOR = {"METHOD": "mp-trpo", "ENV": "mppo/Maze-v0", "S": "0"}
MADE_UP = {"my_rules": RULE.format(name="Patient"), "my_module": RULE.format(name="MyRule")}


def name_of(document):
    return document.name


def commands(document, start):
    """What a reader would type: lines of blocks and words between backticks that start so."""
    text = document.read_text()
    fences = re.findall(r"^```([^\n]*)\n(.*?)^```", text, re.M | re.S)
    prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    lines = [line for kind, fence in fences if kind != "python" for line in fence.splitlines()]
    lines += [line for line in prose.splitlines() if line.startswith("    ")]
    lines += [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose)]
    lines = [line.strip().removeprefix("$ ").partition("  #")[0].strip() for line in lines]
    return [line for line in lines if line.startswith(start)]


def refusals(document):
    """Commands that are shown with the message that refuses them."""
    return re.findall(r"^\$ (mppo .+)\n(mppo: .+)$", document.read_text(), re.M)


@pytest.mark.filterwarnings("ignore::mppo.errors.SlowPath")
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_python_of_the_documents_runs(document, tmp_path, monkeypatch):
    """Block by block; later ones go on with the names of earlier ones."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "document"}
    monkeypatch.setitem(sys.modules, "document", types.SimpleNamespace())  # dataclasses ask for it
    for block in blocks(document):
        exec(compile(block, document.name, "exec"), names)  # noqa: S102  (our own document)


def test_the_first_document_has_python():
    assert DOCUMENTS[0].name == "README.md"


@pytest.mark.filterwarnings("ignore::mppo.errors.SlowPath")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(example, capsys):
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out


class Accepted(Exception):
    """Raised in the place of what a command would do."""


@pytest.fixture
def parse_alone(tmp_path, monkeypatch):
    """Commands end where they would begin to work; components that pages make up are there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    monkeypatch.syspath_prepend(str(tmp_path))
    for module, source in MADE_UP.items():
        (tmp_path / f"{module}.py").write_text(source)
    (tmp_path / "run.toml").write_text('method = "ppo"\nenv = "CartPole-v1"\n')
    really = Parser.parse_args

    def parse_args(self, *args, **kwargs):
        really(self, *args, **kwargs)
        raise Accepted

    def accept(words):
        if words[0] in ("--help", "--version"):
            return
        command = COMMANDS[words[0]]
        if words[1:] == [] or (words[0] == "paper" and words[1:] == [*JOBS.keys() & {words[1]}]):
            return  # the name alone, in a sentence
        if words[0] == "train" and not {"-h", "--help"} & set(words):
            parsed(words[1:])
            return
        monkeypatch.setattr(Parser, "parse_args", parse_args)
        more = (None,) if command.stops_at_boundaries else ()
        with pytest.raises((Accepted, SystemExit)) as ended:
            function_of(words[0])(words[1:], *more)
        assert not isinstance(ended.value, SystemExit) or not ended.value.code
        monkeypatch.setattr(Parser, "parse_args", really)

    return accept


@pytest.mark.parametrize("document", PAGES, ids=name_of)
def test_commands_of_the_documents_are_accepted(document, parse_alone):
    """Every `mppo ...` parses: an option that no longer exists would be named."""
    refused = {said for said, _ in refusals(document)}
    for line in commands(document, "mppo ") + commands(document, "python -m mppo "):
        if line in refused or "..." in line or "COMMAND" in line:
            continue
        words = shlex.split(line.partition("mppo ")[2].partition(" > ")[0])
        try:
            parse_alone([STANDS_FOR.get(word, word) for word in words])
        except BadRequest as error:
            pytest.fail(f"{document.name}: {line}: {error}")


def test_there_are_commands_to_be_tested():
    found = {document.name: len(commands(document, "mppo ")) for document in PAGES}
    assert found["README.md"] >= 5
    assert found["getting-started.md"] >= 12
    assert found["command-line.md"] >= 15
    assert found["experiments.md"] >= 12


@pytest.mark.filterwarnings("ignore::mppo.errors.SlowPath")
def test_refusals_are_those_the_documents_show(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shown = [pair for document in PAGES for pair in refusals(document)]
    assert len(shown) >= 6
    for line, answer in shown:
        assert main(shlex.split(line)[1:]) == 2, line
        assert capsys.readouterr().err.strip() == answer


def test_flags_named_in_the_documents_exist():
    known = {flag for values in options_by_command().values() for flag in values}
    for document in PAGES:
        for flag in re.findall(r"`(--[\w.-]+)", document.read_text()):
            flag = flag.replace("_", "-")
            assert flag in known or flag.startswith("--env."), (document.name, flag)


def test_other_commands_of_the_documents_exist():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))
    for document in PAGES:
        for line in commands(document, "make "):
            assert set(line.split("#")[0].split()[1:]) <= targets, (document.name, line)
        for line in commands(document, "python "):
            _, first, *rest = line.split()
            if first == "-m":
                assert importlib.util.find_spec(rest[0]), (document.name, line)
            elif not first.startswith("-"):
                assert (ROOT / first).is_file(), (document.name, line)


def test_links_of_the_documents_lead_somewhere():
    for document in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
            if "://" not in target:
                assert (document.parent / target).exists(), (document.name, target)


def test_no_document_or_source_names_a_place_of_one_machine():
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    if not tracked:
        pytest.skip("not a git checkout")
    home = re.compile(r"(^|[^\w.])/(root|home/\w+|work)/")
    for name in tracked:
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ".lock", ".cff", ""} and path.is_file():
            assert not home.search(path.read_text(errors="ignore")), name


def test_the_makefile_s_two_commands_are_on_the_first_screen():
    first_screen = "\n".join(README.splitlines()[:30])
    assert "make demo" in first_screen
    assert "make test" in first_screen


def test_the_package_runs_as_a_module():
    answer = subprocess.run(
        [sys.executable, "-m", "mppo", "--version"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )
    assert answer.stdout.startswith("mppo ")
