"""A policy network that acts, compiled by Numba: one arithmetic for training, evaluation, predict.

A NumPy forward pass of a small network costs 10 microseconds a step in calls alone, which is a
tenth of a step of Hopper; this one costs about one, needs no interpreter's lock, and gives the
same bits for an observation however many others come with it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mppo.machine.compilers import native

ACTIVATIONS = ("tanh", "relu", "elu", "silu")
_ONE, _TWO, _QUARTER = np.float32(1), np.float32(2), np.float32(0.25)
_FLAT = np.float32(9.2)  # beyond it tanh is 1 in single precision
_A, _B = np.float32(945), np.float32(105)
_C, _D = np.float32(420), np.float32(15)


class Forward(NamedTuple):
    """One network with the filter before it, in the form that the compiled code takes."""

    filtered: bool
    mean: np.ndarray
    inverse: np.ndarray  # of the standard deviation
    clip: float
    sizes: np.ndarray  # inputs, hidden layers, outputs
    numbers: np.ndarray  # of each layer its biases, then its weights, row by row
    activation: int  # its place in ACTIVATIONS
    turns: bool = False  # sine and cosine of each observation follow


def pack(layers: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """`sizes` and `numbers` of (weights, biases)."""
    sizes = [layers[0][0].shape[0], *(len(biases) for _, biases in layers)]
    numbers = [part.ravel() for weights, biases in layers for part in (biases, weights)]
    return np.array(sizes, np.int64), np.concatenate(numbers).astype(np.float32)


@native
def _activate(kind: int, x: np.ndarray) -> None:
    if kind == 0:
        for j in range(x.size):
            # A quotient of polynomials for x / 4 (Lambert's continued fraction), then twice the
            # formula for the double argument: within 2e-7, and four times as fast as tanh.
            y = min(max(x[j], -_FLAT), _FLAT) * _QUARTER
            s = y * y
            y = y * (_A + s * (_B + s)) / (_A + s * (_C + s * _D))
            y = _TWO * y / (_ONE + y * y)
            x[j] = _TWO * y / (_ONE + y * y)
    elif kind == 1:
        for j in range(x.size):
            x[j] = max(x[j], np.float32(0))
    elif kind == 2:
        for j in range(x.size):
            if x[j] < 0:
                x[j] = np.float32(math.expm1(x[j]))
    else:
        for j in range(x.size):
            x[j] = np.float32(0.5) * x[j] * (_ONE + np.float32(math.tanh(np.float32(0.5) * x[j])))


@native
def run(net: Forward, observation: np.ndarray, work: np.ndarray) -> np.ndarray:
    """Outputs for one observation [obs], as a view of `work` [2, widest layer]."""
    x, size = work[0, : net.sizes[0]], observation.size
    for i in range(observation.size):
        value = observation[i]
        if net.filtered:
            value = (value - net.mean[i]) * net.inverse[i]
            value = min(max(value, np.float32(-net.clip)), np.float32(net.clip))
        x[i] = value
        if net.turns:
            x[size + i] = math.sin(observation[i])
            x[2 * size + i] = math.cos(observation[i])
    at = 0
    for n in range(net.sizes.size - 1):
        inputs, outputs = net.sizes[n], net.sizes[n + 1]
        y = work[(n + 1) % 2, :outputs]
        y[:] = net.numbers[at : at + outputs]
        at += outputs
        whole = inputs - inputs % 4
        for i in range(0, whole, 4):
            a, b, c, d = x[i], x[i + 1], x[i + 2], x[i + 3]
            first = net.numbers[at : at + outputs]
            second = net.numbers[at + outputs : at + 2 * outputs]
            third = net.numbers[at + 2 * outputs : at + 3 * outputs]
            fourth = net.numbers[at + 3 * outputs : at + 4 * outputs]
            for j in range(outputs):  # in the order of four passes over y, so with their bits
                y[j] = y[j] + a * first[j] + b * second[j] + c * third[j] + d * fourth[j]
            at += 4 * outputs
        for i in range(whole, inputs):
            row, factor = net.numbers[at : at + outputs], x[i]
            for j in range(outputs):
                y[j] += factor * row[j]
            at += outputs
        if n < net.sizes.size - 2:
            _activate(net.activation, y)
        x = y
    return x


@native
def squash(value: float, low: float, high: float) -> float:
    """A number through tanh into its bounds."""
    found = low + (high - low) * (0.5 * (math.tanh(value) + 1.0))
    if found < low:
        return low
    return high if found > high else found


@native
def squash_rows(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """The same for rows [N, numbers], in place."""
    for row in values:
        for i in range(row.size):
            row[i] = squash(row[i], low[i], high[i])


@native
def outputs(net: Forward, observations: np.ndarray) -> np.ndarray:
    """Outputs [N, outputs] for a stack of observations [N, obs]."""
    work = np.empty((2, net.sizes.max()), np.float32)
    found = np.empty((observations.shape[0], net.sizes[-1]), np.float32)
    for n in range(observations.shape[0]):
        found[n] = run(net, observations[n], work)
    return found
