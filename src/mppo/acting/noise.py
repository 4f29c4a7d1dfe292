"""Noise drawn ahead of acting: white, or persistent from step to step with the same marginals.

Persistent noise is a stationary AR(1) sequence of normal numbers, n_t = rho n_(t-1) + sqrt(1 -
rho^2) e_t. Each n_t by itself is standard normal, so at every step the action has exactly the
policy's distribution; only actions of neighbouring steps depend on each other. For choices, the
numbers are mapped to Gumbel noise by their distribution functions (a normal copula), and the
largest of logit + noise is again an exact sample of the softmax.
"""

from __future__ import annotations

import math

import numpy as np

from mppo.algorithm.heads import Categorical, Gaussian, Head
from mppo.algorithm.styles import Style
from mppo.machine.compilers import native


def draw_noise(
    head: Head,
    generator: np.random.Generator,
    steps: int,
    style: Style,
    before: np.ndarray | None = None,
) -> np.ndarray:
    """Noise of `steps` steps for one environment, as `head.act` takes it: [steps, outputs].

    `before` [outputs] are the normal numbers behind the step before, NaN where there was none;
    they are replaced by those behind the last step.
    """
    parts = (head,) if isinstance(head, Gaussian | Categorical) else head.heads
    noises, at = [], 0
    for part in parts:
        earlier = None if before is None else before[at : at + part.outputs]
        noises.append(_part(part, generator, steps, style, earlier))
        at += part.outputs
    return noises[0] if len(noises) == 1 else np.concatenate(noises, -1)


def _part(
    head: Gaussian | Categorical,
    generator: np.random.Generator,
    steps: int,
    style: Style,
    before: np.ndarray | None,
) -> np.ndarray:
    gaussian = isinstance(head, Gaussian)
    rho = style.persistence if gaussian else style.choice_persistence
    if rho == 0:
        return head.noise(generator, (steps,))
    normal = generator.standard_normal((steps, head.outputs))
    fresh = math.sqrt(1 - rho * rho)
    if before is not None:
        normal[0] = np.where(np.isnan(before), normal[0], rho * before + fresh * normal[0])
    _persist(normal, rho, fresh)
    if before is not None:
        before[:] = normal[-1]
    return normal.astype(np.float32) if gaussian else gumbel(normal)


@native
def _persist(normal: np.ndarray, rho: float, fresh: float) -> None:
    """Make white numbers [T, n] depend on the row before, in place."""
    for t in range(1, normal.shape[0]):
        for j in range(normal.shape[1]):
            normal[t, j] = rho * normal[t - 1, j] + fresh * normal[t, j]


def gumbel(normal: np.ndarray) -> np.ndarray:
    """Gumbel numbers with the ranks of standard normal ones; both tails keep their digits.

    >>> gumbel(np.zeros(1)).round(4)  # medians go together: -log(log 2)
    array([0.3665], dtype=float32)
    """
    from scipy.special import log_ndtr

    return -np.log(-log_ndtr(normal)).astype(np.float32)
