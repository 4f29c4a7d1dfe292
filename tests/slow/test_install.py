"""The wheel in an environment with nothing else: `pip install` must be enough to work.

Once with the newest packages of the index, once with the lowest versions that pyproject.toml
allows. INSTALL_WITH names another interpreter than this one.
"""

import json
import math
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from mppo.export import film

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PYTHON = os.environ.get("INSTALL_WITH", sys.executable)
UV = ROOT / ".venv-lock" / "bin" / "uv"
SMALL = ("--steps", "400", "--batch-size", "200", "--paths", "2", "--quiet")
SMALL += ("--eval-every", "400", "--eval-episodes", "2")
VERSIONS = "import importlib.metadata as m, sys; print(*map(m.version, sys.argv[1:]))"
QUIET = ("-m", "pip", "--quiet", "--disable-pip-version-check")


def call(*words, cwd=ROOT, env=None):
    """What a command prints; a failure shows all that it said."""
    given = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=env or given, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    call(sys.executable, *QUIET, "wheel", "--no-deps", "--no-build-isolation", "-w", folder, ROOT)
    (made,) = folder.glob("mppo-*.whl")
    return made


@pytest.fixture(scope="module", params=["newest", "lowest"])
def place(request, wheel, tmp_path_factory):
    """The directory of a fresh environment with the wheel and what it asks for."""
    folder = tmp_path_factory.mktemp(request.param)
    call(PYTHON, "-m", "venv", folder)
    python = folder / "bin" / "python"
    if request.param == "lowest":
        asked = folder / "lowest.txt"
        call(
            *(UV, "pip", "compile", "pyproject.toml", "--resolution", "lowest-direct"),
            *("--python", python, "--only-binary", ":all:", "--no-emit-index-url"),
            *("--no-emit-find-links", "--no-header", "--quiet", "--output-file", asked),
        )
        call(python, *QUIET, "install", "--only-binary", ":all:", "-r", asked)
    call(python, *QUIET, "install", wheel)
    call(python, "-m", "pip", "check")
    return folder


def bounds():
    """The lowest version of each core dependency."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for requirement in map(Requirement, project["dependencies"]):
        (lowest,) = (one.version for one in requirement.specifier if one.operator == ">=")
        yield requirement.name, Version(lowest)


def test_the_lowest_versions_are_those_declared(place):
    """A bound that another package forbids is no bound; newer Pythons may need newer packages."""
    names, lowest = zip(*bounds(), strict=True)
    there = call(place / "bin" / "python", "-c", VERSIONS, *names).split()
    found = dict(zip(names, map(Version, there), strict=True))
    assert all(found[name] >= bound for name, bound in bounds())
    oldest = (
        call(place / "bin" / "python", "-c", "import sys; print(sys.version_info[1])") == "11\n"
    )
    if "lowest" in place.name and oldest:
        assert found == dict(zip(names, lowest, strict=True))


def test_a_robot_the_maze_a_report_a_film_and_the_help(place, tmp_path):
    """The environment of a user: his PATH, a home, a terminal's language."""
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    mppo = lambda *words: call(place / "bin" / "mppo", *words, cwd=tmp_path, env=env)
    assert mppo("--help").startswith("usage: mppo COMMAND ...\n")
    drawn = any(film._loads(name) for names in film.LIBRARIES.values() for name in names)
    for method, task, films in (("mp-trpo", "Hopper-v5", drawn), ("mp-ppo", "mppo/Maze-v0", True)):
        for out in (method, "again"):  # the second time with what the first one compiled
            mppo("train", method, task, *SMALL, "--out", out)
        for name in ("metrics.jsonl", "evaluations.jsonl"):
            first, second = (tmp_path / out / name for out in (method, "again"))
            assert first.read_bytes() == second.read_bytes(), (method, name)
        shutil.rmtree(tmp_path / "again")
        final = json.loads((tmp_path / method / "final.json").read_text())
        assert final["steps"] == 400
        rows = (tmp_path / method / "metrics.jsonl").read_text().splitlines()
        assert len(rows) == 2
        assert all(math.isfinite(json.loads(row)["value_loss"]) for row in rows)
        assert mppo("report", method, "--out", f"{method}.html").startswith(f"{method}.html: ")
        assert task in (tmp_path / f"{method}.html").read_text()
        if films:
            mppo("video", method, "--out", f"{method}.gif", "--episodes", "1", "--size", "80x60")
            assert (tmp_path / f"{method}.gif").read_bytes().startswith(b"GIF89a")
