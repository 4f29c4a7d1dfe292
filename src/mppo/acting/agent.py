"""A trained agent: the policy that the picking rule reports, ready to act."""

from __future__ import annotations

from typing import Any

import numpy as np

from mppo.acting.actor import Actor
from mppo.acting.flattening import inside
from mppo.acting.spaces import Spaces
from mppo.algorithm.methods import Method
from mppo.algorithm.policies import Architecture, Policy
from mppo.algorithm.styles import ALIKE, Style
from mppo.errors import BadRequest
from mppo.machine.seeding import Role, generator


class Agent:
    """One policy with the spaces it was trained for; `predict` is as in Stable-Baselines3."""

    architecture: Architecture
    method: Method
    spaces: Spaces
    path: int
    policy: Policy

    def __init__(
        self,
        method: Method,
        spaces: Spaces,
        architecture: Architecture,
        policy: Policy,
        seed: int = 0,
        clip: bool = True,
        path: int = 0,
        style: Style = ALIKE,
    ):
        self.method, self.spaces, self.architecture = method, spaces, architecture
        self.policy, self.path = policy, path
        self.evaluations: list[dict[str, Any]] = []
        self.metrics: list[dict[str, Any]] = []
        self.clip = clip
        self.style = style
        self._actor = Actor(architecture, policy)
        self._in_style = Actor(architecture, policy, style)
        self._generator = generator(seed, Role.PREDICTION)

    @property
    def observation_space(self):
        """The observation space that `predict` takes."""
        return self.spaces.observation

    @property
    def action_space(self):
        """The action space that `predict` answers in."""
        return self.spaces.action

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
        own_noise: bool = False,
        action_masks: Any = None,
    ) -> tuple[Any, Any]:
        """The action for one observation, or actions for a stack of them, and `state` unchanged.

        With `own_noise` actions are as noisy as in training: where the path's noise persists from
        step to step, `state` carries it. Give back what the call before returned; None, or True
        in `episode_start`, begins anew. A policy that was trained with masks is told what is
        allowed: by `action_masks`, or by the part of the observation that is called action_mask.
        """
        single, flat = self._flat(self.spaces.view(observation, action_masks))
        if own_noise and not deterministic and not self.style.white:
            noise, state = self._persistent_noise(len(flat), state, episode_start)
        else:
            noise = None if deterministic else self._actor.noise(self._generator, len(flat))
        actions = self._actor.act(flat, noise)
        if single:
            return self.spaces.to_env_one(actions[0], self.clip), state
        return self.spaces.to_env(actions, self.clip), state

    def _persistent_noise(
        self, count: int, state: Any, episode_start: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """Noise for one step of `count` environments, and the normal numbers behind it."""
        before = np.full((count, self.architecture.head.outputs), np.nan)
        if state is not None:
            earlier = np.asarray(state, float)
            if earlier.shape != before.shape:
                raise BadRequest(
                    f"the state has the shape {earlier.shape}; for {count} observations it is what "
                    f"predict returned before, of the shape {before.shape}, or None"
                )
            before[:] = earlier
        if episode_start is not None:
            before[np.broadcast_to(np.asarray(episode_start, bool), count)] = np.nan
        noise = [self._in_style.noise(self._generator, 1, row)[0] for row in before]
        return np.stack(noise), before

    def _flat(self, observation: Any) -> tuple[bool, np.ndarray]:
        """Whether it is a single observation, and a stack of flat ones."""
        first = self.spaces.plan.parts[0]  # its shape tells one from many
        space, leaf = first.space, np.asarray(inside(observation, first.keys))
        if leaf.shape == space.shape:
            return True, self.spaces.flatten_one(observation)[None]
        if leaf.shape[1:] == space.shape:
            return False, self.spaces.flatten(observation, len(leaf))
        raise BadRequest(
            f"the observation has shape {leaf.shape}; the policy was trained on {space.shape} "
            "(or a stack of such)"
        )


def architecture_of(method: Method, spaces: Spaces) -> Architecture:
    """The shape of the policies that a method trains for these spaces."""
    return Architecture(
        spaces.observation_size,
        spaces.head,
        method.network,
        method.observation_filter != "none",
        spaces.action_scale,
        any(one.filter == "none" for one in method.styles),
        spaces.mask,
        method.turns,
    )
