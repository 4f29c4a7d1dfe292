"""Names and colours of the methods in figures, told apart with any common colour vision."""

from __future__ import annotations

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

# of a page; and the same hues, lighter, on dark ground, where black becomes white
LIGHT_PAGE = PALETTE
DARK_PAGE = (
    *("#F2F2F2", "#4FA8E8", "#9BD8FF", "#FF8A47", "#F5C04A", "#2FC79A", "#EBA3CB", "#B99BE0"),
)

DISPLAY = {
    kind.format(base): name.format(base.upper())
    for base in ("trpo", "ppo")
    for kind, name in _KINDS.items()
}
COLOURS = {
    kind.format(base): colour
    for base in ("trpo", "ppo")
    for kind, colour in zip(_KINDS, PALETTE, strict=True)
}
PLACES = {name: PALETTE.index(colour) for name, colour in COLOURS.items()}
"""The place of each method's colour in the palettes."""
