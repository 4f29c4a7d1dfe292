"""Multi-Path Policy Optimization: on-policy reinforcement learning that explores."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType  # the name `types` will be that of our own module
from typing import TYPE_CHECKING, Any

# a jax that has computed something already has its threads: they are not ours to choose any more
_jax_started_first = bool(getattr(sys.modules.get("jax._src.xla_bridge"), "_backends", None))

from mppo import threads  # noqa: E402

threads.use_one()

if TYPE_CHECKING:
    from mppo import callbacks, functional, loggers
    from mppo.agent import Agent
    from mppo.errors import BadRequest, EnvironmentFault
    from mppo.loading import load
    from mppo.methods import METHODS, Method
    from mppo.model import MPPO
    from mppo.train import train

__version__ = "0.1.0"

_HOMES = {
    "Agent": "mppo.agent",
    "BadRequest": "mppo.errors",
    "EnvironmentFault": "mppo.errors",
    "METHODS": "mppo.methods",
    "MPPO": "mppo.model",
    "Method": "mppo.methods",
    "load": "mppo.loading",
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


class _Package(ModuleType):
    """`mppo.train` is the function, also once the module of that name has been imported."""

    @property
    def train(self) -> Any:
        return self.__dict__.get("_train") or importlib.import_module("mppo.train").train

    @train.setter
    def train(self, value: Any) -> None:
        if not isinstance(value, ModuleType):  # the import system sets the module
            self.__dict__["_train"] = value


sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
