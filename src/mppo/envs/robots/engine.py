"""MuJoCo, imported in one place: it ships no type stubs, and by default logs into a file."""

import importlib
import logging
from typing import Any

import numpy as np

mujoco: Any = importlib.import_module("mujoco")

BAD_NUMBERS: dict[str, int] = {
    name: int(getattr(mujoco.mjtWarning, f"mjWARN_{name}"))
    for name in ("BADQPOS", "BADQVEL", "BADQACC", "BADCTRL")
}
"""The warnings after which MuJoCo resets the state by itself, by their place in the counters."""
PHYSICS: Any = mujoco.mjtState.mjSTATE_INTEGRATION  # all that the next step depends on


def physics_of(model: Any, data: Any) -> np.ndarray:
    """The state of a simulation, warm start included; `mj_setState` takes it back."""
    state = np.empty(mujoco.mj_stateSize(model, PHYSICS))
    mujoco.mj_getState(model, data, state, PHYSICS)
    return state


def uses_mujoco(env: Any) -> bool:
    """Whether MuJoCo is behind a Gymnasium environment."""
    return isinstance(getattr(env.unwrapped, "data", None), mujoco.MjData)


def bad_numbers(data: Any) -> dict[str, int]:
    """Such warnings of a simulation since its reset, and how many."""
    counts = data.warning.number.tolist()
    if not any(counts):
        return {}
    return {name: counts[index] for name, index in BAD_NUMBERS.items() if counts[index]}


def quieten() -> None:
    """Keep MuJoCo from writing MUJOCO_LOG.TXT into the working directory.

    Its warnings go to the logger "mppo.envs.mujoco" at level DEBUG; `bad_numbers` counts them. A
    handler that the user has installed stays.
    """
    if mujoco.get_mju_user_warning() is None:
        mujoco.set_mju_user_warning(_log)


def _log(message: str) -> None:
    logging.getLogger("mppo.envs.mujoco").debug("%s", message)
