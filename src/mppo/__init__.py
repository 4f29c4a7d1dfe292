"""Multi-Path Policy Optimization: on-policy reinforcement learning that explores."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

# a jax that has computed something already has its threads: they are not ours to choose any more
_jax_started_first = bool(getattr(sys.modules.get("jax._src.xla_bridge"), "_backends", None))

from mppo.machine import threads  # noqa: E402

threads.use_one()

if TYPE_CHECKING:
    from mppo import callbacks, functional, loggers
    from mppo.acting.agent import Agent
    from mppo.algorithm.methods import METHODS, Method
    from mppo.envs.robots.own import register_robot
    from mppo.errors import BadRequest, EnvironmentFault
    from mppo.training.model import MPPO
    from mppo.training.opening import load
    from mppo.training.start import train

__version__ = "0.1.0"

_HOMES = {
    "Agent": "mppo.acting.agent",
    "BadRequest": "mppo.errors",
    "EnvironmentFault": "mppo.errors",
    "METHODS": "mppo.algorithm.methods",
    "MPPO": "mppo.training.model",
    "Method": "mppo.algorithm.methods",
    "load": "mppo.training.opening",
    "register_robot": "mppo.envs.robots.own",
    "train": "mppo.training.start",
}
_MODULES = ("callbacks", "functional", "loggers")
__all__ = [
    "METHODS",
    "MPPO",
    "Agent",
    "BadRequest",
    "EnvironmentFault",
    "Method",
    "callbacks",
    "functional",
    "load",
    "loggers",
    "register_robot",
    "train",
]


def __getattr__(name: str) -> Any:
    """Public names are imported at first use, so that `import mppo` costs next to nothing."""
    if name in _MODULES:
        return importlib.import_module(f"mppo.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'mppo' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
