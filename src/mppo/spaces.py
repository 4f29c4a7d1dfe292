"""Between Gymnasium's spaces and flat vectors: what policies see and what environments get."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.spaces.utils import flatdim, flatten
from gymnasium.vector.utils import batch_space, iterate

from mppo.errors import BadRequest
from mppo.heads import Categorical, Gaussian, Head, Product


@dataclass(frozen=True)
class Spaces:
    """The observation and action space of one environment, as policies need them."""

    observation: spaces.Space[Any]
    action: spaces.Space[Any]
    name: str = "environment"

    @cached_property
    def observation_size(self) -> int:
        """Length of a flat observation."""
        _refuse_images(self.observation, self.name)
        if not self.observation.is_np_flattenable:
            raise BadRequest(
                f'"{self.name}" has the observation space {self.observation}, which cannot be '
                "flattened to a vector; wrap the environment in a "
                "gymnasium.ObservationWrapper that gives a Box of one dimension"
            )
        return int(flatdim(self.observation))

    def flatten(self, observations: Any, count: int) -> np.ndarray:
        """A stack of `count` observations as a vector environment gives it: [count, obs]."""
        if isinstance(self.observation, spaces.Box):
            return np.asarray(observations, np.float32).reshape(count, -1)
        each = iterate(batch_space(self.observation, count), observations)
        return np.stack([self.flatten_one(one) for one in each])

    def flatten_one(self, observation: Any) -> np.ndarray:
        """One observation as a flat vector."""
        return np.asarray(flatten(self.observation, observation), np.float32)

    @cached_property
    def head(self) -> Head:
        """The action distribution that fits the action space."""
        heads = _merge([_head(leaf, self.name) for leaf in _leaves(self.action)])
        return heads[0] if len(heads) == 1 else Product(tuple(heads))

    @cached_property
    def action_scale(self) -> tuple[float, ...]:
        """The bound of each action, 1 where there is none."""
        scale: list[float] = []
        for leaf in _leaves(self.action):
            if isinstance(leaf, spaces.Box):
                bound = np.maximum(np.abs(leaf.low), np.abs(leaf.high)).ravel()
                finite = np.isfinite(bound) & (bound > 0) & (bound < 1e6)
                scale += np.where(finite, bound, 1.0).tolist()
            else:
                scale += [1.0] * _width(leaf)
        return tuple(scale)

    def to_env(self, actions: np.ndarray, clip: bool = False) -> Any:
        """Flat actions [count, act] in the form a vector environment's `step` takes."""
        if isinstance(self.action, spaces.Discrete):  # by far the commonest, and in every step
            return actions[:, 0].astype(self.action.dtype) + self.action.start
        value, used = _decode(self.action, actions, clip)
        assert used == actions.shape[1], (used, actions.shape)
        return value

    def to_env_one(self, action: np.ndarray, clip: bool = False) -> Any:
        """One flat action as a single environment takes it."""
        return _first(self.to_env(action[None], clip))


def _leaves(space: spaces.Space) -> list[spaces.Space]:
    if isinstance(space, spaces.Tuple):
        return [leaf for part in space.spaces for leaf in _leaves(part)]
    if isinstance(space, spaces.Dict):
        return [leaf for part in space.spaces.values() for leaf in _leaves(part)]
    return [space]


def _head(space: spaces.Space, name: str) -> Gaussian | Categorical:
    if isinstance(space, spaces.Box) and np.issubdtype(space.dtype, np.floating):
        return Gaussian(int(np.prod(space.shape)))
    if isinstance(space, spaces.Discrete):
        return Categorical((int(space.n),))
    if isinstance(space, spaces.MultiDiscrete):
        return Categorical(tuple(int(n) for n in space.nvec.ravel()))
    if isinstance(space, spaces.MultiBinary):
        return Categorical((2,) * int(np.prod(space.shape)))
    raise BadRequest(
        f'"{name}" has the action space {space}, which no policy here can serve; supported are '
        "Box of floats, Discrete, MultiDiscrete, MultiBinary, and Tuple or Dict of these: wrap the "
        "environment in a gymnasium.ActionWrapper"
    )


def _merge(heads: list[Gaussian | Categorical]) -> list[Gaussian | Categorical]:
    """Neighbours of one kind as one head: fewer, larger distributions."""
    merged: list[Gaussian | Categorical] = []
    for head in heads:
        last = merged[-1] if merged else None
        if isinstance(head, Gaussian) and isinstance(last, Gaussian):
            merged[-1] = Gaussian(last.size + head.size)
        elif isinstance(head, Categorical) and isinstance(last, Categorical):
            merged[-1] = Categorical(last.sizes + head.sizes)
        else:
            merged.append(head)
    return merged


def _width(space: spaces.Space) -> int:
    return 1 if isinstance(space, spaces.Discrete) else prod(space.shape or (1,))


def _decode(space: spaces.Space, actions: np.ndarray, clip: bool) -> tuple[Any, int]:
    """The leading columns of `actions` as elements of a space, and how many they were."""
    if isinstance(space, spaces.Tuple | spaces.Dict):
        parts = space.spaces.items() if isinstance(space, spaces.Dict) else enumerate(space.spaces)
        values, at = {}, 0
        for key, part in parts:
            values[key], used = _decode(part, actions[:, at:], clip)
            at += used
        return (values if isinstance(space, spaces.Dict) else tuple(values.values())), at
    count, width = actions.shape[0], _width(space)
    piece = actions[:, :width]
    if isinstance(space, spaces.Box):
        piece = piece.reshape(count, *(space.shape or ()))
        if clip:
            piece = np.clip(piece, space.low, space.high)
        return piece.astype(space.dtype, copy=False), width
    if isinstance(space, spaces.Discrete):
        return piece[:, 0].astype(space.dtype) + space.start, width
    whole = piece.reshape(count, *(space.shape or ())).astype(space.dtype)
    return whole + space.start if isinstance(space, spaces.MultiDiscrete) else whole, width


def _first(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _first(part) for key, part in value.items()}
    return tuple(_first(part) for part in value) if isinstance(value, tuple) else value[0]


def _refuse_images(space: spaces.Space, name: str) -> None:
    for leaf in _leaves(space):
        shape: tuple[int, ...] = leaf.shape or ()
        if isinstance(leaf, spaces.Box) and (
            len(shape) >= 3 or (len(shape) == 2 and leaf.dtype == np.uint8)
        ):
            raise BadRequest(
                f'"{name}" shows images ({leaf}), which policies here cannot see yet; wrap the '
                "environment in a gymnasium.ObservationWrapper that gives a vector of features"
            )
