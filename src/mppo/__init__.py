"""Multi-Path Policy Optimization: on-policy reinforcement learning that explores."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

# a jax that has computed something already has its threads: they are not ours to choose any more
_jax_started_first = bool(getattr(sys.modules.get("jax._src.xla_bridge"), "_backends", None))

from mppo import threads  # noqa: E402

threads.use_one()

if TYPE_CHECKING:
    from mppo.agent import Agent
    from mppo.errors import BadRequest, EnvironmentFault
    from mppo.loading import load
    from mppo.methods import METHODS, Method
    from mppo.train import train

__version__ = "0.1.0"

_HOMES = {
    "Agent": "mppo.agent",
    "BadRequest": "mppo.errors",
    "EnvironmentFault": "mppo.errors",
    "METHODS": "mppo.methods",
    "Method": "mppo.methods",
    "load": "mppo.loading",
    "train": "mppo.train",
}
__all__ = ["METHODS", "Agent", "BadRequest", "EnvironmentFault", "Method", "load", "train"]


def __getattr__(name: str) -> Any:
    """Public names are imported at first use, so that `import mppo` costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'mppo' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
