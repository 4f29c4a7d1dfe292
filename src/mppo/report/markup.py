"""Pages from templates: whatever is put into one is text, whoever wrote it.

A template cannot forget to escape: Jinja2 escapes every value, and before that every value is made
visible and cut to a length. Style and script are ours, and the only ones that a page may have.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from mppo.machine.durations import duration
from mppo.report import text
from mppo.report.svg import coordinate

if TYPE_CHECKING:
    import jinja2

_TAG_OR_BREAK = re.compile(r"(\{[%{#].*?[%}#]\})|\n\s*", re.DOTALL)


def render(template: str, style: str, script: str = "", **values: Any) -> str:
    """A whole HTML file with its style and its script, and a policy that lets nothing else in."""
    own_script = f"script-src '{_digest(script)}'; " if script else ""
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; {own_script}"
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    found = _environment().get_template(template)
    return found.render(style=style, script=script, policy=policy, **values)


def asset(name: str, folder: str = "assets") -> str:
    """A file of this package."""
    return resources.files("mppo.report").joinpath(folder, name).read_text(encoding="utf-8")


def join_lines(source: str) -> str:
    """A template without its line breaks, which become comments: line numbers stay as they are.

    >>> join_lines("<p>{% if x\\n %}<b>\\n  </b>")
    '<p>{% if x\\n %}<b>{#\\n  #}</b>'
    """
    return _TAG_OR_BREAK.sub(lambda found: found[1] or f"{{#{found[0]}#}}", source)


@cache
def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        autoescape=True,
        finalize=_show,
        loader=jinja2.FunctionLoader(lambda name: join_lines(asset(name, "templates"))),
        undefined=jinja2.StrictUndefined,
    )
    named = (duration, text.number, text.plural, text.share, text.steps)
    environment.filters |= {one.__name__: one for one in named}
    environment.filters |= {"lines": text.visible_lines, "upto": text.visible, "xy": coordinate}
    return environment


def _show(value: Any) -> Any:
    """What a template writes for a value: markup of other templates as it is, the rest as text."""
    ready = isinstance(value, text.Visible) or hasattr(value, "__html__")
    return value if ready else text.visible(value)


def _digest(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
