"""Words and numbers for people: nothing that comes from a run can hide, whatever it holds."""

from __future__ import annotations

import math
import unicodedata
from typing import Any

LONGEST = 400  # characters shown of a value; the rest is counted
LONGEST_LABEL = 60
_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")  # controls, bidi, surrogates, separators


class Visible(str):
    """Text that shows all that is in it, at a length that somebody chose."""


def visible(value: Any, longest: int = LONGEST) -> Visible:
    """The value as text without anything that hides: such characters become their numbers.

    >>> visible("a\\u202eb"), visible("x" * 12, longest=5)
    ('a\\\\u202eb', 'xxxxx… (7 more characters)')
    """
    text = value if isinstance(value, str) else str(value)
    more, text = len(text) - longest, text[:longest]
    shown = text if text.isprintable() else "".join(_spell_out(letter) for letter in text)
    return Visible(f"{shown}… ({more:,} more characters)" if more > 0 else shown)


def visible_lines(text: str) -> Visible:
    """Text of any length whose lines stay lines.

    >>> visible_lines("a\\x1b[31mb\\n\\u202ec")
    'a\\\\u001b[31mb\\n\\\\u202ec'
    """
    return Visible("\n".join(visible(line, len(line)) for line in text.split("\n")))


def _spell_out(letter: str) -> str:
    if letter in "\n\t":
        return " "
    if unicodedata.category(letter) in _INVISIBLE:
        return f"\\u{ord(letter):04x}"
    return letter


def shorten(text: str, longest: int) -> str:
    """The beginning of a text that is too long for its place.

    >>> shorten("picking Thompson", 10)
    'picking T…'
    """
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def number(value: float | None, digits: int = 3) -> str:
    """A number for people: about that many digits, thousands apart.

    >>> number(1234.56), number(0.03456), number(-2.0), number(0.0000123), number(None)
    ('1,235', '0.0346', '−2', '1.23e−5', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    if size < -4 or size > 8:
        mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
        said = f"{_trim_zeros(mantissa)}e{int(exponent)}"
    else:
        said = _trim_zeros(f"{value:,.{max(0, digits - 1 - size)}f}")
    return said.replace("-", "−")


def steps(count: float) -> str:
    """Environment steps, short.

    >>> steps(1_500_000), steps(40_960), steps(0)
    ('1.5M', '41k', '0')
    """
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(count) >= unit:
            return number(count / unit, 3 if abs(count) < 10 * unit else 2) + letter
    return number(count)


def share(part: float, whole: float) -> str:
    """A part in per cent.

    >>> share(1, 8), share(1, 0)
    ('12 %', '–')
    """
    return f"{100 * part / whole:.0f} %" if whole > 0 else "–"


def plural(count: int, one: str, many: str | None = None) -> str:
    """A count with its noun.

    >>> plural(1, "run"), plural(2, "run"), plural(2, "entry", "entries")
    ('1 run', '2 runs', '2 entries')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _trim_zeros(digits: str) -> str:
    return digits.rstrip("0").rstrip(".") if "." in digits else digits
