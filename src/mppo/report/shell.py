"""The shell of a page: head, style, script and the policy that lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
from importlib import resources

from mppo.report.style import DARK_PAGE, LIGHT_PAGE
from mppo.report.text import escaped, tag


def document(title: str, header: str, body: str) -> str:
    """A whole HTML file around markup."""
    style, script = _asset("report.css").replace("/*palette*/", _palette()), _asset("report.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f'<link rel="icon" href="data:,">\n<title>{escaped(title, 120)}</title>\n'
        f"<style>{style}</style>\n</head>\n<body>\n{header}\n"
        f"<main>{body}</main>\n{_footer()}\n"
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def _footer() -> str:
    version = escaped(importlib.metadata.version("mppo"), 40)
    return tag("footer", f"Made by mppo {version} from the run directories alone.")


def _asset(name: str) -> str:
    return resources.files("mppo.report").joinpath("assets", name).read_text(encoding="utf-8")


def _palette() -> str:
    """The colours of style.py as variables of the style sheet."""
    light, dark = (
        "".join(f"--s{place}:{colour};" for place, colour in enumerate(palette))
        for palette in (LIGHT_PAGE, DARK_PAGE)
    )
    screen = f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    classes = "".join(f".c{place}{{--c:var(--s{place})}}" for place in range(len(LIGHT_PAGE)))
    return f":root{{{light}}}{screen}{classes}"


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
