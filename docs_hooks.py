"""What the site needs beyond mkdocs.

Results and decisions are listed from their folders: a new page needs no entry in mkdocs.yml.
Examples in docstrings are shown as code.

Files of the repository that pages link to become pages. A link
[`pick`](../src/mppo/algorithm/iteration.py) works where the repository is browsed. In the site it
leads to a copy of that file, and to the line of `pick` if the file defines it.
"""

import ast
import os
import re
from pathlib import Path

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#\s]+)\)")
NAMED = re.compile(
    r'(?P<start>href="[./]*source/(?P<file>[^"]+\.py)\.html)"><code>(?P<name>[\w.]+)</code>'
)
DOCTEST = re.compile(r"^(>>> .*(?:\n.+)*)", re.M)
LANGUAGES = {".py": "python", ".toml": "toml", ".md": "markdown"}


class FencedDoctests(griffe.Extension):
    """Show doctests as code; as plain Markdown they would be quotations."""

    def on_object(self, *, obj: griffe.Object, **kwargs) -> None:
        if obj.docstring is not None:
            obj.docstring.value = DOCTEST.sub(r"```pycon\n\1\n```", obj.docstring.value)


def outside(page: str, target: str) -> str | None:
    """The file of the repository, not of the documentation, that a link of a page leads to."""
    if "://" in target:
        return None
    path = os.path.normpath(os.path.join("docs", os.path.dirname(page), target))
    return None if path.startswith("docs" + os.sep) else path


def definitions(path: Path) -> dict[str, int]:
    """The line of every function, class and method of a file, by `name` and `Class.name`."""
    lines: dict[str, int] = {}

    def visit(parent: ast.AST, prefix: str) -> None:
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                lines[prefix + node.name] = node.lineno
                if isinstance(node, ast.ClassDef):
                    visit(node, f"{prefix}{node.name}.")

    visit(ast.parse(path.read_text()), "")
    return lines


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the pages of a folder where the navigation names the folder alone."""
    assert config.nav is not None
    for entry in config.nav:
        for section, pages in entry.items():
            if pages == []:
                found = sorted((ROOT / "docs" / section.lower()).glob("*.md"))
                entry[section] = [str(page.relative_to(ROOT / "docs")) for page in found]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each file that some page links to."""
    wanted = set()
    for file in files.documentation_pages():
        for _, target in LINK.findall(file.content_string):
            wanted.add(outside(file.src_uri, target))
    for name in sorted(wanted - {None}):
        language = LANGUAGES.get(Path(name).suffix, "text")
        text = (ROOT / name).read_text()
        content = (
            f'---\nhide: [toc]\n---\n# {name}\n\n~~~~ {{.{language} linenums="1"}}\n{text}\n~~~~\n'
        )
        files.append(File.generated(config, f"source/{name}.md", content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links that leave the documentation to those pages."""
    if page.file.src_uri.startswith("source/"):
        page.meta["search"] = {"exclude": True}
        return markdown

    def inside(match: re.Match) -> str:
        text, target = match.groups()
        name = outside(page.file.src_uri, target)
        if name is None:
            return match[0]
        here = os.path.dirname(page.file.src_uri) or "."
        return f"[{text}]({os.path.relpath(f'source/{name}.md', here)})"

    return LINK.sub(inside, markdown)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links with a name for their text to its line; mkdocs cannot check these anchors."""

    def to_line(match: re.Match) -> str:
        line = definitions(ROOT / match["file"]).get(match["name"])
        anchor = f"#__codelineno-0-{line}" if line else ""
        return f'{match["start"]}{anchor}"><code>{match["name"]}</code>'

    return NAMED.sub(to_line, html)
