"""What a method asks of the environments that it is trained on."""

from __future__ import annotations

from dataclasses import replace

from mppo.algorithm.methods import Method
from mppo.envs.masking import with_masks
from mppo.envs.source import EnvSource


def prepared(method: Method, on: EnvSource) -> EnvSource:
    """The task as the method sees it: its choices masked, its actions squashed into bounds."""
    if method.action_masks and not on.spaces.masked:
        on = with_masks(on)
    if method.actions == "squashed":
        on = replace(on, spaces=replace(on.spaces, squash=True))
    _ = on.spaces.head, on.spaces.mask  # refuse what cannot be served before anything is made
    return on
