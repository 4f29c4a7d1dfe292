"""Compiled code is kept only for as long as all that it was made of stays the same."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

from mppo.machine import compilers

PACKAGE = Path(compilers.__file__).parents[1]
PROBE = """
from mppo.acting import kernel
from mppo.machine.compilers import native

@native
def probe(x):
    return kernel.shift(x)
"""
SHIFT = """
@native
def shift(x):
    return x + {by}
"""
ASKED = "import mppo.probe; print(mppo.probe.probe(1.0))"


def answer(package, cache):
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(package.parent),
        "MPPO_COMPILATION_CACHE": str(cache),
    }
    words = [sys.executable, "-c", ASKED]
    return subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout


def test_a_change_in_another_file_is_seen(tmp_path):
    """After an upgrade, what was kept must not act with the arithmetic of the earlier version."""
    copy = tmp_path / "source" / "mppo"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "probe.py").write_text(PROBE)
    kernel = (copy / "acting" / "kernel.py").read_text()
    for by, wanted in ((1.0, "2.0\n"), (10.0, "11.0\n")):
        (copy / "acting" / "kernel.py").write_text(kernel + SHIFT.format(by=by))
        assert answer(copy, tmp_path / "cache") == wanted
    assert len(list((tmp_path / "cache" / "numba").iterdir())) == 2
    kept = sorted(path.name for path in tmp_path.rglob("probe.probe*.nbi"))
    assert len(kept) == 2  # one for each


def test_the_digest_is_of_every_source_and_of_the_compiler(tmp_path, monkeypatch):
    files = [file.relative_to(PACKAGE) for file in compilers.source_files(PACKAGE)]
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_bytes((PACKAGE / name).read_bytes())
    known = {compilers.digest(tmp_path)}
    assert known == {compilers.digest(PACKAGE)}
    for name in files:
        with (tmp_path / name).open("a") as file:
            file.write("#\n")
        known.add(compilers.digest(tmp_path))
    for module in (compilers.numba, compilers.llvmlite):
        monkeypatch.setattr(module, "__version__", "0")
        known.add(compilers.digest(tmp_path))
    assert len(known) == 1 + len(files) + 2


def imported_names(tree, package):
    """Names at the top of a module that come from mppo: the file that each is from."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            place = [*above, *(node.module or "").split(".")] if node.module else [*above]
            if place[0] != "mppo":
                continue
            for alias in node.names:
                for parts in ([*place[1:], alias.name], place[1:]):
                    if parts and (PACKAGE.joinpath(*parts).with_suffix(".py")).exists():
                        found[alias.asname or alias.name] = "/".join(parts) + ".py"
                        break
    return found


def test_the_sources_are_all_that_is_compiled_and_all_that_it_names():
    """Functions, constants, the tuples that are passed: whatever a compiled function mentions."""
    needed = {"machine/compilers.py"}
    for path in PACKAGE.rglob("*.py"):
        name, text = path.relative_to(PACKAGE), path.read_text()
        if not any(mark in text for mark in ("@native", "@intrinsic", "@cfunc")):
            continue
        tree = ast.parse(text)
        imported = imported_names(tree, ("mppo", *name.parts[:-1]))
        for node in tree.body:
            marks = getattr(node, "decorator_list", [])
            if any(ast.unparse(mark) in ("native", "intrinsic", "cfunc") for mark in marks):
                needed.add(name.as_posix())
                mentioned = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
                needed |= {imported[one] for one in mentioned - {"native"} if one in imported}
    known = {file.relative_to(PACKAGE).as_posix() for file in compilers.source_files(PACKAGE)}
    assert needed <= known


def test_a_user_s_own_place_for_numba_stays_his(tmp_path, monkeypatch):
    monkeypatch.setattr(compilers.numba.config, "CACHE_DIR", str(tmp_path / "his"))
    monkeypatch.setattr(compilers, "_KEPT", tmp_path / "ours")

    @compilers.native
    def double(x):
        return 2 * x

    his = compilers.numba.config.CACHE_DIR
    assert his == str(tmp_path / "his")
    assert double(21) == 42
    assert len(list((tmp_path / "ours").rglob("*.nbi"))) == 1
    assert not (tmp_path / "his").exists()


def test_without_a_cache_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(compilers, "_KEPT", None)
    monkeypatch.setattr(compilers.numba.config, "CACHE_DIR", str(tmp_path / "his"))

    @compilers.native
    def triple(x):
        return 3 * x

    assert triple(14) == 42
    assert list(tmp_path.iterdir()) == []


def test_numba_is_not_loaded_before_it_is_needed():
    """Reading sources is for those who compile; `mppo --help` does not wait."""
    modules = "mppo.cli, mppo.algorithm.methods, mppo.machine.caching"
    code = f"import sys, {modules}; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
