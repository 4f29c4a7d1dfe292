"""Which choices are allowed now, as a part of what is seen.

The mask stands in the observation under the key `action_mask`, so that batches, checkpoints,
evaluations and exports hold it without knowing of it. An environment that observes it already is
left as it is; otherwise its method `action_masks()` is asked, or `info["action_mask"]`.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from mppo.acting.spaces import MASK, SEEN, Spaces
from mppo.envs.source import EnvSource, name_of_env
from mppo.errors import BadRequest, EnvironmentFault

METHOD = "action_masks"


class MaskInView(gymnasium.Wrapper):
    """An environment whose observations say which choices are allowed."""

    def __init__(self, env: gymnasium.Env):
        super().__init__(env)
        self._name = name_of_env(env)
        self._choices = Spaces(env.observation_space, env.action_space, self._name).head
        mask = spaces.MultiBinary(self._choices.outputs)
        self.observation_space = spaces.Dict({MASK: mask, SEEN: env.observation_space})
        self._asks = env.has_wrapper_attr(METHOD)

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """The first observation of an episode, with its mask."""
        observation, info = self.env.reset(**kwargs)
        return self._view(observation, info, False), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """The next observation with its mask; at an episode's end there is nothing to forbid."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        over = bool(terminated or truncated)
        return self._view(observation, info, over), reward, terminated, truncated, info

    def _view(self, observation: Any, info: dict[str, Any], over: bool) -> dict[str, Any]:
        size = self._choices.outputs
        if over:
            return {MASK: np.ones(size, np.int8), SEEN: observation}
        if not self._asks and MASK not in info:
            raise BadRequest(
                f'"{self._name}" says nowhere which of its {size} choices are allowed: give it a '
                f'method {METHOD}(), or info["{MASK}"], or an observation of that name'
            )
        given = self.env.get_wrapper_attr(METHOD)() if self._asks else info[MASK]
        if isinstance(given, tuple | list):  # each of several choices may have a mask of its own
            given = np.concatenate([np.ravel(part) for part in given]) if given else ()
        mask = np.asarray(given).ravel()
        if mask.shape != (size,):
            raise EnvironmentFault(
                f'environment "{self._name}" broke its contract: its mask has {mask.size} entries, '
                f"and there are {size} choices"
            )
        return {MASK: (mask != 0).astype(np.int8), SEEN: observation}


def with_masks(on: EnvSource) -> EnvSource:
    """The same task, whose observations say which choices are allowed.

    What puts the mask there is no wrapper of the user's, and is not recorded as one.
    """
    space = on.spaces.observation
    if isinstance(space, spaces.Dict) and MASK in space.spaces:  # it is there already
        return replace(on, spaces=replace(on.spaces, masked=True))
    if on.within is None or (on.count and not on.shared):
        raise BadRequest(
            f'"{on.name}" is a vector environment, and its observations have no part '
            '"action_mask"; give one, or a callable that makes a single environment'
        )
    inside = on.within((*on.applied, MaskInView))
    found = replace(inside, spaces=replace(inside.spaces, masked=True), applied=on.applied)
    _ = found.spaces.mask  # refuses actions that are no choices
    with closing(found.make(1)) as probe:
        probe.reset(seed=0)  # refuses an environment that has no masks, before anything is begun
    return found
