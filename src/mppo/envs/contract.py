"""What all our vector environments share: horizons, reset masks and the autoreset modes."""

import sys
from typing import Any, NamedTuple

import numpy as np
from gymnasium.vector import AutoresetMode

NO_LIMIT = sys.maxsize  # a horizon that no episode reaches

State = dict[str, np.ndarray]  # what get_state returns: arrays alone, so any format can hold it


def check_positive(name: str, value: float) -> float:
    """Return value if it is a number above 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not value > 0:
        raise ValueError(f"{name} is {value!r}; allowed: a number above 0")
    return float(value)


def check_choice(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """Return value if it is one of the allowed words."""
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}; allowed: {', '.join(allowed)}")
    return value


def check_horizon(value: int, name: str = "horizon") -> int:
    """Return value if it can be a number of steps."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name} is {value!r}; allowed: a whole number of steps, 1 or more")
    return int(value)


def vector_horizon(default: int, horizon: int | None, max_episode_steps: int | None) -> int:
    """The number of steps after which a vector environment truncates.

    gymnasium.make_vec always passes max_episode_steps, the registered number if the user gave
    none; that number is the default and yields to horizon. Gymnasium's -1 means no limit.

    >>> vector_horizon(1000, horizon=5000, max_episode_steps=1000)
    5000
    """
    limits = []
    if horizon is not None:
        limits.append(check_horizon(horizon))
    if max_episode_steps == -1:
        limits.append(NO_LIMIT)
    elif max_episode_steps is not None and (horizon is None or max_episode_steps != default):
        limits.append(check_horizon(max_episode_steps, "max_episode_steps"))
    return min(limits, default=default)


def check_num_envs(num_envs: int) -> int:
    """Return num_envs if it counts at least one sub-environment."""
    if isinstance(num_envs, bool) or not isinstance(num_envs, (int, np.integer)) or num_envs < 1:
        raise ValueError(f"num_envs is {num_envs!r}; allowed: a whole number, 1 or more")
    return int(num_envs)


def check_autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """Return the autoreset mode, given itself or its value."""
    try:
        return AutoresetMode(mode)
    except ValueError:
        allowed = ", ".join(repr(known.value) for known in AutoresetMode)
        raise ValueError(f"autoreset_mode is {mode!r}; allowed: {allowed}") from None


def check_render_mode(mode: str | None, allowed: list[str]) -> str | None:
    """Return the render mode if the environment has it."""
    if mode is not None and mode not in allowed:
        raise ValueError(f"render_mode is {mode!r}; allowed: None, {', '.join(allowed)}")
    return mode


def reset_indices(options: dict[str, Any] | None, num_envs: int) -> range | list[int]:
    """Which sub-environments a call of reset concerns."""
    if options is None or "reset_mask" not in options:
        return range(num_envs)
    mask = options["reset_mask"]
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (num_envs,):
        raise ValueError(
            f"options['reset_mask'] is {mask!r}; allowed: a bool array of shape ({num_envs},)"
        )
    indices = np.flatnonzero(mask).tolist()
    if not indices:
        raise ValueError("options['reset_mask'] selects no sub-environment; set one entry to True")
    return indices


def refuse_ended(pending: np.ndarray) -> None:
    """Raise if a sub-environment has ended and nobody has reset it (autoreset disabled)."""
    if pending.any():
        raise RuntimeError(
            f"sub-environments {np.flatnonzero(pending).tolist()} have ended; before stepping, "
            "call reset(options={'reset_mask': terminated | truncated})"
        )


def checked_state(state: State, expected: State) -> State:
    """Return the arrays of a state, each of the shape and dtype that this environment writes."""
    if state.keys() != expected.keys():
        raise ValueError(f"state holds {sorted(state)}; allowed: {sorted(expected)}")
    for name, like in expected.items():
        value = np.asarray(state[name])
        if value.shape != like.shape or value.dtype != like.dtype:
            raise ValueError(
                f"state[{name!r}] is {value.dtype} of shape {value.shape}; "
                f"allowed: {like.dtype} of shape {like.shape}"
            )
    return {name: np.asarray(value) for name, value in state.items()}


class Rows(NamedTuple):
    """Where the steps are written, and the noise they need: one row for each."""

    noise: np.ndarray
    observations: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray


class Limits(NamedTuple):
    """Bounds that actions are clipped to, if they are."""

    clip: bool
    low: np.ndarray
    high: np.ndarray


class Halt(NamedTuple):
    """Why and where a stretch came to its end."""

    steps: int  # that were taken
    x: float
    healthy: bool
    warned: bool  # the last step left a bad number
