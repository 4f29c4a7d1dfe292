"""README and examples do what they say."""

import os
import re
import runpy
import subprocess
import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def blocks(document):
    """The Python of a document, in order."""
    return re.findall(r"```python\n(.*?)```", document.read_text(), re.S)


DOCUMENTS = [path for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")] if blocks(path)]


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


def test_commands_of_the_readme_are_accepted():
    """Every `mppo train` line parses: an option that no longer exists would be named."""
    from mppo.cli.train import parsed

    lines = [line for line in README.splitlines() if line.startswith("mppo train")]
    assert len(lines) >= 3
    for line in lines:
        words = line.split("#")[0].split()[2:]
        parsed(words)


def test_links_of_the_documents_lead_somewhere():
    for document in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
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
