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
}
# Okabe and Ito's palette: told apart with any common colour vision, and in print
_PALETTE = ("#000000", "#0072B2", "#56B4E9", "#D55E00", "#E69F00", "#009E73", "#CC79A7")

DISPLAY = {
    kind.format(base): name.format(base.upper())
    for base in ("trpo", "ppo")
    for kind, name in _KINDS.items()
}
COLOURS = {
    kind.format(base): colour
    for base in ("trpo", "ppo")
    for kind, colour in zip(_KINDS, _PALETTE, strict=True)
}
