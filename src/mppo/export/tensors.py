"""A policy as a safetensors file: arrays by name, the description as JSON in its metadata."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import safetensors.numpy

from mppo.export.described import Described, words


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
        ends = {"low": part.low, "high": part.high, "start": part.start}
        found |= {f"action.{n}.{name}": array for name, array in ends.items()}
    return {name: np.ascontiguousarray(array) for name, array in found.items()}


def as_safetensors(policy: Described, about: dict[str, Any]) -> bytes:
    """The content of a file that `examples/numpy_policy.py` can run."""
    text = json.dumps(words(policy, about), allow_nan=False)
    return safetensors.numpy.save(tensors(policy), metadata={"mppo": text})
