"""MuJoCo, imported in one place: it ships no type stubs, and by default logs into a file."""

import importlib
import logging
from typing import Any

mujoco: Any = importlib.import_module("mujoco")


def quieten() -> None:
    """Keep MuJoCo from writing MUJOCO_LOG.TXT into the working directory.

    Its warnings go to the logger "mppo.envs.mujoco" at level DEBUG; `Lane.warnings` counts them.
    A handler that the user has installed stays.
    """
    if mujoco.get_mju_user_warning() is None:
        mujoco.set_mju_user_warning(_log)


def _log(message: str) -> None:
    logging.getLogger("mppo.envs.mujoco").debug("%s", message)
