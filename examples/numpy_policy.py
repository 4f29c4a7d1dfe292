"""Run a policy written by `mppo export DIR --out policy.safetensors` with NumPy and safetensors.

python numpy_policy.py policy.safetensors
"""

import json
import sys

import numpy as np
from safetensors import safe_open

ACTIVATIONS = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "silu": lambda x: x * 0.5 * (1 + np.tanh(0.5 * x)),
}


def load(path):
    """The arrays of a policy by name, and its description."""
    with safe_open(path, "numpy") as file:
        return {k: file.get_tensor(k) for k in file.keys()}, json.loads(file.metadata()["mppo"])  # noqa: SIM118


def act(arrays, about, observations):
    """The most likely actions for a stack of flat observations: an array for each action part."""
    clip = arrays["observation.clip"]
    x = (observations - arrays["observation.mean"]) / arrays["observation.std"]
    x = np.clip(x, -clip, clip)
    if about.get("turns"):
        x = np.concatenate([x, np.sin(observations), np.cos(observations)], 1)
    for n in range(about["layers"]):
        x = x @ arrays[f"layers.{n}.weights"] + arrays[f"layers.{n}.biases"]
        if n < about["layers"] - 1:
            x = ACTIVATIONS[about["activation"]](x)
    if "mask" in about:
        x = np.where(observations[:, slice(*about["mask"])] > 0.5, x, -np.inf)
    actions = []
    for n, part in enumerate(about["action"]):
        piece = x[:, slice(*part["outputs"])]
        if part["kind"] != "categorical":
            low, high = arrays[f"action.{n}.low"], arrays[f"action.{n}.high"]
            if part["kind"] == "squashed":
                piece = low + (high - low) * (np.tanh(piece) + 1) / 2
            piece = np.clip(piece, low, high)
        else:
            choices = np.split(piece, np.cumsum(part["sizes"])[:-1], axis=1)
            piece = np.stack([c.argmax(1) for c in choices], 1) + arrays[f"action.{n}.start"]
        actions.append(piece.reshape(-1, *part["shape"]).astype(part["dtype"]))
    return actions


if __name__ == "__main__":
    if not sys.argv[-1].endswith(".safetensors"):
        print(__doc__)
    else:
        arrays, about = load(sys.argv[-1])
        print(act(arrays, about, np.zeros((1, len(arrays["observation.mean"])), np.float32)))
