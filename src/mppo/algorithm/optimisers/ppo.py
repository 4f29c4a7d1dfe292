"""Proximal policy optimisation: the clipped objective, epochs of minibatches (Eq. 3)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from mppo.algorithm.minibatches import adam_step, epochs_of_minibatches
from mppo.algorithm.policies import Architecture, Policy
from mppo.algorithm.population import kept
from mppo.algorithm.schedules import Rate, first, is_zero, settle
from mppo.algorithm.surrogate import log_probs, mean_kl, ratios, statistics
from mppo.algorithm.types import Batch, Bonus, PyTree
from mppo.errors import check_ranges
from mppo.machine.lazy import jax, jnp, optax

STOP_BEYOND = 1.5  # times target_kl, as in the peers


@dataclass(frozen=True)
class Ppo:
    """Proximal policy optimisation with the settings of the paper's appendix."""

    clip: Rate = 0.2
    """Probability ratios are clipped to 1 - clip ... 1 + clip (epsilon)."""
    epochs: int = 10
    """Passes over the batch."""
    learning_rate: Rate = 3e-4
    """Step size of Adam."""
    minibatch: int = 64
    """Samples of one step."""
    adam_epsilon: float = 1e-5
    """Adam's epsilon, as in the base code."""
    max_gradient_norm: float = 0.0
    """Clip the gradient to this length; 0 is off, as in the base code."""
    entropy_coefficient: Rate = 0.0
    """Weight of the entropy in the objective."""
    target_kl: float = 0.0
    """End the passes once the KL divergence of a minibatch exceeds 1.5 times this; 0 is off."""

    def __post_init__(self) -> None:
        check_ranges(self, epochs=(1, inf), minibatch=(1, inf), target_kl=(0, inf))
        settle(self, clip=(1e-12, inf), learning_rate=(0, inf), entropy_coefficient=(-inf, inf))

    def _adam(self) -> optax.GradientTransformation:
        adam = optax.adam(first(self.learning_rate), eps=self.adam_epsilon)
        if not self.max_gradient_norm:
            return adam
        return optax.chain(optax.clip_by_global_norm(self.max_gradient_norm), adam)

    def init(self, parameters: PyTree) -> PyTree:
        """Adam's moments: each path keeps its own (decision 0012)."""
        return self._adam().init(parameters)

    def update(
        self,
        architecture: Architecture,
        state: PyTree,
        policy: Policy,
        batch: Batch,
        bonus: Bonus,
        key: jax.Array,
    ) -> tuple[Policy, PyTree, dict[str, jax.Array]]:
        """Adam on the clipped surrogate."""
        as_policy = lambda parameters: Policy(parameters, policy.filter)
        loss = lambda parameters, part: self._loss(architecture, as_policy(parameters), part, bonus)
        stepped = adam_step(self._adam(), loss)
        step = lambda carry, part: (stepped(carry, part)[0], None)

        def step_or_stop(carry, part: Batch):
            *before, going = carry
            log_ratio = jnp.log(ratios(architecture, as_policy(before[0]), part))
            far = jnp.mean(jnp.expm1(log_ratio) - log_ratio) > STOP_BEYOND * self.target_kl
            after, _ = step(tuple(before), part)
            goes_on = going & ~far
            return (*kept(goes_on, after, tuple(before)), goes_on), goes_on

        start, log = (policy.parameters, state), {}
        passes = (batch, self.epochs, self.minibatch, key)
        if self.target_kl:
            going = (*start, jnp.asarray(True))
            (parameters, state, _), taken = epochs_of_minibatches(step_or_stop, going, *passes)
            log = {"minibatches": jnp.sum(taken)}
        else:
            (parameters, state), _ = epochs_of_minibatches(step, start, *passes)
        improved = as_policy(parameters)
        ratio = ratios(architecture, improved, batch)
        log |= {
            "kl": mean_kl(architecture, improved, batch),
            "surrogate_gain": jnp.mean((ratio - 1) * batch.advantages),
            "clip_fraction": jnp.mean(jnp.abs(ratio - 1) > first(self.clip)),
        }
        return improved, state, log

    def _loss(
        self, architecture: Architecture, policy: Policy, part: Batch, bonus: Bonus
    ) -> jax.Array:
        """Eq. (3), the clipped objective, with its sign turned, and what else is in it."""
        clip = first(self.clip)
        stats = statistics(architecture, policy, part.observations)
        ratio = jnp.exp(log_probs(architecture, stats, part.actions) - part.log_probs)
        clipped = jnp.clip(ratio, 1 - clip, 1 + clip)
        gain = jnp.mean(jnp.minimum(ratio * part.advantages, clipped * part.advantages))
        if not is_zero(self.entropy_coefficient):
            entropy = jnp.mean(jax.vmap(architecture.head.entropy)(stats))
            gain = gain + first(self.entropy_coefficient) * entropy
        return -gain - bonus(policy, part.observations)
