"""Names and looks of methods and series: colours, markers and dashes that can be told apart."""

from __future__ import annotations

from typing import NamedTuple

_KINDS = {
    "{}": "{}",
    "multi-{}": "Multi-{}",
    "multi-{}-independent": "Multi-{} (Independent)",
    "mp-{}": "MP-{}",
    "mp-{}-replace-worst": "MP-{} (ReplaceWorst)",
    "curiosity-{}": "Curiosity-{}",
    "div-{}": "Div-{}",
    "sp-{}": "SP-{}",
}
# Okabe and Ito's palette: told apart with any common colour vision, and in print; and a violet
PALETTE = (
    *("#000000", "#0072B2", "#56B4E9", "#D55E00", "#E69F00", "#009E73", "#CC79A7", "#6A3D9A"),
)
# the same hues, lighter, on dark ground, where black becomes white
DARK_PAGE = (
    *("#F2F2F2", "#4FA8E8", "#9BD8FF", "#FF8A47", "#F5C04A", "#2FC79A", "#EBA3CB", "#B99BE0"),
)

DISPLAY = {
    kind.format(base): name.format(base.upper())
    for base in ("trpo", "ppo")
    for kind, name in _KINDS.items()
}
PLACES = {name: place % len(_KINDS) for place, name in enumerate(DISPLAY)}
"""The place of each method's colour in the palettes."""
COLOURS = {name: PALETTE[place] for name, place in PLACES.items()}

MARKERS = (  # drawn around (0, 0), about 8 units wide
    "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z",
    "M-3.3-3.3h6.6v6.6h-6.6z",
    "M0-4.4L4.2 3.2H-4.2z",
    "M0-4.8L4.4 0 0 4.8-4.4 0z",
    "M0 4.4L4.2-3.2H-4.2z",
    "M-1.4-4.2h2.8v2.8h2.8v2.8h-2.8v2.8h-2.8v-2.8h-2.8v-2.8h2.8z",
    "M-4-2.2L-2.2-4 0-1.8 2.2-4 4-2.2 1.8 0 4 2.2 2.2 4 0 1.8-2.2 4-4 2.2-1.8 0z",
    "M-4.2 0L-2.1-3.7H2.1L4.2 0 2.1 3.7H-2.1z",
)
DASHES = ("", "7 3", "2 3", "9 3 2 3")


class Look(NamedTuple):
    """How a series is told from others: colour and marker, then dash."""

    colour: int
    dash: int = 0

    @classmethod
    def number(cls, place: int) -> Look:
        """The look of the series in that place."""
        return cls(place % len(MARKERS), place // len(MARKERS) % len(DASHES))

    @property
    def marker(self) -> str:
        """The outline of its marker."""
        return MARKERS[self.colour]

    @property
    def dashes(self) -> str:
        """Lengths of dashes and gaps; nothing for a whole line."""
        return DASHES[self.dash]


Looks = dict[str, Look]


def looks(labels: dict[str, str]) -> Looks:
    """A colour and marker for each label of a method: the method's own if it is free.

    Variants of one method are dashed, so that equal curves show through each other.
    """
    wanted = {label: PLACES.get(name, len(PALETTE) - 1) for label, name in labels.items()}
    spare = [place for place in range(len(PALETTE)) if place not in wanted.values()]
    taken: dict[str, Look] = {}
    for label, place in wanted.items():
        used = [look.colour for look in taken.values()]
        if place in used:
            place = spare.pop(0) if spare else min(range(len(PALETTE)), key=used.count)
        before = [labels[other] for other in taken].count(labels[label])
        taken[label] = Look(place, before % len(DASHES))
    return taken
