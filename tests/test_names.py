"""Names between backticks, in documents, docstrings and comments, are names that there are."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))
TEXTS = [*SOURCES, *sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md"))]
HISTORY = {"CHANGELOG.md"}  # speaks of what was
DOTTED = re.compile(r"`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?:\([^`]*\))?`")


def members(node):
    """What a class has: methods, fields, and what its methods set."""
    found = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
    found |= {ast.unparse(one.target) for one in node.body if isinstance(one, ast.AnnAssign)}
    for one in node.body:
        if isinstance(one, ast.Assign):
            found |= {ast.unparse(target) for target in one.targets}
    return found | set(re.findall(r"\bself\.(\w+)", ast.unparse(node)))


def top(tree):
    """What a module has at its top, also under TYPE_CHECKING."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


def known():
    """Modules and classes by name, each with what it has."""
    modules, classes = {}, {}
    for path in SOURCES:
        tree = ast.parse(path.read_text())
        parts = path.relative_to(ROOT / "src").with_suffix("").parts
        modules[".".join(parts).removesuffix(".__init__")] = top(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, set()).update(members(node))
    return modules, classes


def exists(name, modules, classes):
    """Whether there is such a name; those of other packages are not ours to judge."""
    first, *rest = name.split(".")
    if first in classes:
        return rest[0] in classes[first]
    if first != "mppo" or name in modules:
        return True
    parts = name.split(".")
    module = next(
        ".".join(parts[:n]) for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in modules
    )
    return parts[module.count(".") + 1] in modules[module]


def test_dotted_names_exist():
    modules, classes = known()
    assert exists("Run.iterate", modules, classes)
    assert not exists("Run.nothing", modules, classes)
    assert not exists("mppo.training.run.nothing", modules, classes)
    lost = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in TEXTS
        if path.name not in HISTORY
        for name in DOTTED.findall(path.read_text())
        if not exists(name, modules, classes)
    ]
    assert lost == []
