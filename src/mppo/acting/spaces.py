"""Between Gymnasium's spaces and flat vectors: what policies see and what environments get."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import prod
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from mppo.acting import kernel
from mppo.acting.flattening import Plan
from mppo.algorithm.heads import Categorical, Gaussian, Head, Product
from mppo.errors import BadRequest

MASK = "action_mask"
"""The key of a Dict observation, or of info, that says which choices are allowed."""
SEEN = "observation"
"""The key of what is seen beside a mask that the environment gives elsewhere."""
LARGEST_GRID = 1000
"""Numbers of an array of several axes that is taken for a grid of symbols and flattened, as those
of MiniGrid (7 x 7 x 3) and MinAtar (10 x 10 x 10) are; a larger one is taken for an image."""

FLOAT, DOUBLE, CHOICE = 1, 2, 3
"""Kinds of actions as an environment is given them, one by one."""


@dataclass(frozen=True)
class Spaces:
    """The observation and action space of one environment, as policies need them."""

    observation: spaces.Space[Any]
    action: spaces.Space[Any]
    name: str = "environment"
    squash: bool = False  # continuous actions go through tanh into their bounds
    masked: bool = False  # a part of the observation says which choices are allowed

    @cached_property
    def observation_size(self) -> int:
        """Length of a flat observation; of what is no vector of numbers, a refusal."""
        _refuse_words(self.observation, self.name)
        _refuse_images(self.observation, self.name)
        return self.plan.size

    @cached_property
    def plan(self) -> Plan:
        """How observations become flat vectors."""
        return Plan(self.observation)

    def flatten(self, observations: Any, count: int) -> np.ndarray:
        """A stack of `count` observations as a vector environment gives it: [count, obs]."""
        if isinstance(self.observation, spaces.Box):
            return np.asarray(observations, np.float32).reshape(count, -1)
        rows = np.empty((count, self.plan.size), np.float32)
        self.plan.write_stack(observations, rows)
        return rows

    def flatten_one(self, observation: Any) -> np.ndarray:
        """One observation as a flat vector."""
        row = np.empty(self.plan.size, np.float32)
        self.plan.write(observation, row)
        return row

    def view(self, observation: Any, mask: Any) -> Any:
        """An observation with the mask that belongs to it."""
        has_mask = isinstance(observation, Mapping) and MASK in observation
        if mask is None and (has_mask or not self.masked):
            return observation
        if not self.masked:
            raise BadRequest("the policy was trained without masks, and takes no action_masks")
        if mask is None:
            raise BadRequest(
                "the policy was trained with masks; say what is allowed: predict(observation, "
                "action_masks=...)"
            )
        mask = np.asarray(mask).astype(np.int8)
        return {**observation, MASK: mask} if has_mask else {MASK: mask, SEEN: observation}

    @cached_property
    def head(self) -> Head:
        """The action distribution that fits the action space."""
        boxes = [leaf for leaf in _leaves(self.action) if isinstance(leaf, spaces.Box)]
        if self.squash and not (boxes and all(leaf.is_bounded() for leaf in boxes)):
            raise BadRequest(
                f'"{self.name}" has the action space {self.action}, and actions="squashed" needs '
                "continuous actions with finite bounds; use clipped or raw"
            )
        leaves = [_head(leaf, self.name, self.squash) for leaf in _leaves(self.action)]
        heads: list[Any] = []  # neighbours of one kind as one: fewer, larger distributions
        for kind, several in groupby(leaves, type):
            if kind is Gaussian:
                heads.append(Gaussian(sum(one.size for one in several), self.squash))
            else:
                heads.append(Categorical(sum((one.sizes for one in several), ())))  # type: ignore
        return heads[0] if len(heads) == 1 else Product(tuple(heads))

    @cached_property
    def mask(self) -> tuple[int, ...]:
        """From and to: the columns of a flat observation that say which choices are allowed."""
        if not self.masked:
            return ()
        if not isinstance(self.head, Categorical):
            raise BadRequest(
                f'"{self.name}" has the action space {self.action}, and masks are for choices: '
                "Discrete, MultiDiscrete and MultiBinary"
            )
        found = [part for part in self.plan.parts if part.keys[:1] == (MASK,)]
        if found and found[-1].stop - found[0].start == self.head.outputs:
            return found[0].start, found[-1].stop
        raise BadRequest(
            f'"{self.name}" says nowhere which of its {self.head.outputs} choices are allowed: '
            f'give it a method action_masks(), info["{MASK}"], or an observation of that name'
        )

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
        value, used = _decode(self.action, actions, clip, self.squash)
        assert used == actions.shape[1], (used, actions.shape)
        return value

    def to_env_one(self, action: np.ndarray, clip: bool = False) -> Any:
        """One flat action as a single environment takes it."""
        return _first(self.to_env(action[None], clip))


def _parts(space: spaces.Space) -> list[tuple[Any, spaces.Space]]:
    """What a Dict or Tuple is made of, by its keys; nothing of any other space."""
    if isinstance(space, spaces.Dict):
        return list(space.spaces.items())
    return list(enumerate(space.spaces)) if isinstance(space, spaces.Tuple) else []


def _leaves(space: spaces.Space) -> list[spaces.Space]:
    """The simple spaces inside, in their order."""
    if isinstance(space, spaces.Tuple | spaces.Dict):
        return [leaf for _, part in _parts(space) for leaf in _leaves(part)]
    return [space]


def _is_text(space: spaces.Space) -> bool:
    return space.dtype is not None and space.dtype.kind == "U"


def _is_numbers(space: spaces.Space) -> bool:
    """Whether a simple space can be flattened to numbers that mean something."""
    try:
        return not _is_text(space) and space.is_np_flattenable
    except NotImplementedError:  # of somebody else, who did not say
        return False


def _head(space: spaces.Space, name: str, squash: bool) -> Gaussian | Categorical:
    if isinstance(space, spaces.Box) and np.issubdtype(space.dtype, np.floating):
        return Gaussian(int(np.prod(space.shape)), squash)
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


def _width(space: spaces.Space) -> int:
    return 1 if isinstance(space, spaces.Discrete) else prod(space.shape or (1,))


def _decode(space: spaces.Space, actions: np.ndarray, clip: bool, squash: bool) -> tuple[Any, int]:
    """The leading columns of `actions` as elements of a space, and how many they were."""
    if isinstance(space, spaces.Tuple | spaces.Dict):
        values, at = {}, 0
        for key, part in _parts(space):
            values[key], used = _decode(part, actions[:, at:], clip, squash)
            at += used
        return (values if isinstance(space, spaces.Dict) else tuple(values.values())), at
    width = _width(space)
    piece = actions[:, :width]
    box = isinstance(space, spaces.Box)
    if box and squash:  # by the function that lanes use, for the same bits
        piece = piece.astype(np.float64, order="C")
        low, high = (end.astype(np.float64).reshape(-1) for end in (space.low, space.high))
        kernel.squash_rows(piece, low, high)
    piece = piece.reshape(len(actions), *(space.shape or ()))
    if box and clip and not squash:
        piece = np.clip(piece, space.low, space.high)
    value = piece.astype(space.dtype, copy=not box)
    choice = isinstance(space, spaces.Discrete | spaces.MultiDiscrete)
    return value + space.start if choice else value, width


def _first(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _first(part) for key, part in value.items()}
    return tuple(_first(part) for part in value) if isinstance(value, tuple) else value[0]


def _refuse_images(space: spaces.Space, name: str) -> None:
    for leaf in _leaves(space):
        shape: tuple[int, ...] = leaf.shape or ()
        grid = len(shape) >= 3 or (len(shape) == 2 and leaf.dtype == np.uint8)
        if isinstance(leaf, spaces.Box) and grid and prod(shape) > LARGEST_GRID:
            raise BadRequest(
                f'"{name}" shows images ({leaf}), which policies here see as vectors only; flatten '
                "them (--wrappers gymnasium.wrappers:FlattenObservation), or better, wrap the "
                "environment in a gymnasium.ObservationWrapper that gives a vector of features "
                f"(grids of at most {LARGEST_GRID:,} numbers are flattened without a wrapper)"
            )


def _refuse_words(space: spaces.Space, name: str) -> None:
    """Raise for text, whose letters are no numbers, and for what has no fixed length."""
    for key, part in _parts(space) or [(None, space)]:
        for leaf in _leaves(part):
            if _is_numbers(leaf):
                continue
            what = str(leaf) if key is None else f'"{key}": {leaf}'
            if _is_text(leaf):
                said = f"text ({what}), which no policy here reads"
            else:
                said = f"{what}, which cannot be flattened to a vector"
            raise BadRequest(f'"{name}" observes {said}; {_way_out(space)}')


def _way_out(space: spaces.Space) -> str:
    """How to leave out the parts that are no numbers, where others are left."""
    kept = [key for key, part in _parts(space) if all(map(_is_numbers, _leaves(part)))]
    if not kept:
        return (
            "wrap the environment in a gymnasium.ObservationWrapper that gives a Box of one "
            "dimension"
        )
    return (
        "leave it out with a wrapper: --wrappers module:callable (MiniGrid: "
        "minigrid.wrappers:ImgObsWrapper), or in Python wrappers=[functools.partial("
        f"gymnasium.wrappers.FilterObservation, filter_keys={kept})]"
    )


class Form(NamedTuple):
    """The form in which an environment takes actions, where compiled code can write it."""

    kind: int  # 0 where it cannot
    dtype: Any
    shape: tuple[int, ...]
    least: np.ndarray  # float64, of each number; of a choice its first option
    most: np.ndarray


def form_of(space: spaces.Space | None) -> Form:
    """How the actions of a space are given to its environment."""
    if isinstance(space, spaces.Box) and space.dtype in (np.float32, np.float64):
        kind = FLOAT if space.dtype == np.float32 else DOUBLE
        least, most = (bound.astype(np.float64).reshape(-1) for bound in (space.low, space.high))
        return Form(kind, space.dtype, space.shape, least, most)
    if isinstance(space, spaces.Discrete | spaces.MultiDiscrete) and space.dtype == np.int64:
        first = np.asarray(space.start, np.float64).reshape(-1)
        return Form(CHOICE, space.dtype, space.shape or (), first, first)
    return Form(0, np.float32, (0,), np.zeros(0), np.zeros(0))
