"""A time span in words: the one way in which this package shows seconds to people."""

from __future__ import annotations

import math


def duration(seconds: float) -> str:
    """Seconds as people say them, in at most eight characters.

    >>> duration(3.24), duration(42), duration(750), duration(9000), duration(200_000)
    ('3.2 s', '42 s', '12 min', '2.5 h', '2.3 days')
    >>> duration(math.inf)
    '-'
    """
    if not math.isfinite(seconds):
        return "-"
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 129_600 else f"{seconds / 86_400:.1f} days"
