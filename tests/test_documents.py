"""README and examples do what they say."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_the_python_of_the_readme_runs():
    blocks = re.findall(r"```python\n(.*?)```", README, re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})  # noqa: S102  (our own document)


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
