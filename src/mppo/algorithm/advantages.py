"""Lines 7-8: generalised advantages and the targets of the value regression."""

from __future__ import annotations

from typing import Literal, NamedTuple

from mppo.algorithm.types import Trajectories
from mppo.machine.lazy import jax, jnp

TimeLimit = Literal["terminal", "bootstrap"]
Target = Literal["td-lambda", "td-zero"]
Scaling = Literal["standardised", "centred", "raw"]


class Advantages(NamedTuple):
    """Advantages and value targets of a batch."""

    advantages: jax.Array  # [E, T]
    targets: jax.Array  # [E, T]


def estimate_advantages(
    trajectories: Trajectories,
    values: jax.Array,
    next_values: jax.Array,
    gamma: float,
    gae_lambda: float,
    time_limit: TimeLimit = "bootstrap",
    target: Target = "td-lambda",
) -> Advantages:
    """Generalised advantage estimation (Schulman et al. 2016).

    delta_t = r_t + gamma V(s_{t+1}) - V(s_t),  A_t = delta_t + gamma lambda A_{t+1}.

    A termination has no successor value, and any episode's end stops the recursion. A time limit
    counts as a termination if `time_limit` says "terminal"; the end of the batch never does.
    """
    terminal = terminations(trajectories, time_limit)
    one_step = trajectories.rewards + gamma * jnp.where(terminal, 0.0, next_values)
    deltas = one_step - values
    going = ~(trajectories.terminated | trajectories.truncated)

    def step(following, now):
        delta, goes_on = now
        advantage = delta + gamma * gae_lambda * goes_on * following
        return advantage, advantage

    zeros = jnp.zeros(deltas.shape[0])
    _, advantages = jax.lax.scan(step, zeros, (deltas.T, going.T), reverse=True)
    advantages = advantages.T
    targets = values + advantages if target == "td-lambda" else one_step
    return Advantages(advantages, targets)


def terminations(trajectories: Trajectories, time_limit: TimeLimit) -> jax.Array:
    """Where [E, T] no value goes on: at terminations, and at time limits if these count as such."""
    ends = trajectories.terminated
    return ends | trajectories.truncated if time_limit == "terminal" else ends


def scale(advantages: jax.Array, scaling: Scaling) -> jax.Array:
    """Advantages as the policy step sees them; a batch of equal ones becomes zeros, not NaN."""
    if scaling == "raw":
        return advantages
    centred, std = advantages - jnp.mean(advantages), jnp.std(advantages)
    if scaling == "centred":
        return centred
    equal = std <= 1e-6 * jnp.max(jnp.abs(advantages))  # what is left is rounding of the mean
    return jnp.where(equal, 0.0, centred / (std + 1e-8))


def carries_signal(trajectories: Trajectories) -> jax.Array:
    """Whether a batch says anything of the task: some steps, or some lives, are worth more."""
    rewards = jnp.asarray(trajectories.rewards)
    varied = jnp.any(rewards != rewards[0, 0])
    return varied | ((rewards[0, 0] != 0) & jnp.any(jnp.asarray(trajectories.terminated)))


def without_ends(trajectories: Trajectories) -> Trajectories:
    """The same samples as one life in each environment: an end is followed by the next start."""
    following = jnp.asarray(trajectories.observations)[:, 1:]
    last = jnp.asarray(trajectories.next_observations)[:, -1:]
    never = jnp.zeros_like(jnp.asarray(trajectories.terminated))
    after = jnp.concatenate([following, last], axis=1)
    return trajectories._replace(next_observations=after, terminated=never, truncated=never)
