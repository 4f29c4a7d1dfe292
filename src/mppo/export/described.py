"""A trained policy as plain arrays and plain words, which every format is written from.

As a safetensors file, the arrays have names, and the words are JSON in its metadata.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import safetensors.numpy
from gymnasium import spaces
from gymnasium.spaces.utils import flatdim

from mppo.acting.agent import Agent
from mppo.algorithm import filters
from mppo.algorithm.networks import Mlp
from mppo.algorithm.policies import open_layers
from mppo.errors import BadRequest

FORMAT = 1
_TOLD = ("name", "kind", "shape", "dtype", "outputs", "log_std", "sizes")  # of a part, in words


@dataclass(frozen=True)
class Part:
    """One simple part of the action: a Box, or choices, and the outputs that it is made from."""

    name: str  # its place in a Dict or Tuple; "" where the action has one part
    kind: Literal["gaussian", "squashed", "categorical"]
    shape: tuple[int, ...]
    dtype: str
    outputs: tuple[int, int]  # from, to: of the network's outputs
    log_std: tuple[int, int]  # from, to: of the log standard deviations
    sizes: tuple[int, ...]  # options of each choice
    low: np.ndarray  # flat; -inf where nothing is clipped
    high: np.ndarray
    start: np.ndarray  # flat; what index 0 of each choice means


@dataclass(frozen=True)
class Described:
    """All that is needed to act: standardise, clip, multiply, choose."""

    mean: np.ndarray  # of observations
    std: np.ndarray
    clip: float  # standard deviations; inf where observations are not filtered
    layers: list[tuple[np.ndarray, np.ndarray]]
    activation: str
    log_std: np.ndarray
    parts: list[Part]
    observation: list[dict[str, Any]]  # how an observation is flattened
    mask: tuple[int, ...]  # from, to: numbers of the observation that say what is allowed
    turns: bool  # sine and cosine of each number follow what the filter makes of it


def described(agent: Agent) -> Described:
    """The arrays and words of an agent's policy."""
    network = agent.architecture.network
    if not isinstance(network, Mlp):
        raise BadRequest(
            f"the policy network is {network!r}; only fully connected networks (Mlp) can be "
            "exported: write out your own network with its own library"
        )
    size, seen = agent.architecture.observation_size, agent.policy.filter
    filtered = agent.architecture.filtered and not filters.is_raw(seen)
    variance = np.maximum(seen.deviations / max(seen.count, 1e-9), filters.VARIANCE_FLOOR)
    plain = lambda array: np.array(array, np.float32)
    turns, layers = open_layers(agent.policy)
    return Described(
        plain(seen.mean) if filtered else np.zeros(size, np.float32),
        plain(np.sqrt(variance)) if filtered else np.ones(size, np.float32),
        filters.CLIP if filtered else float("inf"),
        [(plain(w), plain(b)) for w, b in layers],
        network.activation,
        plain(agent.policy.parameters.free),
        _parts(agent.action_space, agent.clip, agent.spaces.squash),
        _observation(agent.observation_space),
        agent.architecture.mask,
        turns,
    )


def _leaves(space: spaces.Space, name: str = "") -> list[tuple[str, spaces.Space]]:
    """The simple parts of a space with their places, in the order in which they are flattened."""
    if isinstance(space, spaces.Dict | spaces.Tuple):
        inner = space.spaces.items() if isinstance(space, spaces.Dict) else enumerate(space.spaces)
        prefix = f"{name}/" if name else ""
        return [leaf for key, part in inner for leaf in _leaves(part, f"{prefix}{key}")]
    return [(name, space)]


def _parts(action: spaces.Space, clip: bool, squash: bool) -> list[Part]:
    parts: list[Part] = []
    output = free = 0
    for name, space in _leaves(action):
        kind, sizes, start = "categorical", (), np.zeros(0)
        low = high = np.zeros(0)
        if isinstance(space, spaces.Box):
            kind = "squashed" if squash else "gaussian"
            low, high = space.low.ravel(), space.high.ravel()
            if not clip and not squash:
                low, high = np.full(len(low), -np.inf), np.full(len(low), np.inf)
        elif isinstance(space, spaces.Discrete):
            sizes, start = (int(space.n),), np.array([space.start])
        elif isinstance(space, spaces.MultiDiscrete):
            sizes, start = tuple(map(int, space.nvec.ravel())), space.start.ravel()
        else:
            sizes = (2,) * int(np.prod(space.shape or (1,)))
            start = np.zeros(len(sizes))
        ends = output + len(low) + sum(sizes), free + len(low)
        form = tuple(space.shape or ()), str(space.dtype), (output, ends[0]), (free, ends[1])
        flat = low.astype(np.float32), high.astype(np.float32), start.astype(np.int64)
        parts.append(Part(name, kind, *form, sizes, *flat))
        output, free = ends
    return parts


def _observation(space: spaces.Space) -> list[dict[str, Any]]:
    """Which numbers of the flat observation come from where; choices are one-hot."""
    leaves = _leaves(space)
    edges = np.cumsum([0, *(int(flatdim(leaf)) for _, leaf in leaves)]).tolist()
    return [
        {
            "name": name,
            "kind": type(leaf).__name__,
            "shape": list(leaf.shape or ()),
            "from": a,
            "to": b,
            "one_hot": isinstance(leaf, spaces.Discrete | spaces.MultiDiscrete | spaces.Text),
        }
        for (name, leaf), (a, b) in zip(leaves, pairwise(edges), strict=True)
    ]


def words(policy: Described, about: dict[str, Any]) -> dict[str, Any]:
    """The description beside the arrays, as JSON data."""
    return {
        "format": FORMAT,
        "about": about,
        "observation": policy.observation,
        "layers": len(policy.layers),
        "activation": policy.activation,
        **({"mask": list(policy.mask)} if policy.mask else {}),
        **({"turns": True} if policy.turns else {}),
        "action": [{name: getattr(part, name) for name in _TOLD} for part in policy.parts],
    }


def tensors(policy: Described) -> dict[str, np.ndarray]:
    """The arrays of a policy by name."""
    found = {
        "observation.mean": policy.mean,
        "observation.std": policy.std,
        "observation.clip": np.array([policy.clip], np.float32),
        "log_std": policy.log_std,
    }
    for n, (weights, biases) in enumerate(policy.layers):
        found |= {f"layers.{n}.weights": weights, f"layers.{n}.biases": biases}
    for n, part in enumerate(policy.parts):
        found |= {f"action.{n}.{name}": getattr(part, name) for name in ("low", "high", "start")}
    return {name: np.ascontiguousarray(array) for name, array in found.items()}


def as_safetensors(policy: Described, about: dict[str, Any]) -> bytes:
    """The content of a file that `examples/numpy_policy.py` can run."""
    text = json.dumps(words(policy, about), allow_nan=False)
    return safetensors.numpy.save(tensors(policy), metadata={"mppo": text})
