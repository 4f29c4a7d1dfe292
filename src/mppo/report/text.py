"""Words and numbers on a page: everything that comes from a run is escaped, and shown as it is."""

from __future__ import annotations

import html
import math
import unicodedata
from typing import Any

LONGEST = 400  # characters shown of a value; the rest is counted
LONGEST_LABEL = 60
_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")  # controls, bidi, surrogates, separators


def visible(value: Any, longest: int = LONGEST) -> str:
    """The value as text without anything that hides: such characters become their numbers.

    >>> visible("a\\u202eb"), visible("x" * 12, longest=5)
    ('a\\\\u202eb', 'xxxxx… (7 more characters)')
    """
    text = value if isinstance(value, str) else str(value)
    more = len(text) - longest
    if more > 0:
        text = text[:longest]
    shown = text if text.isprintable() else "".join(_seen(letter) for letter in text)
    return f"{shown}… ({more:,} more characters)" if more > 0 else shown


def _seen(letter: str) -> str:
    if letter in "\n\t":
        return " "
    if unicodedata.category(letter) in _INVISIBLE:
        return f"\\u{ord(letter):04x}"
    return letter


def shortened(text: str, longest: int) -> str:
    """The beginning of a text that is too long for its place.

    >>> shortened("picking Thompson", 10)
    'picking T…'
    """
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def escaped(value: Any, longest: int = LONGEST) -> str:
    """Text for an element or a quoted attribute.

    >>> escaped("<b onload='x'>")
    '&lt;b onload=&#x27;x&#x27;&gt;'
    """
    return html.escape(visible(value, longest), quote=True)


def tag(name: str, content: str = "", /, **attributes: Any) -> str:
    """An element around content that is markup already; attribute values are escaped here.

    >>> tag("a", "run", href="#1", class_="x")
    '<a href="#1" class="x">run</a>'
    """
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{words}>{content}</{name}>"


def value(number: float | None, digits: int = 3) -> str:
    """A number for people: about that many digits, thousands apart.

    >>> value(1234.56), value(0.03456), value(-2.0), value(0.0000123), value(None)
    ('1,235', '0.0346', '−2', '1.23e−5', '–')
    """
    if number is None or not math.isfinite(number):
        return "–"
    if number == 0:
        return "0"
    size = math.floor(math.log10(abs(number)))
    if size < -4 or size > 8:
        mantissa, _, exponent = f"{number:.{digits - 1}e}".partition("e")
        return _minus(f"{_trimmed(mantissa)}e{int(exponent)}")
    return _minus(_trimmed(f"{number:,.{max(0, digits - 1 - size)}f}"))


def steps(number: float) -> str:
    """Environment steps, short.

    >>> steps(1_500_000), steps(40_960), steps(0)
    ('1.5M', '41k', '0')
    """
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= unit:
            return value(number / unit, 3 if abs(number) < 10 * unit else 2) + letter
    return value(number)


def share(part: float, whole: float) -> str:
    """A part in per cent.

    >>> share(1, 8), share(1, 0)
    ('12 %', '–')
    """
    return f"{100 * part / whole:.0f} %" if whole > 0 else "–"


def duration(seconds: float) -> str:
    """A time span.

    >>> duration(3.24), duration(75), duration(7300)
    ('3.2 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def plural(number: int, one: str, many: str | None = None) -> str:
    """A count with its noun.

    >>> plural(1, "run"), plural(2, "run"), plural(2, "entry", "entries")
    ('1 run', '2 runs', '2 entries')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _trimmed(digits: str) -> str:
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _minus(digits: str) -> str:
    return digits.replace("-", "−")
