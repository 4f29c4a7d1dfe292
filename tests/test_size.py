"""Modules have at most 300 lines and functions at most 40: what is longer has a seam."""

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
MODULE, FUNCTION = 300, 40


def too_long(name, text):
    """What is above the limits, in words."""
    lines = len(text.splitlines())
    found = [f"{name}: {lines} lines"] if lines > MODULE else []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = node.end_lineno - node.lineno + 1
            found += [f"{name}: {node.name} has {lines} lines"] if lines > FUNCTION else []
    return found


def test_what_is_too_long_is_seen():
    function = "def f():\n" + "    x = 1\n" * 39
    assert too_long("a", function) == []
    assert too_long("a", function + "    x = 1\n") == ["a: f has 41 lines"]
    method = "class C:\n    async def f(self):\n" + "        x = 1\n" * 40
    assert too_long("a", method) == ["a: f has 41 lines"]
    assert too_long("a", "x = 1\n" * 300) == []
    assert too_long("a", "x = 1\n" * 301) == ["a: 301 lines"]


def test_nothing_of_the_package_is_too_long():
    modules = sorted((ROOT / "src").rglob("*.py"))
    assert len(modules) > 100
    named = {str(path.relative_to(ROOT)): path.read_text() for path in modules}
    assert [found for name in named for found in too_long(name, named[name])] == []
