"""A policy that acts: one device call per step would cost more than physics.

Its noise is drawn ahead: white, or persistent from step to step with the same marginals.
Persistent noise is a stationary AR(1) sequence of normal numbers, n_t = rho n_(t-1) + sqrt(1 -
rho^2) e_t. Each n_t by itself is standard normal, so at every step the action has exactly the
policy's distribution; only actions of neighbouring steps depend on each other. For choices, the
numbers are mapped to Gumbel noise by their distribution functions (a normal copula), and the
largest of logit + noise is again an exact sample of the softmax.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from mppo.acting.kernel import ACTIVATIONS, Forward, outputs, pack
from mppo.algorithm import filters
from mppo.algorithm.heads import Categorical, Gaussian, Head, Product, parts
from mppo.algorithm.networks import Mlp
from mppo.algorithm.policies import Architecture, Policy, open_layers
from mppo.algorithm.styles import ALIKE, Style
from mppo.algorithm.types import Network
from mppo.errors import EnvironmentFault
from mppo.machine.compilers import native
from mppo.machine.lazy import jax

_SILENCE = np.zeros(1, np.float32)


@lru_cache
def _compiled(network: Network) -> Any:
    """`apply` of a network that is not ours, for a stack of inputs."""
    return jax.jit(jax.vmap(network.apply, in_axes=(None, 0)))


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
    noises, at = [], 0
    for part in parts(head):
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


class Actor:
    """A snapshot of one policy; `act` maps observations and noise to actions.

    It works on one observation or on a stack. Our own network gives the same bits for each, however
    many there are; those that XLA runs may round otherwise in another stack.
    """

    head: Head
    style: Style
    network: Forward | None = None
    """The network, if compiled code can run it."""

    def __init__(self, architecture: Architecture, policy: Policy, style: Style = ALIKE):
        host: Policy = jax.device_get(policy)
        self.head, self.style = architecture.head, style
        self._mask = slice(*architecture.mask) if architecture.mask else None
        network = architecture.network
        ends = np.cumsum([head.free for head in parts(self.head)])
        free = np.split(np.array(host.parameters.free, np.float32), ends[:-1])
        self._deviations = [np.exp(part) for part in free]  # of each part; none of choices
        self._filtered = architecture.filtered and not filters.is_raw(host.filter)
        self._mean = np.array(host.filter.mean, np.float32)
        count = host.filter.count if self._filtered else 1.0
        variance = np.maximum(host.filter.deviations / count, filters.VARIANCE_FLOOR)
        self._inverse = (1 / np.sqrt(variance)).astype(np.float32)
        if isinstance(network, Mlp):
            turns, layers = open_layers(host)
            self.network = Forward(
                self._filtered,
                self._mean,
                self._inverse,
                float(filters.CLIP),
                *pack([(np.array(w), np.array(b)) for w, b in layers]),
                ACTIVATIONS.index(network.activation),
                turns,
            )
        else:
            self._apply = _compiled(network)
            self._parameters = jax.device_put(host.parameters.network)

    @property
    def mask_at(self) -> int:
        """The column of an observation where the mask of choices begins; -1 if there is none."""
        return -1 if self._mask is None else int(self._mask.start)

    def check_mask(self, observation: np.ndarray) -> None:
        """Raise if a choice has no option that the observation allows."""
        if self._mask is not None:
            self._allowed(observation)

    @property
    def scale(self) -> np.ndarray:
        """What noise is yet to be multiplied with, for each action: it is scaled already (1), but
        where normal actions stand beside choices."""
        if not isinstance(self.head, Product):
            return np.ones(self.head.size, np.float32)
        each = zip(self.head.heads, self._deviations, strict=True)
        scale = [d if isinstance(head, Gaussian) else np.ones(head.size) for head, d in each]
        return np.concatenate(scale).astype(np.float32)

    @property
    def adds_noise(self) -> Forward | None:
        """The network, if an action is its outputs plus `noise` and compiled code can run it."""
        return self.network if isinstance(self.head, Gaussian) else None

    def outputs(self, observation: np.ndarray) -> np.ndarray:
        """The network's outputs."""
        if observation.ndim > 1:
            return self._outputs(np.ascontiguousarray(observation, np.float32))
        return self._outputs(np.ascontiguousarray(observation[None], np.float32))[0]

    def _outputs(self, x: np.ndarray) -> np.ndarray:
        if self.network is not None:
            return outputs(self.network, x)
        if self._filtered:
            x = (x - self._mean) * self._inverse
            x = np.clip(x, -filters.CLIP, filters.CLIP)
        return np.array(self._apply(self._parameters, x))  # the result itself is read-only

    def noise(
        self, generator: np.random.Generator, steps: int, before: np.ndarray | None = None
    ) -> np.ndarray:
        """Noise for `steps` actions, scaled so that `act` has only to add it.

        `before`: the normal numbers behind the step before, see `draw_noise`.
        """
        noise = draw_noise(self.head, generator, steps, self.style, before)
        if isinstance(self.head, Gaussian):
            noise *= self._deviations[0]
        return noise

    def act(self, observation: np.ndarray, noise: np.ndarray | None) -> np.ndarray:
        """Sample with noise drawn by `noise`; without any, the most likely action."""
        outputs = self.outputs(observation)
        if isinstance(self.head, Gaussian):
            return outputs if noise is None else outputs + noise
        if self._mask is not None:  # never the largest, whatever the noise
            outputs = np.where(self._allowed(observation), outputs, -np.inf)
        if isinstance(self.head, Categorical):
            return self.head.act(outputs, _SILENCE if noise is None else noise)
        return self._act_product(self.head, outputs, noise)

    def _allowed(self, observation: np.ndarray) -> np.ndarray:
        """Which choices the observation allows; one that allows none is a fault."""
        allowed = observation[..., self._mask] > 0.5
        assert isinstance(self.head, Categorical)
        starts = np.cumsum([0, *self.head.sizes[:-1]])
        if not np.logical_or.reduceat(allowed, starts, axis=-1).all():
            raise EnvironmentFault("a mask forbids all options of a choice; one must be allowed")
        return allowed

    def _act_product(
        self, product: Product, outputs: np.ndarray, noise: np.ndarray | None
    ) -> np.ndarray:
        actions, at = [], 0
        for head, deviation in zip(product.heads, self._deviations, strict=True):
            piece = outputs[..., at : at + head.outputs]
            drawn = _SILENCE if noise is None else noise[..., at : at + head.outputs]
            if isinstance(head, Gaussian):
                actions.append(piece + drawn * deviation)
            else:
                actions.append(head.act(piece, drawn))
            at += head.outputs
        return np.concatenate(actions, -1).astype(np.float32)


class Ensemble:
    """One actor for each of several environments side by side."""

    def __init__(self, actors: Sequence[Actor]):
        self.actors = actors

    def act(self, observations: np.ndarray, noise: np.ndarray | None) -> np.ndarray:
        """The action of each actor for its own observation."""
        drawn = [None] * len(self.actors) if noise is None else noise
        rows = zip(self.actors, observations, drawn, strict=True)
        return np.stack([actor.act(observation, n) for actor, observation, n in rows])


Acting = Actor | Ensemble
