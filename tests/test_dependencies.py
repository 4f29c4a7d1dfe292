"""What the package imports is what it declares: `pip install .` alone must run every task."""

import ast
import importlib.util
import re
import sys
import tomllib
from importlib.metadata import requires
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DISTRIBUTIONS = {"PIL": "pillow"}  # where import and distribution differ by more than - and _
# Runs in an interpreter that has the peers and not mppo.
ELSEWHERE = {"mppo.bench.peer_script"}
EXTRAS_OF_USERS = ("report", "export", "video", "tensorboard", "track", "ray", "search")


def distribution(requirement):
    """The distribution of an import's name or of a requirement, as the index compares names."""
    name = re.match(r"[\w.-]+", requirement)[0].partition(".")[0]
    return re.sub(r"[-_.]+", "-", DISTRIBUTIONS.get(name, name)).lower()


CORE = {distribution(one) for one in PROJECT["dependencies"]}
EXTRAS = {
    distribution(one): extra
    for extra in EXTRAS_OF_USERS
    for one in PROJECT["optional-dependencies"][extra]
}


class Imports(ast.NodeVisitor):
    """Modules imported when a module is (`eager`), and later, by a function (`late`)."""

    def __init__(self, path):
        self.eager, self.late, self._depth = set(), set(), 0
        self.package = path.relative_to(SOURCE).parts[:-1] if path.is_relative_to(SOURCE) else ()
        self.visit(ast.parse(path.read_text()))

    def add(self, name):
        (self.late if self._depth else self.eager).add(name)

    def visit_FunctionDef(self, node):
        self._depth += 1
        self.generic_visit(node)
        self._depth -= 1

    def visit_Lambda(self, node):
        self.visit_FunctionDef(node)

    def visit_If(self, node):
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self.visit(node.test)
            for statement in node.body:
                self.visit(statement)
        for statement in node.orelse:
            self.visit(statement)

    def visit_Import(self, node):
        for alias in node.names:
            self.add(alias.name)

    def visit_ImportFrom(self, node):
        above = self.package[: len(self.package) - node.level + 1] if node.level else ()
        module = ".".join([*above, *([node.module] if node.module else [])])
        self.add(module)
        for alias in node.names:
            self.add(f"{module}.{alias.name}")

    def visit_Call(self, node):
        """`import_module("x")`, and `LazyModule("x")`, which is imported at its first use."""
        name = ast.unparse(node.func).rpartition(".")[2]
        if name in ("import_module", "LazyModule") and isinstance(node.args[0], ast.Constant):
            self.late.add(node.args[0].value)
        self.generic_visit(node)

    def visit_Assign(self, node):
        """Loggers name the module that they import."""
        if ast.unparse(node.targets[0]) == "module_name" and node.value.value:
            self.late.add(node.value.value)
        self.generic_visit(node)


def module_of(path):
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): Imports(path) for path in sorted((SOURCE / "mppo").rglob("*.py"))}
MODULES = {name: found for name, found in MODULES.items() if name not in ELSEWHERE}


def foreign(names):
    """Distributions of other people among names of modules."""
    tops = {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names) - {"mppo"}
    return {distribution(top) for top in tops}


def test_every_import_is_declared():
    found = {name: foreign(one.eager | one.late) for name, one in MODULES.items()}
    undeclared = {
        name: missing for name, used in found.items() if (missing := used - CORE - set(EXTRAS))
    }
    assert undeclared == {}
    used = set().union(*found.values())
    assert {"jax", "optax", "mujoco", "llvmlite", "wandb", "trackio", "tensorboardx"} <= used


def test_an_extra_is_imported_late():
    """At first use, or at the top of a module that others import late."""
    needs = {name for name, found in MODULES.items() if foreign(found.eager) - CORE}
    assert needs <= {"mppo.export.graph"}
    eagerly = {name for name, found in MODULES.items() if needs & found.eager}
    assert eagerly == set()


def test_every_extra_is_named_where_it_is_missing():
    """Each has a sentence with the command that installs it."""
    text = "".join(path.read_text() for path in (SOURCE / "mppo").rglob("*.py"))
    asked = set(re.findall(r'pip install "mppo\[(\w+)\]"', text)) | {
        found.group(1) for found in re.finditer(r'^    extra = "(\w+)"', text, re.M)
    }
    assert asked == set(EXTRAS_OF_USERS)


def test_what_gymnasium_s_robots_import_is_declared():
    """Gymnasium declares it as extras of its own, which `pip install gymnasium` leaves out."""
    folder = Path(importlib.util.find_spec("gymnasium").origin).parent / "envs" / "mujoco"
    used = set().union(*(foreign(Imports(path).eager) for path in folder.glob("*.py")))
    brought = {
        distribution(one)
        for ours in ("gymnasium", "mujoco")
        for one in requires(ours)
        if "extra ==" not in one
    }
    assert {"imageio", "packaging", "mujoco"} <= used
    assert used - brought - {"gymnasium"} <= CORE


def test_nothing_is_declared_in_vain():
    used = set().union(*(foreign(one.eager | one.late) for one in MODULES.values()))
    assert (CORE | set(EXTRAS)) - used == {"imageio-ffmpeg", "packaging"}  # imageio's, Gymnasium's
