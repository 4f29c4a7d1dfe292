"""The compiled forward pass against plain NumPy, bit for bit."""

from itertools import pairwise

import numpy as np
import pytest

from mppo.acting.kernel import ACTIVATIONS, Forward, outputs, pack


def one_by_one(layers, x):
    """Products are added input by input, each rounded to single precision."""
    for n, (weights, biases) in enumerate(layers):
        y = biases.copy()
        for i, row in enumerate(weights):
            y += x[i] * row
        x = np.maximum(y, np.float32(0)) if n < len(layers) - 1 else y
    return x


@pytest.mark.parametrize("sizes", [(8, 64, 64, 2), (3, 5, 1), (11, 6, 7, 3), (1, 4)])
def test_inputs_are_added_in_their_order(sizes):
    """However many are added in one pass, and whether or not they fill the last one."""
    draw = np.random.default_rng(sum(sizes))
    number = lambda *shape: draw.normal(size=shape).astype(np.float32)
    layers = [(number(a, b), number(b)) for a, b in pairwise(sizes)]
    unused = np.zeros(sizes[0], np.float32)
    net = Forward(False, unused, unused, 5.0, *pack(layers), ACTIVATIONS.index("relu"))
    seen = number(20, sizes[0])
    wanted = np.stack([one_by_one(layers, row) for row in seen])
    assert outputs(net, seen).tobytes() == wanted.tobytes()
