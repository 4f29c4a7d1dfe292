"""jax and optax, imported at their first use.

The command line builds its help from the method dataclasses; loading jax for that would take ten
times as long as the help itself. Modules therefore write `from mppo.machine.lazy import jax, jnp`
and pay only when a number is computed. The first use is also the last moment at which XLA can
still be told to use one thread, on which reproducibility rests (decision 0002).
"""

from __future__ import annotations

import importlib
import sys
import warnings
from typing import TYPE_CHECKING, Any

from mppo.machine import threads

if TYPE_CHECKING:
    import jax
    import jax.flatten_util as flatten_util
    import jax.numpy as jnp
    import optax
else:

    class LazyModule:
        """A stand-in whose attributes are those of the module it names."""

        def __init__(self, name: str):
            self._name = name

        def __getattr__(self, attribute: str) -> Any:
            if "jax" not in sys.modules:
                threads.use_one()
            value = getattr(importlib.import_module(self._name), attribute)
            setattr(self, attribute, value)
            return value

    jax = LazyModule("jax")
    jnp = LazyModule("jax.numpy")
    flatten_util = LazyModule("jax.flatten_util")
    optax = LazyModule("optax")

__all__ = ["flatten_util", "jax", "jnp", "optax", "warn_about_threads"]


def warn_about_threads() -> None:
    """Say so once if XLA was started with several threads before this package could prevent it."""
    if not threads.one_is_set():
        warnings.warn(
            "jax was started before mppo with more than one XLA thread: results may differ between "
            "runs of the same seed; import mppo first, or set PJRT_NPROC=1",
            stacklevel=3,
        )
