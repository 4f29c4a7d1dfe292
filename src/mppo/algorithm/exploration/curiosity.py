"""Curiosity-driven exploration (Pathak et al. 2017) for vectors: Curiosity-TRPO and -PPO."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from mppo.algorithm import filters
from mppo.algorithm.exploration.none import no_bonus
from mppo.algorithm.filters import Filter
from mppo.algorithm.heads import Gaussian, Head, parts
from mppo.algorithm.minibatches import adam_step, epochs_of_minibatches
from mppo.algorithm.networks import Mlp
from mppo.algorithm.policies import Architecture, Policy
from mppo.algorithm.types import Bonus, PyTree, Trajectories
from mppo.machine.lazy import jax, jnp, optax


class Icm(NamedTuple):
    """The intrinsic curiosity module: features, inverse and forward model."""

    features: PyTree
    inverse: PyTree
    forward: PyTree


class CuriosityState(NamedTuple):
    """The module, the filter of its inputs and its optimiser's state."""

    icm: Icm
    filter: Filter
    optimiser: PyTree


class Transitions(NamedTuple):
    """What the module is trained on."""

    observations: jax.Array
    actions: jax.Array
    next_observations: jax.Array


@dataclass(frozen=True)
class Curiosity:
    """Adds to each reward how badly a learnt model predicts the next state's features."""

    scale: float = 0.01
    """Weight of the curiosity in the reward (eta)."""
    forward_weight: float = 0.2
    """Weight of the forward against the inverse loss (beta)."""
    learning_rate: float = 1e-3
    """Step size of Adam."""
    epochs: int = 1
    """Passes over each batch; more make the curiosity fade in a few iterations."""
    minibatch: int = 64
    """Samples of one step."""
    size: int = 64
    """Number of features, and of hidden units."""

    def _networks(self) -> tuple[Mlp, Mlp]:
        return Mlp((self.size,), "tanh"), Mlp((self.size,), "relu")

    def init(self, architecture: Architecture, key: jax.Array) -> CuriosityState:
        """Random networks."""
        keys = jax.random.split(key, 3)
        encoder, predictor = self._networks()
        size, head = self.size, architecture.head
        icm = Icm(
            encoder.init(keys[0], architecture.observation_size, size),
            predictor.init(keys[1], 2 * size, head.outputs),
            predictor.init(keys[2], size + head.outputs, size),
        )
        adam = optax.adam(self.learning_rate)
        return CuriosityState(icm, filters.init(architecture.observation_size), adam.init(icm))

    def losses(
        self, architecture: Architecture, icm: Icm, transition: Transitions
    ) -> tuple[jax.Array, jax.Array]:
        """Forward and inverse loss of one transition of filtered observations."""
        encoder, predictor = self._networks()
        now = encoder.apply(icm.features, transition.observations)
        then = encoder.apply(icm.features, transition.next_observations)
        action = encode_action(architecture, transition.actions)
        predicted = predictor.apply(icm.forward, jnp.concatenate([now, action]))
        guess = predictor.apply(icm.inverse, jnp.concatenate([now, then]))
        forward = 0.5 * jnp.sum((predicted - then) ** 2)
        return forward, inverse_loss(architecture.head, guess, transition.actions, action)

    def _transitions(self, state: CuriosityState, trajectories: Trajectories) -> Transitions:
        flat = lambda x: x.reshape(-1, x.shape[-1])
        seen = jax.vmap(lambda x: filters.apply(state.filter, x))
        return Transitions(
            seen(flat(trajectories.observations)),
            flat(trajectories.actions),
            seen(flat(trajectories.next_observations)),
        )

    def reward(
        self, architecture: Architecture, state: CuriosityState, trajectories: Trajectories
    ) -> jax.Array:
        losses = jax.vmap(lambda t: self.losses(architecture, state.icm, t))
        forward, _ = losses(self._transitions(state, trajectories))
        return trajectories.rewards + self.scale * forward.reshape(trajectories.rewards.shape)

    def bonus(self, architecture: Architecture, state: CuriosityState) -> Bonus:
        return no_bonus

    def update(
        self,
        architecture: Architecture,
        state: CuriosityState,
        policy: Policy,
        performance: jax.Array,
        trajectories: Trajectories,
        key: jax.Array,
    ) -> tuple[CuriosityState, dict[str, jax.Array]]:
        """Fit the module; the forward loss trains the features too, as in the original."""
        seen = trajectories.observations.reshape(-1, architecture.observation_size)
        state = state._replace(filter=filters.update(state.filter, seen))

        def loss(icm: Icm, part: Transitions):
            forward, inverse = jax.vmap(lambda t: self.losses(architecture, icm, t))(part)
            means = jnp.mean(forward), jnp.mean(inverse)
            return self.forward_weight * means[0] + (1 - self.forward_weight) * means[1], means

        step = adam_step(optax.adam(self.learning_rate), loss, has_aux=True)
        passes = (self._transitions(state, trajectories), self.epochs, self.minibatch, key)
        start = (state.icm, state.optimiser)
        (icm, moments), (forward, inverse) = epochs_of_minibatches(step, start, *passes)
        log = {"curiosity_forward_loss": forward.mean(), "curiosity_inverse_loss": inverse.mean()}
        return CuriosityState(icm, state.filter, moments), log


def encode_action(architecture: Architecture, action: jax.Array) -> jax.Array:
    """Continuous actions in units of their bounds, choices as one-hot vectors."""
    pieces, at = [], 0
    scale = jnp.asarray(architecture.action_scale or (1.0,) * architecture.head.size)
    for head in parts(architecture.head):
        piece = action[at : at + head.size]
        if isinstance(head, Gaussian):
            pieces.append(jnp.clip(piece / scale[at : at + head.size], -1, 1))
        else:
            chosen = piece.astype(jnp.int32)
            pieces += [jax.nn.one_hot(chosen[n], size) for n, size in enumerate(head.sizes)]
        at += head.size
    return jnp.concatenate(pieces)


def inverse_loss(head: Head, guess: jax.Array, action: jax.Array, encoded: jax.Array) -> jax.Array:
    """Half the squared error of continuous actions, cross entropy of choices."""
    loss, at, place = jnp.asarray(0.0), 0, 0
    for part in parts(head):
        piece = guess[place : place + part.outputs]
        if isinstance(part, Gaussian):
            loss = loss + 0.5 * jnp.sum((piece - encoded[place : place + part.outputs]) ** 2)
        else:
            loss = loss - part.log_prob(piece, action[at : at + part.size])
        at, place = at + part.size, place + part.outputs
    return loss
