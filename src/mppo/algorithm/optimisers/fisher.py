"""Fisher products: how much the distributions change along a direction, without a matrix (Eq. 6).

Twenty of them are most of a TRPO update, and a run on a small task does little else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from mppo.algorithm.networks import Layer, Mlp, slope
from mppo.algorithm.policies import Architecture, Parameters, Policy
from mppo.algorithm.surrogate import statistics
from mppo.machine.lazy import flatten_util, jax, jnp

Product = Callable[["jax.Array"], "jax.Array"]
BLOCK = 500  # samples whose activations fit a core's second-level cache


def fisher_product(architecture: Architecture, policy: Policy, observations: jax.Array) -> Product:
    """v -> F v, the Hessian of the mean KL at the policy itself.

    At equal policies that Hessian is J' M J with J the derivative of the distributions' statistics
    and M their Fisher information.
    """
    if isinstance(architecture.network, Mlp) and not architecture.mask:
        return _in_blocks(architecture, architecture.network, policy, observations)
    return _by_linearisation(architecture, policy, observations)


def _by_linearisation(
    architecture: Architecture, policy: Policy, observations: jax.Array
) -> Product:
    """Any network: one linearisation serves all products."""
    theta, unravel = flatten_util.ravel_pytree(policy.parameters)
    at = lambda t: statistics(architecture, Policy(unravel(t), policy.filter), observations)
    stats, push = jax.linearize(at, theta)
    pull = jax.linear_transpose(push, theta)
    information = jax.vmap(architecture.head.fisher)
    return lambda v: pull(information(stats, push(v)) / stats.shape[0])[0]


class Block(NamedTuple):
    """What the network did with some samples; every sample is a column."""

    inputs: tuple[jax.Array, ...]  # of each layer, with a row of ones for its biases
    slopes: tuple[jax.Array, ...]  # of the activation, after each hidden layer
    outputs: jax.Array  # [samples, outputs]
    weights: jax.Array  # of the samples in the mean; 0 for those that only fill the last block


def _in_blocks(
    architecture: Architecture, network: Mlp, policy: Policy, observations: jax.Array
) -> Product:
    """Our own network: the same by hand, two thirds of the time (decision 0031)."""
    _, unravel = flatten_util.ravel_pytree(policy.parameters)
    layers, free = policy.parameters
    backward = [layer.weights for layer in layers]
    forward = [weights.T for weights in backward]
    parts = _cut(architecture.seen(policy, observations))
    blocks = jax.lax.map(lambda part: _block(network, layers, *part), parts)

    def product(v: jax.Array) -> jax.Array:
        towards: Parameters = unravel(v)
        changes = [jnp.vstack([layer.weights, layer.biases]).T for layer in towards.network]

        def add(total, block: Block):
            change = changes[0] @ block.inputs[0]
            for n in range(1, len(layers)):
                arriving = change * block.slopes[n - 1]
                change = forward[n] @ arriving + changes[n] @ block.inputs[n]
            pull, to_free = _information(architecture, block, free, change.T, towards.free)
            pull, gradients = pull.T, []
            for n in reversed(range(len(layers))):
                gradients.append(pull @ block.inputs[n].T)
                if n:
                    pull = (backward[n] @ pull) * block.slopes[n - 1]
            return jax.tree.map(jnp.add, total, (gradients[::-1], to_free)), None

        zero = [jnp.zeros_like(change) for change in changes], jnp.zeros_like(free)
        (gradients, to_free), _ = jax.lax.scan(add, zero, blocks)
        network = tuple(Layer(g[:, :-1].T, g[:, -1]) for g in gradients)
        return flatten_util.ravel_pytree(Parameters(network, to_free))[0]

    return product


def _information(
    architecture: Architecture,
    block: Block,
    free: jax.Array,
    outputs: jax.Array,
    to_free: jax.Array,
):
    """M times the change of the statistics, back in terms of outputs and free parameters."""
    distributions = jax.vmap(architecture.head.statistics, in_axes=(0, None))
    at = (block.outputs, free)
    stats, change = jax.jvp(distributions, at, (outputs, to_free))
    weighted = jax.vmap(architecture.head.fisher)(stats, change) * block.weights[:, None]
    return jax.vjp(distributions, *at)[1](weighted)


def _cut(inputs: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Blocks [blocks, features, samples] and the samples' weights in the mean."""
    n = inputs.shape[0]
    size = min(BLOCK, n)
    missing = -n % size
    weights = jnp.pad(jnp.full(n, 1 / n), (0, missing))
    padded = jnp.pad(inputs, ((0, missing), (0, 0)))
    columns = padded.reshape(-1, size, inputs.shape[1]).swapaxes(1, 2)
    return columns, weights.reshape(-1, size)


def _block(network: Mlp, layers: tuple[Layer, ...], x: jax.Array, weights: jax.Array) -> Block:
    ones = jnp.ones((1, x.shape[1]))
    inputs, slopes = [jnp.vstack([x, ones])], []
    for layer in layers[:-1]:
        x, rise = slope(network.activation, layer.weights.T @ x + layer.biases[:, None])
        inputs.append(jnp.vstack([x, ones]))
        slopes.append(rise)
    outputs = layers[-1].weights.T @ x + layers[-1].biases[:, None]
    return Block(tuple(inputs), tuple(slopes), outputs.T, weights)
