"""How series are told apart: colour, marker and dash, in legends and at the ends of lines."""

from __future__ import annotations

from typing import NamedTuple

from mppo.report.style import LIGHT_PAGE, PLACES
from mppo.report.svg import DASHES, MARKERS

COLOURS = len(MARKERS)


class Look(NamedTuple):
    """How a series is told from others: colour and marker, then dash."""

    colour: int
    dash: int = 0

    @classmethod
    def number(cls, place: int) -> Look:
        """The look of the series in that place."""
        return cls(place % COLOURS, place // COLOURS % len(DASHES))


def swatch(look: Look) -> str:
    """A piece of the line with its marker."""
    dash = DASHES[look.dash]
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<svg class="swatch c{look.colour}" viewBox="0 0 26 12" aria-hidden="true">'
        f'<path class="mean" d="M0 6h26"{dashed}/>'
        f'<path class="mark" transform="translate(13 6)" d="{MARKERS[look.colour]}"/></svg>'
    )


def ranges(numbers: list[int]) -> str:
    """Sorted numbers, neighbours joined.

    >>> ranges([0, 1, 2, 5, 7, 8]), ranges([3])
    ('0–2 5 7–8', '3')
    """
    stretches: list[list[int]] = []
    for number in numbers:
        if stretches and number == stretches[-1][1] + 1:
            stretches[-1][1] = number
        else:
            stretches.append([number, number])
    return " ".join(str(a) if a == b else f"{a}–{b}" for a, b in stretches)


def looks(labels: dict[str, str]) -> dict[str, Look]:
    """A colour and marker for each label of a method: the method's own if it is free.

    Variants of one method are dashed, so that equal curves show through each other.
    """
    wanted = {label: PLACES.get(name, len(LIGHT_PAGE) - 1) for label, name in labels.items()}
    spare = [place for place in range(len(LIGHT_PAGE)) if place not in wanted.values()]
    taken: dict[str, Look] = {}
    for label, place in wanted.items():
        used = [look.colour for look in taken.values()]
        if place in used:
            place = spare.pop(0) if spare else min(range(len(LIGHT_PAGE)), key=used.count)
        before = [labels[other] for other in taken].count(labels[label])
        taken[label] = Look(place, before % len(DASHES))
    return taken
