"""Wrappers of Gymnasium's that compiled steps can do themselves: those that only change actions.

`ClipAction`, `RescaleAction` and `TimeLimit` around a compiled robot keep it compiled. Anything
else is stepped as it is.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.wrappers import ClipAction, RescaleAction, TimeLimit

from mppo.machine.compilers import native

_CLIP, _RESCALE = 0, 1


class Gates(NamedTuple):
    """What happens to an action on its way to the simulator, in this order."""

    kinds: np.ndarray  # int64 [n]
    first: np.ndarray  # float32 [n, act]: the lower bound; or what is subtracted
    second: np.ndarray  # float32 [n, act]: the upper bound; or the divisor


def no_gates(actions: int) -> Gates:
    """Actions go through as they are."""
    rows = np.zeros((0, actions), np.float32)
    return Gates(np.zeros(0, np.int64), rows, rows)


@native
def pass_gates(action: np.ndarray, gates: Gates) -> None:
    """Change an action in place, rounded as NumPy does."""
    for n in range(gates.kinds.size):
        for i in range(action.size):
            a, b = gates.first[n, i], gates.second[n, i]
            if gates.kinds[n] == _RESCALE:
                action[i] = (action[i] - a) / b
            elif action[i] < a:
                action[i] = a
            elif action[i] > b:
                action[i] = b


def expressed(wrappers: Sequence[Any]) -> dict[str, Any] | None:
    """The arguments of our vector environment that do what the wrappers do; None if none do.

    >>> expressed([ClipAction, functools.partial(TimeLimit, max_episode_steps=9)])
    {'gates': (('clip',),), 'horizon': 9}
    """
    gates, limits = [], []
    for wrap in wrappers:
        kind = wrap.func if isinstance(wrap, functools.partial) else wrap
        if kind not in (ClipAction, RescaleAction, TimeLimit):
            return None
        args, kwargs = (wrap.args, wrap.keywords) if kind is not wrap else ((), {})
        try:
            given = inspect.signature(kind).bind(None, *args, **kwargs).arguments
        except TypeError:
            return None
        if kind is TimeLimit:
            limits.append(given["max_episode_steps"])
        elif kind is ClipAction:
            gates.append(("clip",))
        else:
            gates.append(("rescale", given["min_action"], given["max_action"]))
    found: dict[str, Any] = {"gates": tuple(gates)} if gates else {}
    return found | ({"horizon": min(limits)} if limits else {})


def gates_around(base: gymnasium.Env, wrappers: Sequence[Any]) -> tuple[Gates, Box]:
    """The gates of these wrappers, the first one innermost, and the space of what goes in."""
    space: Any = base.action_space
    gates: list[tuple[int, np.ndarray, np.ndarray]] = []
    env = base
    for kind, *bounds in wrappers:
        if kind == "clip":
            gates.append((_CLIP, space.low, space.high))
            env = ClipAction(env)
        else:
            env = RescaleAction(env, *bounds)  # refuses bounds that are none
            gates.append((_RESCALE, *_slope(space, *bounds)))
        space = env.action_space
    kinds, first, second = zip(*reversed(gates), strict=True)
    return Gates(np.array(kinds, np.int64), np.stack(first), np.stack(second)), space


def _slope(inner: Box, low: Any, high: Any) -> tuple[np.ndarray, np.ndarray]:
    """Intercept and gradient by which Gymnasium comes from these bounds to the inner space."""
    if not (np.isfinite(inner.low) & np.isfinite(inner.high)).all():
        raise ValueError(f"RescaleAction around {inner}: there is nothing to scale")
    low, high = (b if isinstance(b, np.ndarray) else np.full(inner.shape, b) for b in (low, high))
    wide = np.longdouble
    gradient = ((high - low) / (inner.high.astype(wide) - inner.low.astype(wide))).astype("f")
    return (gradient * -inner.low + low).astype("f"), gradient
